"""The kernel of least risk decides as its plain twin does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import least_risk
from kernels import twins

ROUNDING = 1e-14


@st.composite
def problems(draw):
    """Posteriors in eighths and whole losses, so that sums are exact and ties are real."""
    n_rows, n_classes, n_actions = draw(st.integers(0, 40)), draw(st.integers(1, 6)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    posterior = rng.multinomial(8, np.full(n_classes, 1 / n_classes), size=n_rows) / 8
    return posterior, rng.integers(-4, 5, (n_classes, n_actions)).astype(float)


def decide(posterior, order, loss, n_threads=1, tolerance=1e-8):
    action, risk = np.empty(len(posterior), dtype=np.int64), np.empty(len(posterior))
    bad = least_risk(posterior, order, loss, tolerance, action, risk, n_threads)
    return action, risk, bad


@given(problems())
def test_kernel_decides_as_the_twin(problem):
    posterior, loss = problem
    action, risk, bad = decide(posterior, loss - 1, loss)
    expected_action, expected_risk = twins.least_risk(posterior, loss - 1, loss)
    assert bad == -1
    assert_array_equal(action, expected_action)
    assert_allclose(risk, expected_risk, atol=ROUNDING)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_any_number_of_threads_gives_the_same_bits(n_threads):
    rng = np.random.default_rng(1)
    posterior, loss = rng.dirichlet(np.ones(5), 50_000), rng.normal(size=(5, 7))
    for one, many in zip(decide(posterior, loss, loss), decide(posterior, loss, loss, n_threads), strict=True):
        assert_array_equal(one, many)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -0.25, 0.5])
def test_the_first_row_that_is_no_distribution_is_found(wrong):
    posterior = np.full((40_000, 2), 0.5)
    posterior[[17_000, 33_333], 0] = wrong
    posterior[[17_000, 33_333], 1] = 1.25 if wrong == -0.25 else 0.25
    assert decide(posterior, np.eye(2), np.eye(2), n_threads=2)[2] == 17_000


def test_risks_may_be_left_out():
    action = np.empty(1, dtype=np.int64)
    assert least_risk(np.array([[0.2, 0.8]]), -np.eye(2), np.eye(2), 1e-8, action, None, 1) == -1
    assert action[0] == 1
