"""TextClassifier: pruning, transforms, hashing, files, explanations, ranking, and what it refuses."""

import json
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.feature_selection import mutual_info_classif
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import bayeskit
from bayeskit import TextClassifier, read_texts
from bayeskit.errors import BayeskitError, BayeskitWarning, MergeError, ModelFileError, TableError
from bayeskit.estimate.tokens import occurrence_information
from texts import LABELS, TEXTS


def fitted(**options):
    return TextClassifier(**options).fit(TEXTS, LABELS)


# -- words -----------------------------------------------------------------------------------------------------------


def test_the_most_frequent_and_the_rare_words_are_left_out():
    counts = fitted().counts_
    total = dict(zip(counts.words, np.add.reduceat(counts.n_token, counts.indptr[:-1]), strict=True))
    top = sorted(total, key=lambda word: -total[word])[:2]
    model = fitted(drop_frequent=2, min_count=2)
    assert set(model.vocabulary_) == {word for word, n in total.items() if n >= 2} - set(top)
    assert model.counts_.n_words == counts.n_words  # the counts keep them all


def test_pruning_at_estimation_leaves_merge_exact():
    halves = (
        TextClassifier(min_count=3).fit(TEXTS[:5], LABELS[:5]),
        TextClassifier(min_count=3).fit(TEXTS[5:], LABELS[5:]),
    )
    merged, whole = halves[0].merge(halves[1]), fitted(min_count=3)
    assert set(merged.vocabulary_) == set(whole.vocabulary_)
    assert_allclose(merged.predict_proba(TEXTS), whole.predict_proba(TEXTS), rtol=1e-12)


def test_mutual_information_is_scikit_learns_and_selects():
    matrix = CountVectorizer(token_pattern=r"\w+", binary=True)
    X = matrix.fit_transform(TEXTS)
    theirs = mutual_info_classif(X, LABELS, discrete_features=True)
    counts = fitted().counts_
    ours = dict(zip(counts.words, occurrence_information(counts), strict=True))
    assert_allclose([ours[word] for word in matrix.get_feature_names_out()], theirs, rtol=1e-9, atol=1e-12)
    best = sorted(ours.values())[-3:]
    assert_allclose(sorted(ours[word] for word in fitted(k_best=3).vocabulary_), best, rtol=1e-12)


def test_a_vocabulary_emptied_by_pruning_is_refused_when_fitting():
    with pytest.raises(BayeskitError, match="no word is left of 18: drop_frequent=0 and min_count=99"):
        fitted(min_count=99)


def test_jieba_or_any_function_tokenises():
    jieba = pytest.importorskip("jieba", reason="jieba cuts Chinese into words")
    jieba.setLogLevel(60)
    model = TextClassifier(tokens=jieba.lcut).fit(["我喜欢这部电影", "这部电影很难看"], ["good", "bad"])
    assert model.predict(["喜欢"]) == ["good"]
    assert "电影" in model.vocabulary_
    with pytest.raises(ModelFileError, match="the tokenizer is a Python function"):
        model.save("nowhere.bayes")


def test_a_function_that_gives_no_strings_is_refused():
    with pytest.raises(TypeError, match="the tokenizer must give strings; got int"):
        TextClassifier(tokens=lambda text: [1]).fit(["a"], ["b"])


# -- transforms ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("norm", [False, True])
def test_all_transforms_are_those_of_the_paper(norm):
    # TWCNB by hand: tf, idf and length of the training documents, then the weights of the complement.
    vectorizer = CountVectorizer(token_pattern=r"\w+")
    d = np.log1p(vectorizer.fit_transform(TEXTS).toarray())
    d = d * np.log(len(TEXTS) / (d > 0).sum(axis=0))
    d = d / np.sqrt((d**2).sum(axis=1, keepdims=True))
    peer = ComplementNB(norm=norm).fit(d, LABELS)
    ours = fitted(model="complement", tf=True, idf=True, length=True, norm=norm)
    order = [ours.vocabulary_[word] for word in vectorizer.get_feature_names_out()]
    assert_allclose(ours.feature_log_prob_[:, order], peer.feature_log_prob_, rtol=1e-12)


