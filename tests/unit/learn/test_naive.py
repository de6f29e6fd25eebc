"""Beliefs of naive Bayes, by hand: unseen slots, class weights, and what each score means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from bayeskit import NaiveBayes
from bayeskit.errors import BayeskitError, ImpossibleEvidenceError, UnseenValueError
from bayeskit.estimate.class_weight import class_factors

TABLE, Y = {"u": list("aabbc"), "v": list("xyxyx")}, [0, 0, 0, 1, 1]


def test_unseen_smooth_keeps_one_more_slot_in_every_denominator():
    model = NaiveBayes(unseen="smooth", prior="uniform").fit(TABLE, Y)
    # class 0: counts a 2, b 1, c 0 of 3 rows; S + 1 = 4 slots
    joint = np.exp(model.predict_joint_log_proba({"u": ["a", "?"], "v": [None, None]}))
    assert_allclose(joint[:, 0], [0.5 * 3 / 7, 0.5 * 1 / 7], rtol=1e-13)
    assert_allclose(joint[:, 1], [0.5 * 1 / 6, 0.5 * 1 / 6], rtol=1e-13)


def test_unseen_error_names_column_row_and_what_was_seen():
    model = NaiveBayes(unseen="error").fit(TABLE, Y)
    with pytest.raises(
        UnseenValueError, match="feature 'u', row 1: value 'z' was not seen in fit; seen: 'a', 'b', 'c'"
    ):
        model.predict({"u": ["a", "z"], "v": ["x", "x"]})
    model = NaiveBayes(unseen="error", kinds="categorical").fit(np.array([[1], [2]]), [0, 1])
    with pytest.raises(UnseenValueError, match="feature 'x0', row 0: value 7 was not seen"):
        model.predict(np.array([[7]]))
    assert model.predict(np.array([[np.nan]])) == [0]


def test_without_smoothing_an_impossible_row_is_named_or_gets_the_prior():
    table = {"u": list("aab"), "v": list("xxy")}
    model = NaiveBayes(smoothing=0).fit(table, [0, 0, 1])
    row = {"u": ["a", "a"], "v": ["x", "y"]}
    with pytest.raises(ImpossibleEvidenceError, match="row 1: x has probability 0 under every class"):
        model.predict(row)
    assert model.score_samples(row)[1] == -np.inf
    lenient = NaiveBayes(smoothing=0, impossible="prior").fit(table, [0, 0, 1])
    assert_allclose(lenient.predict_proba(row)[1], [2 / 3, 1 / 3], rtol=1e-14)


def test_densities_are_scipys():
    x, y = np.array([[1.0, 3], [2.0, 0], [4.0, 1], [8.0, 2]]), [0, 0, 1, 1]
    model = NaiveBayes(kinds={1: "poisson"}, smoothing=0, prior="uniform", variance="ml").fit(x, y)
    at = np.array([[3.0, 2]])
    expected = [
        np.log(0.5) + stats.norm(1.5, 0.5).logpdf(3.0) + stats.poisson(1.5).logpmf(2),
        np.log(0.5) + stats.norm(6.0, 2.0).logpdf(3.0) + stats.poisson(1.5).logpmf(2),
    ]
    assert_allclose(model.predict_joint_log_proba(at)[0], expected, rtol=1e-13)
    assert_allclose(model.score_samples(at), np.logaddexp(*expected), rtol=1e-13)


def test_class_factors():
    n, classes = np.array([1, 3]), np.array(["a", "b"], dtype=object)
    assert_allclose(class_factors(n, classes, None), [1, 1])
    assert_allclose(class_factors(n, classes, "balanced"), [2, 2 / 3])
    assert_allclose(class_factors(n, classes, {"b": 5}), [1, 5])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ("even", "class_weight must be 'balanced'"),
        ({"c": 1}, "class_weight names the class 'c', which is not a class"),
        ({"a": -1}, "class weights must be finite, not negative and not all zero"),
        ({"a": 0, "b": 0}, "class weights must be finite, not negative and not all zero"),
    ],
)
def test_bad_class_weights_are_refused(weight, message):
    with pytest.raises(BayeskitError, match=message):
        class_factors(np.array([1, 3]), np.array(["a", "b"], dtype=object), weight)


def test_parameters_are_counted():
    model = NaiveBayes(kinds={"n": "poisson", "b": "bernoulli"}).fit(
        {"u": list("abc"), "h": [1.0, 2.0, 3.0], "n": [0, 1, 2], "b": [0, 1, 1]}, [0, 1, 1]
    )
    # 2 classes × (2 + 2 + 1 + 1) and one free prior
    assert model.n_parameters_ == 13
    assert NaiveBayes(prior="uniform").fit({"u": list("ab")}, [0, 1]).n_parameters_ == 2
    assert model.n_joint_cells_ == 2 * 3 * 2


def test_counts_of_one_row_are_enough_to_learn_from():
    counts = NaiveBayes().fit({"a": ["x"]}, ["yes"]).counts_
    model = NaiveBayes.from_counts(counts)
    assert model.predict({"a": ["x", None]}).tolist() == ["yes", "yes"]
