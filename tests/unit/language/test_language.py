"""English and Chinese: which language is spoken, and that values pass through a sentence unchanged."""

import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeskit
from bayeskit.errors import BayeskitWarning, TableError
from bayeskit.language import get_language, label, language, set_language, translated
from bayeskit.language.catalogue import Catalogue


@pytest.fixture(autouse=True)
def english_again():
    yield
    set_language(None)


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_TW.UTF-8", "LC_ALL": "de_DE.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "C"}, "zh"),
        ({"BAYESKIT_LANG": "en", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"BAYESKIT_LANG": "zh", "LANG": "C"}, "zh"),
    ],
)
def test_the_first_of_the_variables_that_is_set_says_the_language(monkeypatch, environment, expected):
    for name in ("BAYESKIT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert get_language() == expected


def test_an_error_speaks_the_language_of_the_reader_and_keeps_its_english():
    error = TableError("there is no column 'diseas'; did you mean 'disease'?")
    assert str(error) == "there is no column 'diseas'; did you mean 'disease'?"
    with language("zh"):
        assert str(error) == "没有列 'diseas'；是不是 'disease'？"
        assert error.args[0].startswith("there is no column")
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_warning_is_translated_when_it_is_read():
    warning = BayeskitWarning("EM stopped after 7 steps, the last of which still improved the objective by 0.5; "
                              "raise max_iter or tol, or try other starts.")  # fmt: skip
    with language("zh"):
        assert str(warning) == "EM 在 7 步后停下，最后一步仍使目标提高 0.5；请增大 max_iter 或 tol，或换别的起点。"


def test_a_refusal_of_a_parameter_in_python_is_chinese():
    with language("zh"), pytest.raises(ValueError, match="的参数 'smoothing' 必须是"):
        bayeskit.NaiveBayes(smoothing=-1).fit([[0], [1]], [0, 1])


def test_an_unknown_language_is_refused_by_name():
    with pytest.raises(ValueError, match="language must be 'en' or 'zh'"):
        set_language("fr")


# Whatever stands in a message as a value comes out of its translation as it went in.
@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), max_size=20).map(repr), st.integers())
def test_values_pass_through_a_translation_unchanged(name, number):
    said = "{0} must be a number; got {1}."
    words = Catalogue({said: "{0} 必须是数，得到的是 {1}。"})
    if "must be a number; got" not in name:
        assert words.translate(f"{name} must be a number; got {number}.") == f"{name} 必须是数，得到的是 {number}。"


@given(st.text(max_size=60))
def test_a_text_that_the_catalogue_does_not_know_stays_as_it_is(text):
    words = Catalogue({"nothing like this was ever said of {0}": "从未有人这样说过 {0}"})
    assert words.translate(text) == text


def test_a_sentence_of_few_words_is_not_seen_in_other_texts():
    words = Catalogue({"{0} in {1}": "{1}中有 {0}"})
    assert words.translate("weight in the pool, log-loss on rows left out") == (
        "weight in the pool, log-loss on rows left out"
    )
    assert words.translate("7 in 9") == "9中有 7"


def test_a_long_hostile_value_is_matched_in_linear_time():
    words = Catalogue({"a{0}a{1}a{2}a{3}a{4}a{5}b never ends": "永远"})
    text = "a" * 200_000
    assert words.translate(text) == text


def test_labels_are_looked_up_whole():
    with language("zh"):
        assert (label("prior"), label("the prior of mine")) == ("先验", "the prior of mine")


def test_summary_explanation_and_leaderboard_are_chinese():
    tennis = bayeskit.datasets.load_tennis()
    model = bayeskit.NaiveBayes().fit(tennis, target="play")
    with language("zh"):
        summary = str(model.summary())
        explanation = str(model.explain({"outlook": "sunny", "wind": "weak"}))
        values = repr(bayeskit.value_of_information(model, {"outlook": "sunny"}))
    assert [word for word in ("14 行", "类别，以及最支持各类别的取值") if word not in summary] == []
    assert [word for word in ("对数几率", "先验", "后验") if word not in explanation] == []
    assert [word for word in ("观察后风险", "观察前风险") if word not in values] == []


def test_english_reads_no_catalogue():
    code = (
        "import sys, bayeskit\nfrom bayeskit import language\nlanguage.translated('there is no row to explain.')\n"
        "print(language._catalogue.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_translated_text_is_returned_whole_where_it_is_empty():
    with language("zh"):
        assert translated("") == ""
