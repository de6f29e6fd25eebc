import io
import math
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from bayeskit import ComplementNB, MultinomialNB, NaiveBayes, datasets
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, TableError
from bayeskit.explain import explain, explain_rows
from bayeskit.result import text_width
from common.registry import any_table_classifiers

TENNIS = datasets.load_tennis()
FRAME = pd.DataFrame(TENNIS)
DAY = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
SUM = 1e-9


@pytest.fixture
def one_thread():
    """Gradient boosting starts a thread per core, and on a busy machine they wait for each other."""
    with threadpool_limits(1):
        yield


def log_odds(model, table, pair):
    log_proba = model.predict_log_proba(table)[0]
    first, second = (list(model.classes_).index(name) for name in pair)
    return log_proba[first] - log_proba[second]


def test_the_weights_of_evidence_are_those_of_the_textbook():
    # Play tennis without smoothing: P(sunny | no) = 3/5, P(sunny | yes) = 2/9, and so on.
    found = NaiveBayes(smoothing=0).fit(TENNIS, target="play").explain(DAY)
    assert found.classes == ("no", "yes")
    assert found.features == ("outlook", "temperature", "humidity", "wind")
    assert found.prior == pytest.approx(math.log(5 / 9), rel=1e-12)
    ratios = [(3 / 5) / (2 / 9), (1 / 5) / (3 / 9), (4 / 5) / (3 / 9), (3 / 5) / (3 / 9)]
    assert_allclose(found.terms, np.log(ratios), rtol=1e-12)
    assert found.probability == pytest.approx(0.79541735, abs=5e-9)
    assert found.log_odds == pytest.approx(math.log(0.02057143 / 0.00529101), abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 1.0])
@pytest.mark.parametrize("pair", [("no", "yes"), ("yes", "no")])
def test_prior_and_terms_sum_to_the_posterior_log_odds(smoothing, pair):
    model = NaiveBayes(smoothing=smoothing).fit(TENNIS, target="play")
    found = model.explain(DAY, classes=pair)
    assert abs(found.log_odds - log_odds(model, {k: [v] for k, v in DAY.items()}, pair)) < SUM


@given(st.data())
def test_terms_sum_up_for_mixed_columns_missing_and_unseen_cells(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 1000)))
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "green", None], 40),
            "size": rng.normal(size=40),
            "count": rng.poisson(2, 40),
            "flag": rng.integers(0, 2, 40),
            "weight": np.where(rng.random(40) < 0.2, np.nan, rng.gamma(2, size=40)),
        }
    )
    kinds = {"count": "poisson", "flag": "bernoulli", "weight": "equal-frequency"}
    model = NaiveBayes(kinds=kinds, bins=3, unseen=data.draw(st.sampled_from(["ignore", "smooth"])))
    model.fit(frame, rng.integers(0, 3, 40))
    row = {
        "colour": data.draw(st.sampled_from(["red", "green", "blue", None])),
        "size": data.draw(st.sampled_from([-2.5, 0.0, 7.0, None])),
        "count": data.draw(st.sampled_from([0, 3, 11, None])),
        "flag": data.draw(st.sampled_from([0, 1, None])),
        "weight": data.draw(st.sampled_from([0.01, 2.0, 50.0, None])),
    }
    found = model.explain(row)
    assert abs(found.log_odds - log_odds(model, {k: [v] for k, v in row.items()}, found.classes)) < SUM
    missing = [value is None for value in row.values()]
    assert (found.terms[missing] == 0).all()
    assert not found.used[missing].any()


def test_the_fast_way_gives_the_terms_of_hiding_and_revealing():
    class Slow:
        """The same model, without its shortcut."""

        def __init__(self, model):
            self.classes_, self.feature_names_in_, self.schema_ = model.classes_, model.feature_names_in_, model.schema_
            self.predict_proba, self.predict_log_proba = model.predict_proba, model.predict_log_proba

    model = NaiveBayes().fit(TENNIS, target="play")
    for order in (None, ["wind", "outlook", "humidity", "temperature"]):
        fast, slow = explain(model, DAY, order=order), explain(Slow(model), DAY, order=order)
        assert fast.features == slow.features
        assert fast.classes == slow.classes
        assert_allclose(fast.terms, slow.terms, atol=1e-12)
        assert fast.prior == pytest.approx(slow.prior, abs=1e-12)
        assert fast.probability == pytest.approx(slow.probability, rel=1e-12)


