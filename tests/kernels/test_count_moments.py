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


def moments_of(cells, weight):
    """Weight, mean and scatter in fractions. Every double is a whole number of 2⁻¹⁰⁷⁴, and whole numbers are quick."""
    unit = 1 << 1074
    w, x = (
        [top * (unit // bottom) for top, bottom in map(float.as_integer_ratio, a.tolist())] for a in (weight, cells)
    )
    total, first = sum(w), sum(a * b for a, b in zip(w, x, strict=True))
    if not total:
        return Fraction(0), Fraction(0), Fraction(0)
    second = sum(a * b * b for a, b in zip(w, x, strict=True))
    return Fraction(total, unit), Fraction(first, total * unit), Fraction(second * total - first**2, total * unit**3)


@st.composite
def long_columns(draw, n_rows):
    """Rows that need several tiles of a class, of every size that the sums must expect."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.sampled_from([1.0, 1e-150, 1e-160, 1e-300, 1e130, 1e-3, 3e5]))
    offset = draw(st.sampled_from([0.0, 0.5, 3.0, 1e2, 1e4, -1e9, 1e12])) * size
    x = offset + size * draw(st.sampled_from([0.0, 1.0, 1e-3])) * rng.normal(size=n_rows)
    if draw(st.booleans()):  # one value, then others, or the other way round
        x[: draw(st.integers(0, n_rows))] = offset
        x = x[:: draw(st.sampled_from([1, -1]))].copy()
    for value in draw(st.lists(st.sampled_from([np.nan, 0.0, 1e3, -1e9, 5e-324, 1e-300, -1e140]), max_size=2)):
        x[draw(st.integers(0, n_rows - 1))] = value
    return x


@st.composite
def long_tables(draw):
    n_rows = draw(st.sampled_from([9, 70, 2100]))
    n_classes = draw(st.sampled_from([1, 3, 60]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    y = rng.integers(0, n_classes, n_rows, dtype=np.uint8)
    if draw(st.booleans()):
        y.sort()
    weight = draw(st.sampled_from([None, np.ones(n_rows), rng.random(n_rows), rng.integers(0, 3, n_rows) * 0.5]))
    n_columns = draw(st.sampled_from([1, 4, 9]))
    return np.stack([draw(long_columns(n_rows)) for _ in range(n_columns)], axis=1), y, weight, n_classes


@given(long_tables())
@settings(max_examples=60, deadline=None)
def test_rows_of_any_size_in_any_order_are_summed_up_to_the_digits_of_a_double_double(table):
    x, y, weight, n_classes = table
    parts = count_moments(x, y, weight, n_classes, 1)
    found = exactly(parts)
    for j, c in np.ndindex(found.shape[1:]):
        rows = (y == c) & ~np.isnan(x[:, j])
        cells, total = x[rows, j], found[0, j, c]
        expected = moments_of(cells, np.ones(len(cells)) if weight is None else weight[rows])
        off = [abs(a - b) for a, b in zip(found[:, j, c], expected, strict=True)]
        scale, least = Fraction(max(np.abs(cells), default=0.0)), 4 * len(y) * Fraction(5e-324)
        assert off[0] <= DOUBLE_DOUBLE * total
        assert off[1] * total <= DOUBLE_DOUBLE * scale * total + least * (1 + total)
        assert off[2] <= DOUBLE_DOUBLE * (1 + total) * scale**2 + least
        if total > 0 and (cells == cells[0]).all():
            assert_array_equal(parts[[1, 2, 4, 5], j, c], [cells[0], 0, 0, 0])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_a_scatter_far_from_zero_has_twenty_digits(offset, weighted):
    rng = np.random.default_rng(4)
    x, y = offset + rng.normal(size=(3000, 3)), rng.integers(0, 2, 3000, dtype=np.uint8)
    weight = 0.5 + rng.random(len(y)) if weighted else None
    found = exactly(count_moments(x, y, weight, 2, 1))
    expected = twins.count_moments(list(x.T), y, weight, 2)
    assert (np.abs(found - expected) <= Fraction(1, 10**20) * np.abs(expected)).all()


@pytest.mark.parametrize("late", [np.nan, 1e300, -1e300, 5e-324, 0.0])
@pytest.mark.parametrize("usual", [1e-300, 1.0, 1e140])
def test_a_number_unlike_all_before_it_counts_like_any_other(late, usual):
    x = np.full((4000, 2), usual)
    x[1::2, 1] *= -3
    x[3500, 1] = late
    found = count_moments(x, np.zeros(len(x), dtype=np.uint8), None, 1, 1)
    known = [Fraction(value) for value in x[:, 1].tolist() if value == value]
    mean = sum(known) / len(known)
    assert_array_equal(found[[0, 1, 2], 0, 0], [4000, usual, 0])
    assert found[0, 1, 0] == len(known)
    rounding = DOUBLE_DOUBLE * max(map(abs, known)) + Fraction(5e-324)
    assert abs(Fraction(found[1, 1, 0]) + Fraction(found[4, 1, 0]) - mean) <= rounding


@pytest.mark.parametrize("late", [np.inf, -np.inf])
def test_an_infinite_number_after_many_others_gives_none(late):
    x = np.random.default_rng(0).normal(size=(3000, 6))
    x[2900, 4] = late
    y = np.arange(3000, dtype=np.uint8) % 3
    assert count_moments(x, y, None, 3, 1) is None
    assert count_moments(x, y, np.ones(3000), 3, 1) is None


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
