"""Naive Bayes over counts predicts each row of its fit without that row, as scikit-learn's refits do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import naive_bayes as theirs
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from bayeskit import BernoulliNB, ComplementNB, MultinomialNB
from bayeskit.errors import TableError

RNG = np.random.default_rng(3)
Y = np.repeat(["a", "b", "c"], [9, 6, 4])
X = RNG.poisson([[0.6] * 8] * len(Y)) + (Y == "b")[:, None] * RNG.integers(0, 2, (len(Y), 8))
X[:, 7] = 1  # a feature that every row has
SETTINGS = [{}, {"alpha": 0.3, "fit_prior": False}, {"alpha": np.arange(1.0, 9.0), "class_prior": [0.2, 0.3, 0.5]}]
MODELS = [MultinomialNB, BernoulliNB, ComplementNB, lambda **s: ComplementNB(norm=True, **s)]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("make", MODELS, ids=["multinomial", "bernoulli", "complement", "norm"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_leave_one_out_is_that_of_scikit_learn(make, settings, form):
    model = make(**settings).fit(form(X), Y)
    peer = getattr(theirs, type(model).__name__)(**model.get_params())
    if isinstance(model, BernoulliNB) and np.ndim(model.alpha):  # scikit-learn's refuses an alpha per feature
        expected = refits(model, np.ones(len(Y)))
    else:
        expected = cross_val_predict(peer, X, Y, cv=LeaveOneOut(), method="predict_proba")
    found = model.leave_one_out(form(X), Y)
    assert_allclose(np.exp(found.log_posterior), expected, rtol=1e-9)
    assert found.error == np.mean(model.classes_[expected.argmax(axis=1)] != Y)


def refits(model, weight):
    found = []
    for i in range(len(Y)):
        rest = weight.copy()
        rest[i] -= min(1.0, rest[i])
        counts = model.count(X, Y, rest, schema=model.counts_.schema).declare(model.classes_)
        found.append(type(model).from_counts(counts, **model.get_params()).predict_proba(X[[i]])[0])
    return np.array(found)


@pytest.mark.parametrize("make", MODELS, ids=["multinomial", "bernoulli", "complement", "norm"])
def test_a_row_of_integer_weight_loses_one_of_its_copies(make):
    weight = np.tile([1.0, 2.0, 0.5], 7)[: len(Y)]
    model = make(alpha=0.5).fit(X, Y, sample_weight=weight)
    found = model.leave_one_out(X, Y, weight).log_posterior
    assert_allclose(np.exp(found), refits(model, weight), rtol=1e-9)


@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB])
def test_without_smoothing_a_row_that_no_other_row_makes_possible_gets_the_prior(make):
    table, y = np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]]), np.array(["a", "b", "b", "b"])
    model = make(alpha=0).fit(table, y)
    found = np.exp(model.leave_one_out(table, y).log_posterior)
    assert_allclose(found[0], [0.0, 1.0], atol=1e-12)  # feature 0 is in no other row, and class a in none
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


@pytest.mark.filterwarnings("error")
def test_without_smoothing_a_word_that_no_other_class_has_is_certain():
    table, y = np.array([[1, 0, 2, 0], [0, 3, 0, 1], [1, 1, 1, 0], [0, 2, 0, 1]]), np.array(["a", "b", "a", "b"])
    model = ComplementNB(alpha=0).fit(table, y)
    found = np.exp(model.leave_one_out(table, y).log_posterior)
    assert_allclose(found[0], [1.0, 0.0], atol=1e-12)  # feature 2 is in class a alone, also without the row
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-12)


def test_what_does_not_fit_is_refused():
    model = MultinomialNB().fit(X, Y)
    with pytest.raises(TableError, match="pass y, or target"):
        model.leave_one_out(X)
    with pytest.raises(TableError, match="y holds the class 'z'"):
        model.leave_one_out(X, np.where(Y == "c", "z", Y))


@pytest.mark.parametrize("make", [MultinomialNB, ComplementNB])
def test_without_smoothing_a_class_whose_only_row_is_left_out_has_even_weights(make):
    # Without its row class a has no count: each of the three features is as likely, (1/3)² for two words.
    table, y = np.array([[1, 1, 0], [1, 2, 1], [2, 1, 1]]), np.array(["a", "b", "b"])
    model = make(alpha=0, fit_prior=False).fit(table, y)
    log_odds = np.diff(model.leave_one_out(table, y).log_posterior[0])[0]
    others = np.array([3, 3, 2]) / 8  # of class b; what is not a, for the complement
    expected = np.log(others[:2]).sum() - 2 * np.log(1 / 3)
    assert_allclose(log_odds, expected, rtol=1e-9)


def test_without_smoothing_what_a_bernoulli_class_always_has_rules_out_rows_that_lack_it():
    table = np.array([[1, 1, 0], [1, 0, 1], [1, 0, 0], [0, 1, 1], [0, 0, 1], [0, 1, 0]])
    y = np.array(["a", "a", "a", "b", "b", "b"])
    model = BernoulliNB(alpha=0).fit(table, y)
    found = np.exp(model.leave_one_out(table, y).log_posterior)
    for i in range(len(y)):
        kept = np.arange(len(y)) != i
        likelihood = []
        for label in ("a", "b"):
            rows = table[kept & (y == label)]
            share = np.where(table[i] == 1, rows.mean(axis=0), 1 - rows.mean(axis=0))
            likelihood.append(share.prod() * (y[kept] == label).mean())
        if sum(likelihood) > 0:
            assert_allclose(found[i], np.array(likelihood) / sum(likelihood), rtol=1e-9)
    assert_allclose(found[[2, 3]], [[1.0, 0.0], [0.0, 1.0]])