def test_idf_without_length_is_taken_at_estimation_and_batches_stay_exact():
    whole = fitted(model="complement", idf=True, tf=True)
    parts = TextClassifier(model="complement", idf=True, tf=True)
    for begin in (0, 5):
        parts.partial_fit(TEXTS[begin : begin + 5], LABELS[begin : begin + 5])
    assert_allclose(parts.predict_log_proba(TEXTS), whole.predict_log_proba(TEXTS), rtol=1e-12)


def test_a_frozen_idf_says_so_once():
    model = TextClassifier(model="complement", idf=True, length=True)
    with pytest.warns(BayeskitWarning, match="the inverse document frequency was chosen on the first batch"):
        model.partial_fit(TEXTS[:5], LABELS[:5])
    model.partial_fit(TEXTS[5:], LABELS[5:])
    assert model.class_count_.sum() == 10


def test_counts_under_different_idf_do_not_merge():
    options = {"model": "complement", "idf": True, "length": True}
    a = TextClassifier(**options).fit(TEXTS[:5], LABELS[:5])
    b = TextClassifier(**options).fit(TEXTS[5:], LABELS[5:])
    with pytest.raises(MergeError, match="frozen on different documents"):
        a.merge(b)


def test_choices_that_do_not_go_together_are_refused():
    with pytest.raises(BayeskitError, match="model='bernoulli' uses only whether it occurs"):
        fitted(model="bernoulli", tf=True)
    with pytest.raises(BayeskitError, match="norm=True is for model='complement'"):
        fitted(norm=True)


# -- hashing ---------------------------------------------------------------------------------------------------------


def test_enough_buckets_give_the_multinomial_model_over_them():
    model = fitted(hashing=2**20)
    counts = model.counts_
    assert counts.n_words == fitted().counts_.n_words  # no collision among 18 words
    denominators = np.bincount(counts.codes, counts.n_token, 2) + 2**20
    found = model.predict_joint_log_proba(["match"])[0]
    assert_allclose(np.exp(found), [0.6 * 1 / denominators[0], 0.4 * 4 / denominators[1]], rtol=1e-12)
    assert_allclose(
        np.exp(model.predict_joint_log_proba(["neverseen"])[0]),
        [0.6 / denominators[0], 0.4 / denominators[1]],
        rtol=1e-12,
    )


def test_hashed_models_merge_with_equal_size_seed_and_tokenizer_only():
    for name, other in (("hashing", 64), ("hash_seed", 7), ("tokens", "sklearn")):
        options = {"hashing": 32, "hash_seed": 1, "tokens": "words"}
        with pytest.raises(MergeError, match=f"tokens were made with {name}="):
            fitted(**options).merge(fitted(**{**options, name: other}))


def test_a_few_buckets_hold_all_words():
    model = fitted(hashing=3)
    assert model.counts_.n_words <= 3
    assert model.counts_.n_token.sum() == 50


# -- life ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"model": "bernoulli"}, {"model": "complement", "norm": True}, {"hashing": 64}]
)
def test_saved_and_pickled_models_give_the_same_bits(tmp_path, options):
    model = fitted(**options)
    model.save(tmp_path / "news.bayes")
    again = bayeskit.load(tmp_path / "news.bayes")
    assert again.get_params() == model.get_params()
    for copy in (again, pickle.loads(pickle.dumps(model))):
        assert_array_equal(copy.predict_log_proba(TEXTS), model.predict_log_proba(TEXTS), strict=True)
    again.partial_fit(["a new word"], ["sport"])
    assert again.class_count_.sum() == 11


def test_a_frozen_idf_is_saved(tmp_path):
    model = fitted(model="complement", tf=True, idf=True, length=True)
    model.save(tmp_path / "news.bayes")
    again = bayeskit.load(tmp_path / "news.bayes")
    for each in (again, model):
        with pytest.warns(BayeskitWarning, match="the inverse document frequency"):
            each.partial_fit(["new words"], ["sport"])
    assert_array_equal(again.predict_log_proba(TEXTS), model.predict_log_proba(TEXTS), strict=True)


def test_from_counts_is_fit():
    model = TextClassifier.from_counts(
        TextClassifier().count(TEXTS[:4], LABELS[:4]) + TextClassifier().count(TEXTS[4:], LABELS[4:]), smoothing=0.5
    )
    assert_allclose(model.predict_proba(TEXTS), fitted(smoothing=0.5).predict_proba(TEXTS), rtol=1e-12)


