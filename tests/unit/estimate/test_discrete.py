"""Each formula from counts to probabilities, by hand."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.errors import BayeskitError
from bayeskit.estimate.discrete import dirichlet, laplace, m_estimate, maximum_likelihood
from bayeskit.estimate.prior import class_prior

counts = st.lists(st.integers(0, 50), min_size=1, max_size=6)


@given(counts.filter(any))
def test_maximum_likelihood_is_relative_frequency(n):
    assert_allclose(maximum_likelihood(n), [float(Fraction(v, sum(n))) for v in n], rtol=1e-15)


@given(counts, st.sampled_from([Fraction(1, 2), Fraction(1), Fraction(3)]))
def test_laplace_adds_lambda_to_each_count(n, smoothing):
    expected = [float((v + smoothing) / (sum(n) + len(n) * smoothing)) for v in n]
    assert_allclose(laplace(n, float(smoothing)), expected, rtol=1e-14)


def test_m_estimate_is_mitchells_formula():
    # (n_c + m p) / (n + m) with n_c = 3, n = 9, p = 1/3, m = 6
    assert_allclose(m_estimate([3, 6], [1 / 3, 2 / 3], m=6), [(3 + 2) / 15, (6 + 4) / 15], rtol=1e-15)
    assert_array_equal(m_estimate([1, 3], [0.5, 0.5], m=0), [0.25, 0.75])


@given(counts.filter(any), st.integers(1, 9))
def test_an_m_estimate_with_an_even_prior_is_laplace(n, m):
    even = np.full(len(n), 1 / len(n))
    assert_allclose(m_estimate(n, even, m), laplace(n, m / len(n)), rtol=1e-13)


def test_pseudo_counts_go_with_the_values():
    assert_allclose(dirichlet([[3, 0], [0, 4]], [1.0, 2.0]), [[4 / 6, 1 / 7], [2 / 6, 6 / 7]], rtol=1e-15)


def test_nothing_known_is_shared_evenly():
    assert_array_equal(maximum_likelihood([0, 0, 0, 0]), [0.25] * 4)
    assert_array_equal(maximum_likelihood([[0, 1], [0, 1]]), [[0.5, 0.5], [0.5, 0.5]])


@pytest.mark.parametrize("alpha", [-1.0, [1.0, -0.5], float("nan")])
def test_negative_pseudo_counts_are_refused(alpha):
    with pytest.raises(BayeskitError, match="pseudo-counts must not be negative"):
        dirichlet([1, 2], alpha)


@pytest.mark.parametrize(
    ("prior", "m", "message"),
    [
        ([0.5, 0.6], 1, "must be probabilities that sum to 1; they sum to 1.1"),
        ([0.5, 0.5], -1, "m must not be negative"),
    ],
)
def test_a_bad_m_estimate_is_refused(prior, m, message):
    with pytest.raises(BayeskitError, match=message):
        m_estimate([1, 2], prior, m)


CLASSES = np.array(["no", "yes"], dtype=object)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ("smoothed", [4 / 12, 8 / 12]),  # (|D_c| + λ) / (N + Kλ) with λ = 2, N = 8
        ("data", [2 / 8, 6 / 8]),
        ("uniform", [0.5, 0.5]),
        ([0.9, 0.1], [0.9, 0.1]),
        ({"yes": 0.3, "no": 0.7}, [0.7, 0.3]),
    ],
)
def test_class_priors(prior, expected):
    assert_allclose(class_prior(np.array([2, 6]), prior, 2.0, CLASSES), expected, rtol=1e-15)


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1.0], "Number of priors must match number of classes: 1 priors for the classes"),
        ([-0.5, 1.5], "Priors must be non-negative"),
        ([0.5, 0.6], "The sum of the priors should be 1; got 1.1"),
        ({"yes": 1.0}, "prior must name each class once; the classes are .*, the prior names"),
    ],
)
def test_a_bad_prior_is_refused(prior, message):
    with pytest.raises(BayeskitError, match=message):
        class_prior(np.array([2, 6]), prior, 1.0, CLASSES)
