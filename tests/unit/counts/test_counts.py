"""Value counts and moments: what they hold, and that they add and subtract."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.counts.moments import Moments
from bayeskit.counts.values import ValueCounts, ragged
from bayeskit.errors import MergeError

Y = np.array([0, 1, 1, 0], dtype=np.uint8)
A = np.array([0, 1, 1, 255], dtype=np.uint8)  # the last is missing
B = np.array([2, 0, 254, 2], dtype=np.uint8)  # the third is unseen


def test_cells_that_are_no_value_are_left_out():
    counts = ValueCounts.of([A, B], [2, 3], Y, 2)
    assert_array_equal(counts.n_class, [2, 2])
    assert_array_equal(counts.n_value, [[1, 0], [0, 2], [0, 1], [0, 0], [2, 0]])
    assert_array_equal(counts.n_known(), [[1, 2], [2, 1]])


def test_a_feature_without_values_owns_no_row():
    counts = ValueCounts.of([A, A, A], [2, 0, 2], Y, 2)
    assert_array_equal(counts.offsets, [0, 2, 2, 4])
    assert_array_equal(counts.n_known(), [[1, 2], [0, 0], [1, 2]])


def test_no_feature_at_all_is_counted_too():
    counts = ValueCounts.of([], [], Y, 2)
    assert counts.n_value.shape == (0, 2)
    assert_array_equal(counts.n_class, [2, 2])
    assert_array_equal(ragged([]), [0])


def test_counts_of_other_shapes_are_refused():
    with pytest.raises(MergeError, match="counts of 2 classes and 2 cells do not fit counts of 3 classes and 2 cells"):
        ValueCounts.of([A], [2], Y, 2) + ValueCounts.of([A], [2], Y, 3)
    with pytest.raises(MergeError, match=r"moments of shape \(1, 2\) do not fit moments of shape \(1, 3\)"):
        Moments.of([A], Y, 2) + Moments.of([A], Y, 3)


def test_more_cannot_be_taken_away_than_there_is():
    with pytest.raises(MergeError, match="a count would become negative"):
        ValueCounts.of([A[:1]], [2], Y[:1], 2) - ValueCounts.of([A], [2], Y, 2)
    with pytest.raises(MergeError, match="a weight would become negative"):
        Moments.of([B[:1]], Y[:1], 2) - Moments.of([B], Y, 2)


values = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=20).map(lambda x: np.round(x, 9))


@given(values, values, st.sampled_from([0.0, 1e6]))
@settings(max_examples=80, deadline=None)
def test_moments_of_two_parts_merge_to_those_of_the_whole(a, b, shift):
    a, b = a + shift, b + shift
    whole = np.concatenate([a, b])
    one = [np.zeros(len(x), dtype=np.uint8) for x in (a, b)]
    both = Moments.of([a], one[0], 1) + Moments.of([b], one[1], 1)
    assert both.weight[0, 0] == len(whole)
    assert_allclose(both.mean[0, 0], np.mean(whole), rtol=1e-12, atol=1e-10)
    assert_allclose(both.scatter[0, 0], np.var(whole) * len(whole), rtol=1e-10, atol=1e-8 if shift else 1e-10)
    back = both - Moments.of([b], one[1], 1)
    assert_allclose(back.mean[0, 0], np.mean(a), rtol=1e-12, atol=1e-10)
    assert (back.scatter >= 0).all()


def test_a_large_mean_does_not_eat_the_variance():
    x = 1e9 + np.array([4.0, 7.0, 13.0, 16.0])  # the textbook case of lost digits: variance 22.5
    moments = Moments.of([x], np.zeros(4, dtype=np.uint8), 1)
    assert moments.scatter[0, 0] == 90.0


def test_scaled_moments_are_those_of_repeated_rows():
    x = np.array([1.0, 2.0, 5.0, 9.0])
    twice = Moments.of([np.repeat(x, 2)], np.repeat(Y, 2), 2)
    scaled = Moments.of([x], Y, 2).scaled(np.array([2, 2]))
    for part in ("weight", "mean", "scatter"):
        assert_allclose(getattr(scaled, part), getattr(twice, part), rtol=1e-14)


def test_nothing_minus_nothing_is_nothing():
    m = Moments.of([np.array([3.0])], np.array([0], dtype=np.uint8), 2)
    empty = m - m
    for part in (empty.weight, empty.mean, empty.scatter):
        assert_array_equal(part, 0.0)