def test_scikit_learns_tools_take_it():
    texts, labels = TEXTS * 4, LABELS * 4
    assert cross_val_score(TextClassifier(), texts, labels, cv=4).mean() > 0.9
    search = GridSearchCV(TextClassifier(), {"smoothing": [0.1, 1.0], "model": ["multinomial", "complement"]}, cv=2)
    assert search.fit(texts, labels).best_score_ > 0.9
    assert CalibratedClassifierCV(TextClassifier(), cv=2).fit(texts, labels).predict_proba(TEXTS).shape == (10, 2)
    pipe = make_pipeline(FunctionTransformer(lambda X: [text.upper() for text in X]), TextClassifier()).fit(
        TEXTS, LABELS
    )
    assert_array_equal(pipe.predict_proba(TEXTS), fitted().predict_proba(TEXTS))
    assert clone(TextClassifier(tokens=str.split)).tokens is str.split


@pytest.mark.parametrize("form", ["tuple", "array", "fixed", "pandas", "polars", "arrow", "frame"])
def test_texts_come_in_any_column(form):
    if form in ("pandas", "frame"):
        pd = pytest.importorskip("pandas", reason="columns of pandas")
    texts = {
        "tuple": lambda: tuple(TEXTS),
        "array": lambda: np.array(TEXTS, dtype=object),
        "fixed": lambda: np.array(TEXTS),
        "pandas": lambda: pd.Series(TEXTS),
        "polars": lambda: pytest.importorskip("polars", reason="columns of polars").Series(TEXTS),
        "arrow": lambda: pytest.importorskip("pyarrow", reason="columns of Arrow").array(TEXTS),
        "frame": lambda: pd.DataFrame({"text": TEXTS}),
    }[form]()
    model = TextClassifier().fit(texts, LABELS)
    assert_array_equal(model.predict_proba(texts), fitted().predict_proba(TEXTS))


def test_a_table_of_texts_and_labels():
    table = {"text": TEXTS, "label": LABELS}
    assert_array_equal(TextClassifier().fit(table, target="label").predict_proba(TEXTS), fitted().predict_proba(TEXTS))


def test_threads_do_not_change_a_bit():
    texts = [text * 400 for text in TEXTS] * 40
    model = fitted()
    with bayeskit.threads(1):
        one = model.predict_log_proba(texts)
    with bayeskit.threads(4):
        assert_array_equal(model.predict_log_proba(texts), one)


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_file_and_a_folder_give_the_same_counts_as_a_list(tmp_path):
    path = tmp_path / "news.jsonl"
    path.write_text("".join(json.dumps({"text": t, "label": c}) + "\n" for t, c in zip(TEXTS, LABELS, strict=True)))
    for i, (text, label) in enumerate(zip(TEXTS, LABELS, strict=True)):
        (tmp_path / "tree" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "tree" / label / f"{i}.txt").write_text(text)
    for place in (path, tmp_path / "tree"):
        model = TextClassifier().fit(read_texts(place))
        assert sorted(model.vocabulary_) == sorted(fitted().vocabulary_)
        assert_allclose(model.predict_proba(TEXTS), fitted().predict_proba(TEXTS), rtol=1e-12)
    assert model.score(read_texts(path)) == fitted().score(TEXTS, LABELS)
    assert len(model.predict(read_texts(path))) == 10
    twice = TextClassifier(model="complement", tf=True, idf=True, length=True)
    assert_allclose(
        twice.fit(read_texts(path)).predict_proba(TEXTS),
        clone(twice).fit(TEXTS, LABELS).predict_proba(TEXTS),
        rtol=1e-12,
    )


