"""Means, variances and rates, by hand; variances that are safe to divide by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.counts.moments import Moments
from bayeskit.estimate.gaussian import VARIANCE_FLOOR, gaussian, poisson, within_variance

Y = np.array([0, 0, 0, 1, 1], dtype=np.uint8)
X = np.array([1.0, 2.0, 6.0, 10.0, 12.0])


def moments(x=X, y=Y, n_classes=2):
    return Moments.of([np.asarray(x, dtype=float)], y, n_classes)


def test_ml_divides_by_n_and_unbiased_by_n_minus_one():
    mean, ml = gaussian(moments(), "ml")
    _, unbiased = gaussian(moments(), "unbiased")
    assert_allclose(mean, [[3, 11]], rtol=1e-15)
    assert_allclose(ml, [[14 / 3, 2 / 2]], rtol=1e-15)
    assert_allclose(unbiased, [[14 / 2, 2 / 1]], rtol=1e-15)


WITHIN = (14 + 2) / (5 - 2)  # the scatter of both classes, divided by the rows but one of each class


def test_posterior_adds_rows_with_the_variance_within_classes():
    _, var = gaussian(moments(), "posterior", 4.0)
    assert_allclose(var, [[(14 + 4 * WITHIN) / (3 + 4), (2 + 4 * WITHIN) / (2 + 4)]], rtol=1e-14)
    assert_allclose(gaussian(moments(), "posterior", 0.0)[1], gaussian(moments(), "ml")[1], rtol=0)


def test_posterior_is_the_mean_of_the_scaled_inverse_chi_squared_prior_in_normal_form():
    # Gelman et al., Bayesian Data Analysis (3rd ed.), section 2.6: with a known mean and the prior Inv-χ²(ν, σ²) the
    # posterior is Inv-χ²(ν + n, (ν σ² + n v) / (ν + n)); its scale is what is taken.
    var = gaussian(moments(), "posterior", 3.0)[1]
    n, v = 3, 14 / 3
    assert_allclose(var[0, 0], (3.0 * WITHIN + n * v) / (3.0 + n), rtol=1e-14)
    given = gaussian(moments(), "posterior", 3.0, np.array([[7.0]]))[1]
    assert_allclose(given[0, 0], (3.0 * 7.0 + n * v) / (3.0 + n), rtol=1e-14)


def test_the_variance_within_classes_is_that_of_the_column_where_no_class_has_two_values():
    assert_allclose(within_variance(moments([1, 1, 1, 3, 3])), [[np.var([1, 1, 1, 3, 3])]], rtol=1e-15)
    # Classes that do not differ: the divisor n − K would give 4/3.
    assert_allclose(within_variance(moments([0, 2, 0, 2], np.array([0, 0, 1, 1], dtype=np.uint8))), [[1.0]], rtol=1e-15)


def test_a_class_of_one_row_is_no_spike_by_default():
    x, y = np.array([1.0, 4.0, 7.0, 9.0]), np.array([0, 1, 1, 1], dtype=np.uint8)
    assert gaussian(moments(x, y))[1][0, 0] > 0.8 * x[1:].var()


def test_a_variance_is_no_less_than_a_share_of_its_own_column():
    x = np.array([5.0, 5.0, 5.0, 7.0, 9.0])
    _, var = gaussian(moments(x), "ml")
    assert_allclose(var[0, 0], VARIANCE_FLOOR * x.var(), rtol=1e-12)
    assert_allclose(var[0, 1], 1.0, rtol=1e-12)


def test_one_row_in_a_class_takes_the_floor_under_both_rules():
    x, y = np.array([1.0, 4.0, 7.0]), np.array([0, 1, 1], dtype=np.uint8)
    for rule in ("ml", "unbiased"):
        assert_allclose(gaussian(moments(x, y), rule)[1][0, 0], VARIANCE_FLOOR * x.var(), rtol=1e-12)


def test_a_class_without_a_value_takes_the_mean_and_variance_of_the_column():
    mean, var = gaussian(moments(n_classes=3))
    assert_allclose([mean[0, 2], var[0, 2]], [X.mean(), X.var()], rtol=1e-14)


@pytest.mark.parametrize("value", [0.0, 0.1, -3e5])
def test_a_column_of_one_value_has_the_same_variance_in_every_class(value):
    mean, var = gaussian(moments(np.full(5, value)))
    assert_array_equal(mean, value)
    assert var[0, 0] == var[0, 1] > 0


def test_pooled_moments_are_those_of_all_rows():
    whole = moments().pooled()
    assert_allclose([whole.weight[0, 0], whole.mean[0, 0]], [5, X.mean()], rtol=1e-14)
    assert_allclose(whole.scatter[0, 0], X.var() * 5, rtol=1e-14)


def test_a_poisson_rate_is_the_mean_with_lambda_rows_at_the_mean_of_the_column():
    counts = moments([0, 0, 0, 2, 4])
    assert_allclose(poisson(counts, 0.0), [[0, 3]], rtol=1e-15)
    assert_allclose(poisson(counts, 2.0), [[2 * 1.2 / 5, (6 + 2 * 1.2) / 4]], rtol=1e-14)


def test_a_column_without_any_event_does_not_rule_one_out_once_smoothed():
    counts = moments([0, 0, 0, 0, 0])
    assert_array_equal(poisson(counts, 0.0), [[0, 0]])
    assert_allclose(poisson(counts, 1.0), [[(1 / 6) / 4, (1 / 6) / 3]], rtol=1e-14)
