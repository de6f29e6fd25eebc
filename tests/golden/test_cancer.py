"""The cancer test of Mitchell, Machine Learning, section 6.2, and the orientation of a loss."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.decide.loss import read_loss, with_reject
from bayeskit.decide.posterior import log_posterior
from bayeskit.decide.regions import threshold
from bayeskit.decide.risk import bayes_action, expected_loss, risk

CLASSES = ("cancer", "no cancer")
JOINT = np.array([[0.008 * 0.98, 0.992 * 0.03]])  # P(+, cancer), P(+, no cancer)
POSTERIOR = np.exp(log_posterior(np.log(JOINT)))


def test_the_joints_and_the_posterior_are_those_of_the_book():
    assert_allclose(JOINT, [[0.00784, 0.02976]], rtol=1e-12)
    assert_allclose(POSTERIOR[0, 0], 0.20851, atol=5e-6)


def test_under_0_1_loss_a_positive_test_means_no_cancer():
    assert_array_equal(bayes_action(POSTERIOR, None), [1])


@pytest.mark.parametrize(("ratio", "decision"), [(3.79, "no cancer"), (3.80, "cancer")])
def test_the_decision_turns_where_a_miss_costs_3_796_false_alarms(ratio, decision):
    # Treat when ratio · P(cancer) > P(no cancer): ratio > .02976 / .00784 = 3.79592.
    loss = read_loss({"cancer": {"cancer": 0, "no cancer": ratio}, "no cancer": {"cancer": 1, "no cancer": 0}}, CLASSES)
    assert loss.actions[bayes_action(POSTERIOR, loss)[0]] == decision


def test_the_threshold_at_that_ratio_is_the_posterior_itself():
    ratio = 0.02976 / 0.00784
    loss = read_loss([[0, ratio], [1, 0]], CLASSES)
    assert_allclose(threshold(loss), POSTERIOR[0, 1], rtol=1e-12)


def test_rows_are_the_truth_and_columns_the_action():
    # Sending an ill patient home costs 50, treating a healthy one 1: with 10 % ill, treat. Read the other way round,
    # the matrix would send every patient home.
    posterior = np.array([[0.9, 0.1]])  # P(healthy), P(ill)
    loss = np.array([[0.0, 1.0], [50.0, 0.0]])  # columns: home, treat
    assert_allclose(risk(posterior, loss), [[5.0, 0.9]], rtol=1e-15)
    assert_array_equal(bayes_action(posterior, loss), [1])
    assert_array_equal(bayes_action(posterior, loss.T), [0])
    assert_allclose(expected_loss(posterior, loss), [0.9], rtol=1e-15)


def test_chow_rejects_when_no_class_is_sure_enough():
    # Chow 1970: with 0-1 loss and reject cost t, reject exactly when max P < 1 − t.
    posterior = np.array([[0.79, 0.21], [0.81, 0.19], [0.1, 0.9], [0.5, 0.5]])
    loss = with_reject(read_loss(None, CLASSES), 0.2)
    assert [loss.actions[a] for a in bayes_action(posterior, loss)] == ["reject", "cancer", "no cancer", "reject"]