# -- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["a", 3], "document 1 must be text; got 3"),
        (["a", None], "document 1 must be text; got None"),
        (["a", b"b"], "document 1 is bytes; decode it first"),
        ("a b", "Iterable over raw text documents expected, string object received"),
        (np.zeros((2, 2)), r"documents are a list of texts or one column of them; got shape \(2, 2\)"),
        (["", "..."], "none of the 2 documents has a token"),
        ([], "there is no document"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(TableError, match=message):
        TextClassifier().fit(texts, ["x", "y"][: len(texts)])


def test_labels_must_come_with_the_texts():
    with pytest.raises(TableError, match="requires y to be passed"):
        TextClassifier().fit(TEXTS)
    with pytest.raises(TableError, match="row 1 has no label"):
        TextClassifier().fit(["a", "b"], ["x", None])
    with pytest.raises(TableError, match="inconsistent numbers of samples"):
        TextClassifier().fit(["a", "b"], ["x"])


def test_parameters_are_refused_by_name():
    for name, value in {
        "model": "gauss",
        "smoothing": 1e308,
        "tokens": "letters",
        "ngram_range": (2, 1),
        "hashing": 0,
        "k_best": 0,
    }.items():
        with pytest.raises(BayeskitError, match=f"The '{name}' parameter of TextClassifier must be"):
            fitted(**{name: value})


def test_an_empty_document_is_answered_by_the_prior():
    assert_allclose(fitted().predict_proba(["", "  !"]), [[0.6, 0.4]] * 2, rtol=1e-12)


def test_without_smoothing_an_impossible_document_is_refused_by_number():
    with pytest.raises(BayeskitError, match="document 1: it has probability 0 under every class"):
        fitted(smoothing=0).predict(["the match", "match vote"])


def test_documents_that_were_never_learned_cannot_be_unlearned():
    for text, label, message in (
        ("the match", "weather", "class 'weather' was never counted"),
        ("snow", "sport", "'snow' was not counted so often"),
        ("vote", "sport", "'vote' was not counted so often"),
    ):
        with pytest.raises(MergeError, match=message):
            fitted().unlearn([text], [label])


# -- explaining and ranking ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "options", [{}, {"model": "bernoulli"}, {"model": "complement"}, {"hashing": 64}, {"ngram_range": (1, 2)}]
)
def test_prior_and_words_sum_to_the_log_odds(options):
    model = fitted(**options)
    text = "The match, the unknown MATCH and a vote"
    found = model.explain(text, classes=("sport", "politics"))
    log_proba = dict(zip(model.classes_, model.predict_log_proba([text])[0], strict=True))
    assert_allclose(found.log_odds, log_proba["sport"] - log_proba["politics"], rtol=1e-9)
    assert_allclose(found.probability, np.exp(log_proba["sport"]), rtol=1e-12)
    assert_allclose(found.by_word().log_odds, found.log_odds, rtol=1e-9)
    if "ngram_range" not in options:
        assert [text[word.begin : word.end] for word in found.words] == [
            "The",
            "match",
            "the",
            "unknown",
            "MATCH",
            "and",
            "a",
            "vote",
        ]


def test_a_text_is_shown_with_its_words_marked():
    found = fitted().explain("Was <match> & vote", classes=("sport", "politics"))
    assert found.marked() == "Was⁻ <match⁺> & vote⁻"
    page = found._repr_html_()
    assert "&lt;" in page
    assert "<match>" not in page
    assert 'title="match: +1.' in page
    assert "unknown (not known)" in str(fitted().explain("unknown match"))


def test_a_text_is_explained_in_its_normal_form():
    model = TextClassifier(unicode_form="NFC").fit(["caf\u00e9", "bar"], ["x", "y"])
    found = model.explain("Cafe\u0301!", classes=("x", "y"))
    assert found.marked() == "Caf\u00e9⁺!"


def test_chinese_pairs_share_their_characters():
    model = TextClassifier().fit(["很好看", "很难看"], ["good", "bad"])
    found = model.explain("很好看", classes=("good", "bad"))
    assert found.marked() == "很⁺好⁺看⁺"


def test_the_most_interesting_documents_come_first():
    model = fitted()
    ranking = model.rank(TEXTS, "sport")
    assert [LABELS[i] for i in ranking.order[:4]] == ["sport"] * 4
    assert ranking.enrichment(LABELS, 0.4) == (1.0, 0.4)
    proba = model.predict_proba(TEXTS)
    assert_allclose(ranking.log_odds, np.log(proba[:, 1] / proba[:, 0]), rtol=1e-9)
    with pytest.raises(BayeskitError, match="cls must be one of the classes"):
        model.rank(TEXTS, "weather")


def test_long_texts_are_ranked_though_their_posterior_rounds_to_one():
    ranking = fitted().rank(["match " * 5000, "match " * 6000], "sport")
    assert ranking.order.tolist() == [1, 0]
    assert fitted().predict_proba(["match " * 5000])[0, 1] == 1.0


def test_top_words_speak_for_their_class():
    assert [word for word, _ in fitted().top_words("sport", 2)] == ["goal", "match"]
