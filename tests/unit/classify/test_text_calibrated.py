"""TextClassifier with calibrate=True: as sure as documents left out allow, and nothing else changes."""

from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

import bayeskit
from bayeskit import TextClassifier
from bayeskit.counts.document_sample import MOST_CHARACTERS, MOST_DOCUMENTS, DocumentSample
from bayeskit.errors import ModelFileError, TooLargeError
from bayeskit.estimate.text_temperature import fit_powers
from bayeskit.table.tokenizer import Tokenizer

WORDS = np.array([f"w{k}" for k in range(60)])
MODELS = ("multinomial", "bernoulli", "complement")


@cache
def corpus(n=200, copies=4):
    """Documents whose words come several times each, which naive Bayes takes for so many independent words."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 3, n)
    share = rng.dirichlet(np.full(len(WORDS), 0.8), 3)
    drawn = [rng.choice(WORDS, rng.integers(1, 9), p=share[c]) for c in y]
    return [" ".join(np.repeat(words, copies)) for words in drawn], np.array(["a", "b", "c"])[y]


def loss(model, texts, y):
    return -model.predict_log_proba(texts)[np.arange(len(y)), np.searchsorted(model.classes_, y)].mean()


@pytest.mark.parametrize("model", MODELS)
def test_classes_stay_and_log_loss_falls_below_the_textbook_and_the_class_shares(model):
    texts, y = corpus()
    new, truth = texts[120:], y[120:]
    plain = TextClassifier(model=model, calibrate=False).fit(texts[:120], y[:120])
    softer = TextClassifier(model=model).fit(texts[:120], y[:120])
    assert_array_equal(softer.predict(new), plain.predict(new))
    assert_array_equal(softer.predict_proba(new).argmax(axis=1), plain.predict_proba(new).argmax(axis=1))
    assert_array_equal(softer.predict_joint_log_proba(new), plain.predict_joint_log_proba(new))
    shares = np.log(softer.class_prior_)[np.searchsorted(softer.classes_, truth)]
    assert loss(softer, new, truth) < -shares.mean()
    if model != "bernoulli":  # which does not see how often a word comes
        assert loss(softer, new, truth) < loss(plain, new, truth)


def test_words_that_come_four_times_are_believed_a_quarter_as_much():
    texts, y = corpus(copies=1)
    once = TextClassifier(prior="uniform", smoothing=1).fit(texts, y).predict_proba(texts)
    often = TextClassifier(prior="uniform", smoothing=4).fit(corpus()[0], y).predict_proba(corpus()[0])
    assert_allclose(often, once, atol=0.02)  # the penalty of one document is relative to other lengths


def test_the_weights_have_the_least_penalised_log_loss():
    rng = np.random.default_rng(0)
    score, y = rng.normal(0, 30, (80, 4)), rng.integers(0, 4, 80)
    score[np.arange(80), y] += 20
    length, count = rng.integers(1, 200, 80).astype(float), rng.integers(1, 3, 80).astype(float)
    feature = np.stack([np.ones(80), length**-0.5, 1 / length], axis=1)

    def objective(w):
        scaled = (feature @ w)[:, None] * score
        loss = np.logaddexp.reduce(scaled, axis=1) - scaled[np.arange(80), y]
        away = (w - [1.0, 0.0, 0.0]) * feature.mean(axis=0)
        return count @ loss + 0.5 * away @ away

    ours = fit_powers(score, y, length, count)
    bounds = [(0.0, None)] * 3
    starts = [[1.0, 0.0, 0.0], [0.1, 0.1, 0.1], [0.0, 1.0, 1.0]]
    theirs = min(minimize(objective, start, bounds=bounds, tol=1e-14).fun for start in starts)
    assert objective(ours) <= theirs + 1e-7
    assert (ours >= 0).all()


def test_few_documents_leave_the_textbook_as_it_is():
    texts, y = corpus()
    plain = TextClassifier(calibrate=False).fit(texts[:40], y[:40])
    assert_array_equal(TextClassifier().fit(texts[:40], y[:40]).predict_proba(texts), plain.predict_proba(texts))


@pytest.mark.parametrize("model", MODELS)
def test_any_split_and_any_order_is_one_fit_and_documents_can_be_unlearned(model):
    texts, y = corpus()
    whole = TextClassifier(model=model).fit(texts, y).predict_proba(texts)
    order = np.random.default_rng(2).permutation(len(y))
    parts = np.array_split(order, 3)
    grown = TextClassifier(model=model)
    for part in parts:
        grown.partial_fit([texts[i] for i in part], y[part])
    assert_allclose(grown.predict_proba(texts), whole, rtol=1e-9)
    first, second = (TextClassifier(model=model).fit([texts[i] for i in p], y[p]) for p in (order[:90], order[90:]))
    assert_allclose(first.merge(second).predict_proba(texts), whole, rtol=1e-9)
    less = TextClassifier(model=model).fit(texts, y).unlearn(texts[120:], y[120:])
    assert_allclose(
        less.predict_proba(texts), TextClassifier(model=model).fit(texts[:120], y[:120]).predict_proba(texts), rtol=1e-9
    )


def test_a_saved_model_says_the_same_to_the_last_bit_and_a_damaged_sample_is_refused(tmp_path):
    texts, y = corpus()
    model = TextClassifier().fit(texts, y)
    model.save(tmp_path / "mail.bayes")
    assert_array_equal(bayeskit.load(tmp_path / "mail.bayes").predict_proba(texts), model.predict_proba(texts))
    meta, arrays = model.counts_.to_parts()
    with pytest.raises(ModelFileError, match="the sample of documents does not fit"):
        type(model.counts_).from_parts(meta, {**arrays, "sample_y": arrays["sample_y"] + 3})


def test_an_explanation_and_a_ranking_agree_with_the_probabilities():
    texts, y = corpus()
    model = TextClassifier().fit(texts, y)
    why = model.explain(texts[0], ("a", "b"))
    posterior = model.predict_proba(texts[:1])[0]
    assert why.log_odds == pytest.approx(np.log(posterior[0] / posterior[1]), rel=1e-9)
    assert why.probability == pytest.approx(posterior[0], rel=1e-9)
    probability = model.predict_proba(texts)[:, 0]
    assert (np.diff(probability[model.rank(texts, "a").order]) <= 1e-12).all()


def test_leave_one_out_is_calibrated_too():
    texts, y = corpus()
    plain, softer = (TextClassifier(calibrate=c).fit(texts, y).leave_one_out(texts, y) for c in (False, True))
    assert softer.error == plain.error
    assert softer.log_loss < plain.log_loss


def test_the_sample_holds_the_documents_with_the_smallest_hashes_whatever_their_order():
    texts = [f"word{k % 7} number{k}" for k in range(2 * MOST_DOCUMENTS)]
    y = np.arange(len(texts)) % 3
    whole = DocumentSample.of(texts, y, None, Tokenizer())
    assert len(whole.bags) == MOST_DOCUMENTS
    order = np.random.default_rng(0).permutation(len(texts))
    parts = order[:90], order[90:]
    halves = [DocumentSample.of([texts[i] for i in part], y[part], None, Tokenizer()) for part in parts]
    both = halves[0] + halves[1]
    assert_array_equal(both.keys, whole.keys)
    assert both.bags == whole.bags
    assert_array_equal(both.y, whole.y)
    rest = whole - DocumentSample.of(texts[:900], y[:900], None, Tokenizer())
    assert set(rest.bags) <= set(whole.bags)
    assert len(rest.bags) < 100


def test_a_document_without_known_words_gets_the_prior():
    texts, y = corpus()
    model = TextClassifier().fit(texts, y)
    assert_allclose(model.predict_proba(["unheard"])[0], model.class_prior_, rtol=1e-12)


def test_a_book_among_the_documents_is_counted_and_not_kept():
    book = "w1 " * MOST_CHARACTERS
    sample = DocumentSample.of([book, "w2"], np.array([0, 1]), None, Tokenizer())
    assert sample.bags == ((("w2", 1),),)


def test_more_classes_than_documents_could_have_are_refused_before_the_work():
    n = 70_000
    with pytest.raises(TooLargeError, match="texts have more than 65,536 classes"):
        TextClassifier().fit([f"w{k}" for k in range(n)], [f"c{k}" for k in range(n)])
    with pytest.raises(TooLargeError, match=r"the table of 30,000 words for 30,000 classes needs 6\.7 GiB"):
        TextClassifier().fit([f"w{k}" for k in range(30_000)], [f"c{k}" for k in range(30_000)])


def test_the_length_of_a_document_counts_unknown_words_where_they_have_a_slot():
    texts, y = ["a b c d", "a b e f", "a b g h"], [0, 1, 0]
    for hashing, expected in ((None, [3.0, 0.0]), (1 << 12, [5.0, 2.0])):
        model = TextClassifier(hashing=hashing).fit(texts, y)
        assert_array_equal(model._beliefs.lengths(["a b c zz zz", "zz zz"]), expected)
