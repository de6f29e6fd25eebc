"""The kernel of kernel densities sums what its plain twin sums, and leaves out nothing that shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from bayeskit._kernels import kernel_density
from kernels import twins

ROUNDING = 1e-13

numbers = st.floats(-50, 50, width=32)


@st.composite
def densities(draw):
    values = np.unique(draw(st.lists(numbers, min_size=1, max_size=40)))
    n_classes = draw(st.integers(1, 3))
    counts = np.array(
        draw(
            st.lists(
                st.sampled_from([0.0, 0.0, 1.0, 2.5, 1e6]),
                min_size=len(values) * n_classes,
                max_size=len(values) * n_classes,
            )
        )
    ).reshape(-1, n_classes)
    counts[0, counts.sum(axis=0) == 0] = 1.0
    widths = draw(st.lists(st.sampled_from([1e-4, 0.3, 2.0, 100.0]), min_size=n_classes, max_size=n_classes))
    column = np.array(draw(st.lists(numbers | st.sampled_from([np.nan, 1e4, -1e7]), min_size=1, max_size=20)))
    return column, values, counts, np.array(widths)


@given(densities())
@settings(max_examples=150, deadline=None)
def test_log_densities_are_those_of_the_twin(case):
    assert_allclose(kernel_density(*case, 1), twins.kernel_density(*case), rtol=ROUNDING, atol=ROUNDING)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1"])
def test_columns_of_any_dtype_and_layout_are_read(dtype):
    column = np.arange(40).astype(dtype)[::2]
    given_to = (np.array([3.0, 20.0]), np.array([[1.0], [4.0]]), np.array([2.0]))
    assert_allclose(kernel_density(column, *given_to, 1), twins.kernel_density(column, *given_to), rtol=ROUNDING)


def test_it_is_scipys_gaussian_kde_and_threads_change_nothing():
    rng = np.random.default_rng(0)
    values, x = np.sort(rng.gamma(2.0, size=3000)), rng.gamma(2.0, size=2000)
    h = 0.05
    found = kernel_density(x, values, np.ones((3000, 1)), np.array([h]), 1)
    peer = stats.gaussian_kde(values, bw_method=h / values.std(ddof=1))
    assert_allclose(found[:, 0], peer.logpdf(x), rtol=1e-11)
    assert_array_equal(found, kernel_density(x, values, np.ones((3000, 1)), np.array([h]), 2), strict=True)


def test_far_out_the_log_density_is_that_of_the_nearest_kernel():
    given_to = (np.array([0.0, 1.0]), np.array([[1.0], [3.0]]), np.array([1.0]))
    found = kernel_density(np.array([1e6, -1e200, 1e200]), *given_to, 1)[:, 0]
    assert_allclose(found[0], np.log(0.75) + stats.norm.logpdf(1e6, 1.0), rtol=1e-14)
    assert_array_equal(found[1:], -np.inf)


def test_parameters_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="the counts do not fit the values and classes"):
        kernel_density(np.zeros(1), np.zeros(2), np.ones((1, 1)), np.ones(1), 1)
    with pytest.raises(ValueError, match="a class has no value, or no bandwidth above zero"):
        kernel_density(np.zeros(1), np.zeros(1), np.zeros((1, 1)), np.ones(1), 1)
    with pytest.raises(ValueError, match="a class has no value, or no bandwidth above zero"):
        kernel_density(np.zeros(1), np.zeros(1), np.ones((1, 1)), np.zeros(1), 1)
