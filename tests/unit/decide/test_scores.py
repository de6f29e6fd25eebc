"""Scores are the textbooks' sums, and they add."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import brier_score_loss, confusion_matrix, log_loss

from bayeskit.decide.loss import read_loss, with_reject
from bayeskit.decide.scores import Scores
from bayeskit.errors import BayeskitError

EXACT = 1e-12
RNG = np.random.default_rng(4)
P = RNG.dirichlet([1, 2, 1], 300)
Y = np.array([RNG.choice(3, p=p) for p in P])


def scores(loss=None):
    return Scores.of(P, Y, ["a", "b", "c"], loss)


def test_scores_are_those_of_scikit_learn():
    found = scores()
    assert_allclose(found.error.value, (P.argmax(axis=1) != Y).mean(), rtol=EXACT)
    assert_allclose(found.log_loss.value, log_loss(Y, P), rtol=EXACT)
    assert_array_equal(found.confusion, confusion_matrix(Y, P.argmax(axis=1)))
    # Of two classes scikit-learn takes one column, which is half of the sum over both.
    two = P[:, :2] / P[:, :2].sum(axis=1, keepdims=True)
    kept = Y < 2
    binary = Scores.of(two[kept], Y[kept], ["a", "b"])
    assert_allclose(binary.brier.value, 2 * brier_score_loss(Y[kept], two[kept, 1]), rtol=EXACT)


def test_the_standard_error_is_that_of_a_mean():
    surprise = -np.log(P[np.arange(300), Y])
    assert_allclose(scores().log_loss.se, surprise.std(ddof=1) / np.sqrt(300), rtol=EXACT)


def test_the_calibration_error_is_the_gap_of_each_tenth_weighted_by_its_rows():
    confidence, right = P.max(axis=1), P.argmax(axis=1) == Y
    expected = sum(
        abs(confidence[here].sum() - right[here].sum())
        for tenth in range(10)
        if (here := np.minimum((confidence * 10).astype(int), 9) == tenth).any()
    )
    assert_allclose(scores().calibration_error.value, expected / 300, rtol=EXACT)


def test_scores_of_two_halves_add_up_to_scores_of_the_whole():
    parts = Scores.of(P[:120], Y[:120], ["a", "b", "c"]) + Scores.of(P[120:], Y[120:], ["a", "b", "c"])
    whole = scores()
    assert parts.n_rows == whole.n_rows
    assert_allclose(parts.sums, whole.sums, rtol=EXACT)
    assert_allclose(parts.bins, whole.bins, rtol=EXACT)
    assert_array_equal(parts.decided, whole.decided)


def test_the_mean_loss_is_what_the_decisions_of_least_risk_cost():
    matrix = np.array([[0, 1, 5], [2, 0, 1], [9, 1, 0]], dtype=float)
    found = scores(read_loss(matrix, ["a", "b", "c"]))
    action = (P @ matrix).argmin(axis=1)
    assert_allclose(found.mean_loss.value, matrix[Y, action].mean(), rtol=EXACT)
    rejecting = scores(with_reject(read_loss(matrix, ["a", "b", "c"]), 0.3))
    assert rejecting.actions == ("a", "b", "c", "reject")
    assert rejecting.decided.shape == (3, 4)


def test_a_class_said_to_be_impossible_costs_a_finite_log_loss():
    found = Scores.of(np.array([[0.0, 1.0], [0.0, 1.0]]), np.array([0, 1]), ["a", "b"])
    assert_allclose(found.log_loss.value, 26 * np.log(2), rtol=EXACT)


def test_a_posterior_of_another_shape_is_refused():
    with pytest.raises(BayeskitError, match=r"must have shape \(300, 2\)"):
        Scores.of(P, Y, ["a", "b"])


def test_a_bin_of_calibration_sums_rows_confidence_hits_and_squared_differences():
    posterior = np.array([[0.92, 0.08], [0.96, 0.04], [0.55, 0.45]])
    scores = Scores.of(posterior, np.array([0, 1, 0]), ["a", "b"])
    used = scores.bins[scores.bins[:, 0] > 0]
    assert_allclose(used, [[1, 0.55, 1, 0.45**2], [2, 1.88, 1, 0.08**2 + 0.96**2]], rtol=1e-12)


def test_right_decisions_are_no_errors():
    scores = Scores.of(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1]), ["a", "b"])
    assert scores.most_frequent_errors() == []
