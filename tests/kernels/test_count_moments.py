"""The moment kernel sums up what its plain twin sums up, with twice the digits of a double."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import add_moments, count_moments, subtract_moments
from kernels import twins
from kernels.arrays import classes, columns, laid_out, weights

DOUBLE_DOUBLE = Fraction(1, 10**28)


def exactly(parts):
    """Weight, mean and scatter as fractions: each is the sum of two doubles."""
    return np.vectorize(Fraction, otypes=[object])(parts[:3]) + np.vectorize(Fraction, otypes=[object])(parts[3:])


def assert_same_digits(found, expected, scale):
    """Means to 28 digits of the numbers, scatters to 28 digits of their squares."""
    off = np.abs(exactly(found) - expected)
    assert (off[0] <= DOUBLE_DOUBLE * expected[0]).all()
    assert (off[1] <= DOUBLE_DOUBLE * Fraction(scale)).all()
    assert (off[2] <= DOUBLE_DOUBLE * len(found[0]) * Fraction(scale) ** 2 * (1 + expected[0])).all()


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 12))
    table = draw(st.lists(columns(n_rows, special=False), min_size=1, max_size=4))
    y, n_classes = draw(classes(n_rows))
    return table, y, draw(weights(n_rows)), n_classes


@given(tables())
@settings(max_examples=100, deadline=None)
def test_count_moments_is_its_twin(table):
    cells, y, weight, n_classes = table
    found = count_moments(cells, y, weight, n_classes, 2)
    expected = twins.count_moments(cells, y, weight, n_classes)
    scale = 1.0 + max(np.nanmax(np.abs(x.astype(float)), initial=0.0) for x in cells)
    assert_same_digits(found, expected, scale)


@pytest.mark.parametrize("layout", ["row-major", "column-major", "sliced", "reversed", "read-only", "transposed"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1"])
def test_an_array_of_any_layout_has_the_moments_of_its_columns(layout, dtype):
    rng = np.random.default_rng(1)
    plain = rng.integers(0, 100, (2000, 5)).astype(dtype)
    y = rng.integers(0, 9, 2000, dtype=np.uint8)
    found = count_moments(laid_out(plain, layout), y, None, 9, 1)
    assert_allclose(found[:3], twins.count_moments(list(plain.T), y, None, 9).astype(float), rtol=1e-15)


@pytest.mark.parametrize("n_rows", [1024, 1025, 32769])
@pytest.mark.parametrize("missing", [False, True])
def test_tiles_and_chunks_are_merged_without_a_seam(n_rows, missing):
    rng = np.random.default_rng(n_rows)
    x = 1e6 + rng.normal(size=(n_rows, 1))
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, n_rows, dtype=np.uint8)
    weight = rng.integers(1, 4, n_rows).astype(float)
    found = count_moments(x, y, weight, 3, 2)
    expected = twins.count_moments(list(x.T), y, weight, 3)
    off = np.abs(exactly(found) - expected)
    assert (off <= Fraction(1, 10**20) * np.abs(expected)).all()  # the mean is a million deviations away


def test_a_class_whose_first_cells_are_missing_is_summed_up_from_the_first_that_is_known():
    x = np.full((5000, 2), np.nan)
    x[:, 1] = np.arange(5000)
    x[4000:, 0] = [3.0, 5.0] * 500
    y = np.zeros(5000, dtype=np.uint8)
    found = count_moments(x, y, None, 2, 1)
    assert_array_equal(found[:3, 0, 0], [1000, 4, 1000])
    assert_array_equal(found[:, :, 1], 0)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200_000, 3))
    x[::7, 1] = np.nan
    y = rng.integers(0, 2, len(x), dtype=np.uint8)
    weight = rng.random(len(x))
    assert_array_equal(count_moments(x, y, weight, 2, 1), count_moments(x, y, weight, 2, 2), strict=True)


@pytest.mark.parametrize("value", [0.1, -1e-8, 12345.678, 1e100])
def test_a_column_of_one_value_has_that_mean_and_no_scatter_at_all(value):
    y = np.arange(70_000) % 3
    x = np.full((len(y), 1), value)
    _, mean, scatter, _, mean_low, scatter_low = count_moments(x, y, np.linspace(0.1, 2, len(y)), 3, 2)
    assert_array_equal(mean, value)
    for part in (mean_low, scatter, scatter_low):
        assert_array_equal(part, 0.0)


@pytest.mark.parametrize("where", [0, 40_000, 99_999])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_number_gives_none(where, value):
    x = np.zeros((100_000, 2))
    x[:, 0] = np.nan
    x[where, 1] = value
    assert count_moments(x, np.zeros(len(x), np.uint8), None, 1, 2) is None


def test_a_class_without_rows_has_no_weight():
    found = count_moments(np.array([[1.0], [3.0]]), np.array([2, 2]), None, 4, 1)
    assert_array_equal(found[0, 0], [0, 0, 2, 0])
    assert_array_equal(found[:, 0, 2], [2, 2, 2, 0, 0, 0])


numbers = st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=12).map(np.array)


@given(numbers, numbers, st.sampled_from([0.0, 1e6, 1e9]))
@settings(max_examples=60, deadline=None)
def test_moments_add_to_those_of_all_rows_and_subtract_to_those_of_the_rest(a, b, shift):
    a, b = a + shift, b + shift
    y = np.zeros(len(a) + len(b), dtype=np.uint8)
    parts = [count_moments([x], y[: len(x)], None, 1, 1) for x in (a, b)]
    both = add_moments(*parts)
    rest, state = subtract_moments(both, parts[1])
    assert state == 0
    scale = 1e3 + shift
    whole = np.concatenate([a, b])
    assert_same_digits(both, twins.count_moments([whole], y, None, 1), scale)
    assert_same_digits(rest, twins.count_moments([a], y[: len(a)], None, 1), 100 * scale)


@pytest.mark.parametrize("offset", [0.0, 0.1, -7e8, 1e9])
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_of_one_value_that_are_left_have_that_mean_and_no_scatter_at_all(offset, weighted):
    rng = np.random.default_rng(3)
    varied, constant = offset + rng.normal(size=(40_000, 1)), np.full((3, 1), offset + 1 / 3)
    y = np.zeros(len(varied) + 3, dtype=np.uint8)
    weight = rng.random(len(y)) if weighted else None
    parts = [
        count_moments(x, y[: len(x)], None if weight is None else weight[-len(x) :].copy(), 1, 1)
        for x in (np.concatenate([constant, varied]), varied)
    ]
    rest, state = subtract_moments(*parts)
    assert state == 0
    assert_allclose(rest[0, 0, 0], 3 if weight is None else weight[:3].sum(), rtol=1e-12)
    assert rest[1, 0, 0] == offset + 1 / 3
    assert_array_equal(rest[[2, 4, 5]], 0.0)


def test_rows_that_were_never_there_are_told_by_weight_or_by_scatter():
    y = np.zeros(3, dtype=np.uint8)
    one, two = (count_moments([np.array(x)], y[: len(x)], None, 1, 1) for x in ([1.0, 2.0, 3.0], [1.0, 9.0]))
    assert subtract_moments(two, one) == (None, 1)
    assert subtract_moments(one, two) == (None, 2)