@pytest.mark.usefixtures("one_thread")
def test_any_classifier_that_accepts_missing_cells_is_explained():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 3))
    y = (table[:, 0] + table[:, 1] * table[:, 2] > 0).astype(int)
    table[rng.random(table.shape) < 0.1] = np.nan
    model = HistGradientBoostingClassifier(max_iter=20).fit(table, y)
    row = np.array([0.5, np.nan, -1.0])
    found = explain(model, row, classes=(1, 0), order=["x2", "x0", "x1"])
    probability = model.predict_proba(row[None, :])[0]
    assert abs(found.log_odds - math.log(probability[1] / probability[0])) < SUM
    assert_array_equal(found.used, [True, True, False])
    only_x2 = model.predict_proba([[np.nan, np.nan, -1.0]])[0]
    nothing = model.predict_proba([[np.nan] * 3])[0]
    assert found.prior == pytest.approx(math.log(nothing[1] / nothing[0]), abs=SUM)
    assert found.terms[0] == pytest.approx(math.log(only_x2[1] / only_x2[0]) - found.prior, abs=SUM)


@pytest.mark.usefixtures("one_thread")
def test_categories_of_a_frame_stay_categories_for_other_classifiers():
    table = FRAME.drop(columns="play").astype("category")
    model = HistGradientBoostingClassifier(categorical_features="from_dtype", min_samples_leaf=1).fit(table, FRAME.play)
    found = explain(model, table.iloc[[0]], classes=("no", "yes"))
    probability = model.predict_proba(table.iloc[[0]])[0]
    assert abs(found.log_odds - math.log(probability[0] / probability[1])) < SUM


@pytest.mark.parametrize(
    "row",
    [
        DAY,
        {name: [value] for name, value in DAY.items()},
        list(DAY.values()),
        np.array(list(DAY.values()), dtype=object),
        pd.Series(DAY),
        pd.DataFrame([DAY]),
        pd.DataFrame([DAY])[["wind", "outlook", "humidity", "temperature"]],
        pd.DataFrame([{**DAY, "play": "no"}]),
        pl.DataFrame([DAY]),
        pa.table({name: [value] for name, value in DAY.items()}),
    ],
    ids=["dict", "dict of lists", "list", "array", "Series", "pandas", "reordered", "with target", "polars", "arrow"],
)
def test_a_row_may_come_in_any_form(row):
    model = NaiveBayes().fit(TENNIS, target="play")
    assert_allclose(explain(model, row).terms, explain(model, DAY).terms, rtol=1e-12)


