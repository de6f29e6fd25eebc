"""Joint moments add, subtract, and keep the digits of what stays."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.counts.joint_moments import JointMoments
from bayeskit.errors import MergeError


def moments(x, groups=None, n_groups=1, weight=None):
    x = np.asarray(x, dtype=float)
    return JointMoments.of(x, np.zeros(len(x), dtype=np.uint8) if groups is None else groups, n_groups, weight)


@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(0, 30), st.sampled_from([0.0, 1e9]))
@settings(max_examples=40, deadline=None)
def test_parts_add_up_to_the_whole_and_can_be_taken_away(seed, n_a, n_b, offset):
    rng = np.random.default_rng(seed)
    x = offset + rng.normal(size=(n_a + n_b, 3))
    groups = rng.integers(0, 2, len(x)).astype(np.uint8)
    a, b = moments(x[:n_a], groups[:n_a], 2), moments(x[n_a:], groups[n_a:], 2)
    whole = moments(x, groups, 2)
    for found, expected in ((a + b, whole), (whole - b, a), (b + a, whole)):
        assert_array_equal(found.weight, expected.weight)
        assert_allclose(found.mean, expected.mean, rtol=1e-15, atol=1e-15)
        assert_allclose(found.scatter, expected.scatter, rtol=1e-13, atol=1e-13)


def test_rows_a_billion_times_as_large_leave_no_trace():
    rng = np.random.default_rng(0)
    small, large = rng.normal(size=(50, 4)), 1e9 * rng.normal(size=(60, 4)) + 1e9
    rest = moments(np.concatenate([small, large])) - moments(large)
    expected = moments(small)
    assert_allclose(rest.mean, expected.mean, rtol=1e-12)
    assert_allclose(rest.scatter, expected.scatter, rtol=1e-10)


def test_a_column_that_became_constant_has_no_scatter_at_all():
    rng = np.random.default_rng(1)
    same = np.column_stack([np.full(20, 0.1), rng.normal(size=20)])
    other = rng.normal(size=(30, 2)) * [1e6, 1.0]
    rest = moments(np.concatenate([same, other])) - moments(other)
    assert rest.mean[0, 0] == 0.1
    assert_array_equal(rest.scatter[0, 0], 0.0)


def test_a_whole_weight_is_a_repetition():
    rng = np.random.default_rng(2)
    x, times = rng.normal(size=(20, 3)), rng.integers(1, 5, 20)
    weighted, repeated = moments(x, weight=times.astype(float)), moments(np.repeat(x, times, axis=0))
    assert_allclose(weighted.scatter, repeated.scatter, rtol=1e-14)
    assert_allclose(weighted.mean, repeated.mean, rtol=1e-15)


def test_pooled_is_one_group():
    rng = np.random.default_rng(3)
    x, groups = rng.normal(size=(40, 3)), np.arange(40) % 5
    pooled = moments(x, groups.astype(np.uint8), 5).pooled()
    assert_allclose(pooled.scatter, moments(x).scatter, rtol=1e-14)


def test_rows_that_were_never_counted_cannot_be_taken_away():
    with pytest.raises(MergeError, match="a weight would become negative"):
        moments([[1.0]]) - moments([[1.0], [2.0]])
    with pytest.raises(MergeError, match="a variance would become negative"):
        moments([[1.0], [2.0], [3.0]]) - moments([[10.0], [-20.0]])


@pytest.mark.parametrize(("scale", "word"), [(1e200, "large"), (1e-200, "small")])
def test_squares_out_of_range_name_the_column(scale, word):
    with pytest.raises(OverflowError) as caught:
        moments(np.array([[1.0, 1.0], [2.0, 2.0]]) * [1.0, scale])
    assert caught.value.args == (1, word)


def test_rows_without_columns_are_counted():
    none = moments(np.empty((5, 0)), np.array([0, 1, 1, 1, 0], dtype=np.uint8), 2)
    assert_array_equal(none.weight, [2.0, 3.0])
    assert none.mean.shape == (2, 0)
    assert none.scatter.shape == (2, 0, 0)


def test_moments_of_another_shape_are_refused_from_both_sides():
    narrow, wide = moments(np.ones((4, 2))), moments(np.ones((4, 3)))
    for one, other in ((narrow, wide), (wide, narrow)):
        with pytest.raises(MergeError, match="do not fit"):
            one + other
