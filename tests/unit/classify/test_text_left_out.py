"""Text models: each document predicted without itself, weights of classes, and the m-estimate."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import BernoulliNB, ComplementNB, MultinomialNB

from bayeskit import MEstimate, TextClassifier, load, read_texts
from bayeskit.errors import BayeskitError

RNG = np.random.default_rng(4)
WORDS = np.array(["cheap", "pills", "lunch", "noon", "meet", "watch", "offer", "late", "the", "report", "team"])
Y = np.repeat(["ham", "news", "spam"], [8, 5, 7])
SHARES = {
    "ham": 1 + 3 * (np.arange(11) % 3 == 0),
    "news": 1 + 2 * (np.arange(11) > 6),
    "spam": 1 + 3 * (np.arange(11) < 3),
}
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(2, 9), p=SHARES[c] / SHARES[c].sum())) for c in Y]


def refits(model, weight=None):
    """P(c | d) of each document by a model of the other documents that has the same vocabulary."""
    found = []
    for i in range(len(Y)):
        own = None if weight is None else [min(1.0, weight[i])]
        rest = model.counts_ - model.count(TEXTS[i : i + 1], Y[i : i + 1], own)
        if not set(model.vocabulary_) <= set(rest.words):
            found.append(np.full(len(model.classes_), np.nan))  # a word of this document alone is gone
            continue
        again = TextClassifier.from_counts(rest.declare(model.classes_), **{**model.get_params(), "min_count": 0})
        found.append(again.predict_proba(TEXTS[i : i + 1])[0])
    return np.array(found)


MODELS = ["multinomial", "bernoulli", "complement", "norm"]
SETTINGS = [
    {},
    {"smoothing": 0.3, "prior": "smoothed"},
    {"smoothing": MEstimate(4), "prior": "uniform"},
    {"tf": True},
    {"tf": True, "length": True, "prior": [0.2, 0.3, 0.5]},
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("model", "settings"),
    [(m, s) for m in MODELS for s in SETTINGS if m != "bernoulli" or "tf" not in s],  # which takes no transform
    ids=str,
)
def test_leaving_a_document_out_is_a_fit_without_it(model, settings, weighted):
    kind = {"model": "complement", "norm": True} if model == "norm" else {"model": model}
    weight = np.tile([1.0, 2.0, 0.5, 3.0], 5) if weighted else None
    fitted = TextClassifier(**kind, **settings).fit(TEXTS, Y, sample_weight=weight)
    found = np.exp(fitted.leave_one_out(TEXTS, Y, weight).log_posterior)
    expected = refits(fitted, weight)
    same = ~np.isnan(expected).any(axis=1)
    assert same.sum() > 15
    assert_allclose(found[same], expected[same], rtol=1e-9)


@pytest.mark.parametrize(("model", "norm"), [("multinomial", False), ("complement", False), ("complement", True)])
def test_hashed_and_pruned_words_are_left_out_too(model, norm):
    fitted = TextClassifier(model=model, norm=norm, hashing=64, min_count=7).fit(TEXTS, Y)
    found = np.exp(fitted.leave_one_out(TEXTS, Y).log_posterior)
    n_checked = 0
    for i in range(len(Y)):
        rest = fitted.counts_ - fitted.count(TEXTS[i : i + 1], Y[i : i + 1])
        again = TextClassifier.from_counts(rest.declare(fitted.classes_), **fitted.get_params())
        if set(again.vocabulary_) == set(fitted.vocabulary_):
            n_checked += 1
            assert_allclose(found[i], again.predict_proba(TEXTS[i : i + 1])[0], rtol=1e-9)
    assert n_checked > 5


def test_leave_one_out_of_files_and_of_tables_is_the_same(tmp_path):
    fitted = TextClassifier().fit(TEXTS, Y)
    plain = fitted.leave_one_out(TEXTS, Y)
    table = fitted.leave_one_out({"text": TEXTS, "kind": Y.tolist()}, target="kind")
    assert_array_equal(table.log_posterior, plain.log_posterior)
    path = tmp_path / "texts.csv"
    path.write_text("text,kind\n" + "".join(f"{text},{label}\n" for text, label in zip(TEXTS, Y, strict=True)))
    assert_array_equal(fitted.leave_one_out(read_texts(path, target="kind")).log_posterior, plain.log_posterior)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"idf": True}, "changes the weight of every word"),
        ({"class_weight": "balanced"}, "fit without class_weight"),
        ({"hashing": 64, "tf": True}, "which hashing mixes"),
        ({"k_best": 2}, "chosen with each document.s label in sight"),
    ],
)
def test_what_cannot_be_subtracted_is_refused(settings, message):
    with pytest.raises(BayeskitError, match=message):
        TextClassifier(**settings).fit(TEXTS, Y).leave_one_out(TEXTS, Y)


@pytest.mark.parametrize(
    ("model", "peer"), [("multinomial", MultinomialNB), ("bernoulli", BernoulliNB), ("complement", ComplementNB)]
)
def test_the_weight_of_a_class_is_the_weight_of_its_documents(model, peer, tmp_path):
    weight = {"ham": 0.5, "news": 2.0, "spam": 3.0}
    by_document = [weight[label] for label in Y]
    weighted = TextClassifier(model=model, class_weight=weight).fit(TEXTS, Y)
    assert_allclose(
        weighted.predict_proba(TEXTS),
        TextClassifier(model=model).fit(TEXTS, Y, sample_weight=by_document).predict_proba(TEXTS),
        rtol=1e-12,
    )
    X = CountVectorizer(token_pattern=r"\w+").fit_transform(TEXTS)
    assert_allclose(
        weighted.predict_proba(TEXTS), peer().fit(X, Y, sample_weight=by_document).predict_proba(X), rtol=1e-9
    )
    assert_array_equal(weighted.class_count_, [8, 5, 7])  # counts stay as they are
    weighted.save(tmp_path / "m.bayes")
    assert_array_equal(load(tmp_path / "m.bayes").predict_proba(TEXTS), weighted.predict_proba(TEXTS))
    with pytest.raises(BayeskitError, match="class_weight names the class 'z'"):
        TextClassifier(model=model, class_weight={"z": 1.0}).fit(TEXTS, Y)


def test_an_m_estimate_adds_m_tokens_to_each_class(tmp_path):
    m = TextClassifier(smoothing=MEstimate(5.5)).fit(TEXTS, Y)
    assert_allclose(
        m.predict_proba(TEXTS), TextClassifier(smoothing=0.5).fit(TEXTS, Y).predict_proba(TEXTS), rtol=1e-12
    )
    assert len(m.vocabulary_) == 11
    documents = TextClassifier(model="bernoulli", smoothing=MEstimate(2)).fit(TEXTS, Y)
    assert_allclose(
        documents.predict_proba(TEXTS), TextClassifier(model="bernoulli").fit(TEXTS, Y).predict_proba(TEXTS), rtol=1e-12
    )
    m.save(tmp_path / "m.bayes")
    assert_array_equal(load(tmp_path / "m.bayes").predict_proba(TEXTS), m.predict_proba(TEXTS))


@pytest.mark.parametrize("model", ["multinomial", "complement"])
def test_tokens_outside_a_hashed_vocabulary_are_counted_when_a_document_is_left_out(model):
    fitted = TextClassifier(model=model, hashing=1 << 12, drop_frequent=2).fit(TEXTS, Y)
    left_out = np.exp(fitted.leave_one_out(TEXTS, Y).log_posterior)
    n_checked = 0
    for i in range(len(Y)):
        rest = fitted.counts_ - fitted.count(TEXTS[i : i + 1], Y[i : i + 1])
        again = TextClassifier.from_counts(rest.declare(fitted.classes_), **fitted.get_params())
        if set(again.vocabulary_) >= set(fitted.vocabulary_):
            n_checked += 1
            assert_allclose(left_out[i], again.predict_proba(TEXTS[i : i + 1])[0], rtol=1e-9)
    assert n_checked > 0