@pytest.mark.parametrize("form", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_many_rows_are_explained_as_each_of_them_is(form):
    features = {name: TENNIS[name] for name in DAY}
    model = NaiveBayes().fit(TENNIS, target="play")
    many = model.explain_rows(form(features))
    assert len(many) == 14
    for i, each in enumerate(many):
        alone = model.explain({name: features[name][i] for name in DAY})
        assert (each.classes, each.values) == (alone.classes, alone.values)
        assert_allclose(each.terms, alone.terms, atol=1e-12)
        assert each.probability == pytest.approx(alone.probability, rel=1e-12)
        assert many.log_odds[i] == pytest.approx(alone.log_odds, rel=1e-12)


@pytest.mark.usefixtures("one_thread")
def test_many_rows_of_another_classifier_are_explained_too():
    table = np.random.default_rng(0).normal(size=(60, 2))
    model = HistGradientBoostingClassifier(max_iter=3).fit(table, table[:, 0] > 0)
    many = explain_rows(model, table[:5], classes=(True, False))
    probability = model.predict_proba(table[:5])
    assert_allclose(many.log_odds, np.log(probability[:, 1] / probability[:, 0]), atol=SUM)
    with pytest.raises(BayeskitError, match="no row to explain"):
        explain_rows(model, table[:0])
    with pytest.raises(TypeError, match="one at a time"):
        many[1:3]


@pytest.mark.parametrize(
    "model", [model for model in any_table_classifiers() if hasattr(model, "log_joint_terms")], ids=str
)
def test_the_terms_of_every_naive_model_are_its_weights_of_evidence(model):
    table = np.random.default_rng(0).integers(0, 4, (50, 3)).astype(float)
    model.fit(table, table[:, 0] > 1)
    found = model.explain(table[0], classes=(True, False))
    alone = np.where(np.eye(3), table[0], np.nan)  # each cell by itself
    log_joint = model.predict_joint_log_proba(np.vstack([np.full(3, np.nan), alone]))
    no, yes = log_joint.T
    assert_allclose(found.prior, yes[0] - no[0], rtol=1e-12)
    assert_allclose(found.terms, (yes[1:] - yes[0]) - (no[1:] - no[0]), rtol=1e-11)


@pytest.mark.parametrize("model", [MultinomialNB(), ComplementNB()], ids=str)
def test_the_terms_of_a_model_of_counts_are_what_each_count_adds_to_none(model):
    table = np.random.default_rng(0).integers(0, 4, (50, 3)).astype(float)
    model.fit(table, table[:, 0] > 1)
    found = model.explain(table[0], classes=(True, False))
    no, yes = model.predict_joint_log_proba(np.vstack([np.zeros(3), np.diag(table[0])])).T
    assert_allclose(found.prior, yes[0] - no[0], rtol=1e-12)
    assert_allclose(found.terms, (yes[1:] - yes[0]) - (no[1:] - no[0]), rtol=1e-11)


def test_there_are_naive_models_to_explain():
    assert {type(model).__name__ for model in any_table_classifiers() if hasattr(model, "log_joint_terms")} >= {
        "NaiveBayes",
        "GaussianNB",
        "CategoricalNB",
    }


def test_a_value_that_rules_a_class_out_has_an_infinite_weight():
    # Without smoothing no overcast day is a "no".
    found = NaiveBayes(smoothing=0).fit(TENNIS, target="play").explain({"outlook": "overcast", "wind": "weak"})
    assert found.classes == ("yes", "no")
    assert found.terms[0] == np.inf
    assert found.log_odds == np.inf
    assert "+inf" in str(found)
    assert "+inf" in found._repr_html_()


def test_classes_that_both_cannot_be_have_no_odds():
    model = NaiveBayes(smoothing=0).fit({"x": ["a", "b", "c"]}, ["A", "B", "C"])
    with pytest.raises(ImpossibleEvidenceError, match="this row has probability 0 under 'B' and under 'C'"):
        model.explain({"x": "a"}, classes=("B", "C"))


def test_rows_that_neither_class_can_give_are_refused_by_number():
    model = NaiveBayes(smoothing=0).fit({"x": ["a", "b", "c"]}, ["A", "B", "C"])
    with pytest.raises(ImpossibleEvidenceError, match="row 2: it has probability 0 under both classes"):
        model.explain_rows({"x": ["b", "c", "a"]}, classes=("B", "C"))
    assert model.explain_rows({"x": ["b", "c"]}, classes=("B", "C")).log_odds.tolist() == [np.inf, -np.inf]


def test_in_a_terminal_the_evidence_has_colours(monkeypatch):
    pytest.importorskip("rich", reason="rich is an extra")
    found = MODEL.explain(DAY)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")  # not that of whoever runs the tests: "dumb" has no colours
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in repr(found)
    assert "\x1b[" not in str(found)  # it may go to a file
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert repr(found) == str(found)


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize("form", [dict, pd.DataFrame, pl.DataFrame])
def test_a_classifier_fitted_with_names_is_explained_from_any_table(form):
    rng = np.random.default_rng(0)
    table = {"a": rng.normal(size=60), "b": rng.normal(size=60)}
    model = HistGradientBoostingClassifier(max_iter=3).fit(pd.DataFrame(table), table["a"] > 0)
    few = {name: column[:3] for name, column in table.items()}
    many = explain_rows(model, form(few), classes=(True, False))
    probability = model.predict_proba(pd.DataFrame(few))
    assert_allclose(many.log_odds, np.log(probability[:, 1] / probability[:, 0]), atol=SUM)
    assert [each.values for each in many] == list(zip(few["a"], few["b"], strict=True))


def test_a_series_without_names_is_read_by_position():
    table = np.random.default_rng(0).normal(size=(30, 2))
    model = NaiveBayes().fit(table, table[:, 0] > 0)
    assert_allclose(explain(model, pd.Series(table[0])).terms, explain(model, table[0]).terms, rtol=1e-12)


def test_it_prints_as_text_rich_and_html():
    found = NaiveBayes().fit(TENNIS, target="play").explain({**DAY, "wind": None})
    text = str(found)
    assert text.splitlines()[0] == "log-odds of no over yes"
    assert "outlook = sunny" in text
    assert "wind (not used)" in text
    assert "posterior" in text
    rich = pytest.importorskip("rich.console", reason="rich is an extra")
    console = rich.Console(record=True, width=100, file=io.StringIO())
    console.print(found)
    assert "outlook = sunny" in console.export_text()
    html = found._repr_html_()
    assert html.startswith("<table>")
    assert "wind (not used)" in html


def test_names_and_values_cannot_inject_html():
    model = NaiveBayes().fit({"<script>": ["<b>", "x"]}, ["<i>", "no"])
    html = model.explain({"<script>": "<b>"})._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html


def test_columns_of_chinese_text_line_up():
    melon = datasets.load_watermelon()
    model = NaiveBayes().fit(melon, target="好瓜")
    text = str(model.explain({name: column[0] for name, column in melon.items() if name != "好瓜"}))
    assert "含糖率 = 0.46" in text
    assert len({text_width(line[: line.index("├")]) for line in text.splitlines() if "├" in line}) == 1


def test_the_strongest_evidence_can_stand_first():
    found = NaiveBayes().fit(TENNIS, target="play").explain(DAY).strongest()
    assert (np.diff(np.abs(found.terms)) <= 0).all()
    # By Laplace: (4/8) / (3/12) = 2 for outlook, (5/7) / (4/11) = 1.96 for humidity.
    assert found.features[:2] == ("outlook", "humidity")


MODEL = NaiveBayes().fit(TENNIS, target="play")


@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        ({"rain": 1}, {}, "has no feature 'rain'; its features are outlook"),
        ({"outlook": ["sunny", "rain"]}, {}, "feature 'outlook': one row has one value; got 2"),
        (["sunny"], {}, r"must have 4 cells, one per feature; got shape \(1,\)"),
        (FRAME, {}, "takes one row; got a frame with 14 rows"),
        (FRAME[["outlook"]].iloc[:1], {}, "lacks the feature 'temperature'"),
        (DAY, {"classes": ("no", "maybe")}, "'maybe' is not a class; the classes are"),
        (DAY, {"classes": ("no", "no")}, "two different classes"),
        (DAY, {"classes": "no"}, "two different classes|is not a class"),
        (DAY, {"order": ["wind"]}, "order must name every feature once"),
    ],
)
def test_what_cannot_be_explained_is_refused(row, options, message):
    with pytest.raises((BayeskitError, TableError), match=message):
        explain(MODEL, row, **options)


