"""The small network: its gradient is the derivative of its objective, and it learns what one unit cannot."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from bayeskit.concept import SigmoidNetwork
from bayeskit.errors import BayeskitError

RNG = np.random.default_rng(0)
CORNERS, ODD = np.array([[0.0, 0], [0, 1], [1, 0], [1, 1]]), np.array([0, 1, 1, 0])


@pytest.mark.parametrize("rule", ["cross-entropy", "squared-error"])
def test_the_gradient_is_that_of_differences(rule):
    net = SigmoidNetwork(3, rule=rule)
    x, d = RNG.normal(size=(7, 2)), RNG.integers(0, 2, 7).astype(float)
    weights = RNG.normal(size=3 * 4 + 1)
    by_differences = approx_fprime(weights, lambda w: net.objective(w, x, d)[0], 1e-7)
    assert_allclose(net.objective(weights, x, d)[1], by_differences, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("rule", ["cross-entropy", "squared-error"])
def test_it_learns_exclusive_or_which_no_single_unit_can(rule):
    net = SigmoidNetwork(4, rule=rule, random_state=2).fit(CORNERS, ODD)
    assert_array_equal(net.predict(CORNERS), ODD)
    assert_allclose(net.predict_proba(CORNERS).sum(axis=1), 1.0, rtol=1e-12)


def test_each_plain_step_is_the_gradient_times_the_rate():
    net = SigmoidNetwork(2, solver="gradient", learning_rate=0.05, max_iter=3).fit(CORNERS, ODD, record=True)
    steps = net.history_.steps
    for before, after in pairwise(steps):
        gradient = net.objective(before.parameters, CORNERS, ODD)[1]
        assert_allclose(after.parameters, before.parameters + 0.05 * gradient, rtol=1e-12)
        assert after.gain > 0


def test_a_row_that_is_badly_wrong_pulls_less_under_the_squared_error():
    # One row far on the wrong side: the gradient of the constant is d − h, or h (1 − h) (d − h).
    weights = np.array([0.0, 0.0, 0.0, -6.0])
    x, d = np.array([[0.0]]), np.array([1.0])
    entropy = SigmoidNetwork(1).objective(weights, x, d)[1][-1]
    squared = SigmoidNetwork(1, rule="squared-error").objective(weights, x, d)[1][-1]
    h = 1 / (1 + np.exp(6.0))
    assert entropy == pytest.approx(1 - h, rel=1e-12)
    assert squared == pytest.approx(h * (1 - h) * (1 - h), rel=1e-12)


def test_what_cannot_be_learned_is_refused_before_it_is_tried():
    with pytest.raises(BayeskitError, match="n_hidden=0"):
        SigmoidNetwork(0)
    with pytest.raises(BayeskitError, match="got 'hinge'"):
        SigmoidNetwork(rule="hinge")
    with pytest.raises(BayeskitError, match="two classes"):
        SigmoidNetwork().fit(CORNERS, [0, 1, 2, 0])
    with pytest.raises(BayeskitError, match="finite numbers"):
        SigmoidNetwork().fit([[np.nan]], [0])
    with pytest.raises(BayeskitError, match="not fitted"):
        SigmoidNetwork().predict(CORNERS)
