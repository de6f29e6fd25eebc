"""Bins: equal width and equal frequency, by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from bayeskit.errors import TableError
from bayeskit.table.discretize import learn_edges
from bayeskit.table.schema import Variable, bin_names

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30).map(np.array)


def test_equal_width_cuts_the_range_into_parts_of_one_length():
    assert_allclose(learn_edges(np.array([0.0, 3.0, 10.0]), "equal-width", 5), [2, 4, 6, 8], rtol=1e-15)


def test_equal_frequency_cuts_half_way_between_neighbours():
    x = np.array([1.0, 2.0, 3.0, 4.0, 10.0, 20.0])
    assert learn_edges(x, "equal-frequency", 3) == (2.5, 7.0)
    assert learn_edges(x, "equal-frequency", 2) == (3.5,)


def test_a_value_that_many_rows_have_makes_fewer_bins():
    assert learn_edges(np.array([0.0] * 8 + [1.0, 2.0]), "equal-frequency", 4) == (0.5,)


@pytest.mark.parametrize("method", ["equal-width", "equal-frequency"])
def test_one_value_or_none_is_one_bin(method):
    assert learn_edges(np.full(5, 3.0), method, 4) == ()
    assert learn_edges(np.full(5, np.nan), method, 4) == ()
    assert learn_edges(np.array([1.0, 2.0, 9.0]), method, 1) == ()


@pytest.mark.parametrize("method", ["equal-width", "equal-frequency"])
@given(x=numbers, n_bins=st.integers(1, 12), data=st.data())
@settings(max_examples=60, deadline=None)
def test_edges_rise_and_missing_cells_take_no_part(method, x, n_bins, data):
    edges = learn_edges(x, method, n_bins)
    assert len(edges) < n_bins
    assert list(edges) == sorted(set(edges))
    assert learn_edges(np.concatenate([[np.nan], x, [np.nan]]), method, n_bins) == edges
    assert all(x.min() < edge <= x.max() for edge in edges)


@given(x=numbers, n_bins=st.integers(1, 6), data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_whole_weight_is_so_many_copies(x, n_bins, data):
    weight = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(x), max_size=len(x))))
    expected = learn_edges(np.repeat(x, weight), "equal-frequency", n_bins)
    assert learn_edges(x, "equal-frequency", n_bins, weight.astype(float)) == expected


def test_no_bins_are_refused():
    with pytest.raises(TableError, match="bins must be a whole number of at least 1; got 0"):
        learn_edges(np.array([1.0]), "equal-width", 0)


def test_bins_have_names_that_tell_them_apart():
    assert bin_names((0.5,)) == ("(-inf, 0.5)", "[0.5, inf)")
    assert bin_names(()) == ("(-inf, inf)",)
    near = (1.0, np.nextafter(1.0, 2.0))
    assert len(set(bin_names(near))) == 3
    assert Variable("h", "binned", edges=(1.0, 2.0)).values == ("(-inf, 1)", "[1, 2)", "[2, inf)")
    assert Variable("h", "binned", edges=(1.0, 2.0)).declared


def test_equal_width_cuts_a_range_beyond_the_largest_number():
    edges = learn_edges(np.array([-1.7e308, 1.7e308, 0.0]), "equal-width", 4)
    np.testing.assert_allclose(edges, [-0.85e308, 0.0, 0.85e308], rtol=1e-15, atol=1e292)