def test_a_classifier_that_cannot_miss_a_cell_is_refused():
    model = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(BayeskitError, match="this LogisticRegression does not accept missing cells"):
        explain(model, [0.5])
    with pytest.raises(BayeskitError, match="LinearSVC has none"):
        explain(LinearSVC().fit([[0.0], [1.0]], [0, 1]), [0.5])
    with pytest.raises(TableError, match="is not fitted"):
        explain(LogisticRegression(), [0.5])


def test_one_class_alone_has_no_odds():
    with pytest.raises(BayeskitError, match="odds need two classes"):
        NaiveBayes().fit([[1.0], [2.0]], ["a", "a"]).explain([1.0])


@pytest.mark.parametrize("names", [[0, 1, 2], [30, 10, 20]])
@pytest.mark.parametrize("fitted_on", ["frame", "array"])
def test_a_row_of_a_frame_whose_columns_are_numbered_goes_by_place(names, fitted_on):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.choice(["u", "v", "w"], (80, 3)), columns=names)
    y = np.where(rng.random(80) < 0.7, table[names[0]] == "u", table[names[1]] == "v")
    model = NaiveBayes().fit(table if fitted_on == "frame" else table.to_numpy(), y)
    expected = explain(model, table.iloc[0].tolist())
    for row in (table.iloc[:1], table.iloc[0]):
        found = explain(model, row)
        assert found.log_odds == expected.log_odds
        assert_array_equal(found.terms, expected.terms)
    with pytest.raises(TableError, match=r"the row must have 3 cells, one per feature; got shape \(1, 2\)"):
        explain(model, table.iloc[:1, :2])
