"""Numbers are cut, scaled and encoded as plain NumPy does it, column by column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import LevelEncoder, cut_numbers, scale_numbers


@st.composite
def tables(draw):
    """Columns of few and of many numbers, near to each other or far apart, some missing, with rows in another order."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(1, 700))
    columns = [
        rng.integers(0, 5, n).astype(np.float64),
        rng.normal(size=n),
        1e9 + rng.normal(0, 1e-3, n),
        rng.normal(size=n) * 10.0 ** rng.integers(-300, 300, n),
        rng.integers(-3, 300, n).astype(draw(st.sampled_from([np.int16, np.int64, np.float32]))),
        np.full(n, np.nan),
    ]
    columns[1][rng.random(n) < 0.3] = np.nan
    columns[0][rng.random(n) < 0.5] = -0.0
    order = rng.permutation(n)[: draw(st.integers(1, n))].astype(np.int32)
    return columns, order, rng.integers(1, 4, len(order)) * draw(st.sampled_from([1.0, 0.3]))


def distinct(column, weight):
    known = ~np.isnan(column)
    values, position = np.unique(column[known], return_inverse=True)
    return values, np.bincount(position, weights=weight[known], minlength=len(values)), weight[~known].sum()


def cut(column, weight, most):
    values, often, _ = distinct(column, weight)
    cuts = np.arange(max(len(values) - 1, 0))
    if len(values) > most:
        reached = np.cumsum(often)
        cuts = np.unique(np.searchsorted(reached, reached[-1] * np.arange(1, most) / most))
        cuts = cuts[cuts < len(values) - 1]
    return np.maximum(values[cuts] / 2 + values[cuts + 1] / 2, np.nextafter(values[cuts], np.inf))


@given(tables(), st.sampled_from([2, 9, 254]))
def test_columns_are_cut_into_bins_of_equal_frequency(table, most):
    columns, order, weight = table
    found = cut_numbers(columns, order, weight, most, 1)
    for column, edges, again in zip(columns, found, cut_numbers(columns, order, weight, most, 3), strict=True):
        assert_array_equal(edges, cut(column[order].astype(np.float64), weight, most))
        assert_array_equal(edges, again)


@given(tables(), st.sampled_from([2, 7, 256]))
def test_columns_are_scaled(table, most):
    columns, order, weight = table
    scales, x, share, at = scale_numbers(columns, order, weight, most, 1)
    for found, again in zip((scales, x, share, at), scale_numbers(columns, order, weight, most, 3), strict=True):
        assert_array_equal(found, again)
    for k, column in enumerate(columns):
        values, often, missing = distinct(column[order].astype(np.float64), weight)
        own_x, own_share = x[at[k] : at[k + 1]], share[at[k] : at[k + 1]]
        if not len(values):  # without any number all rows stand at one place
            assert_array_equal(scales[:3, k], [0.0, 1.0, 0.0])
            assert_array_equal((own_x, own_share), ([0.0], [0.5]))
            continue
        middle = np.searchsorted(np.cumsum(often), np.cumsum(often)[-1] / 2)
        often[middle] += missing
        unit = max(np.abs(values).max(), 1e-300)
        center = np.average(values / unit, weights=often)
        deviation = np.sqrt(np.average((values / unit - center) ** 2, weights=often))
        assert_allclose(scales[:3, k], [values[middle], unit, center], rtol=1e-12, atol=1e-15)
        assert_allclose(scales[3, k], max(deviation, np.finfo(float).tiny), rtol=1e-6, atol=1e-15)
        points = np.unique(np.arange(min(len(values), most)) * (len(values) - 1) // max(min(len(values), most) - 1, 1))
        assert_array_equal(own_x, values[points])
        assert_allclose(own_share, (np.cumsum(often) - often / 2)[points] / often.sum(), rtol=1e-12)


@given(tables(), st.booleans())
def test_numbers_and_codes_become_levels(table, ordered_rows):
    numbers, order, weight = table
    rng = np.random.default_rng(len(order))
    n = len(numbers[0])
    codes = rng.integers(0, 9, n).astype(np.uint8)
    codes[rng.random(n) < 0.2] = 255
    wide = rng.choice(np.array([0, 3, 299, 65534, 65535], dtype=np.uint16), n)
    columns = [*numbers, codes, wide]
    edges = [*cut_numbers(numbers, order, weight, 254, 1), np.empty(0), np.empty(0)]
    nothing = np.empty(0, np.uint8)
    places = [*[nothing] * len(numbers), np.arange(2, 8, dtype=np.uint8), rng.integers(1, 200, 300).astype(np.uint8)]
    ordered = np.array([True] * len(numbers) + [False] * 2)
    taken = order if ordered_rows else None
    encoder = LevelEncoder(edges, places, ordered)
    found, infinite = encoder.encode(columns, taken, 1)
    assert infinite == any(np.isinf(column if taken is None else column[taken]).any() for column in numbers)
    assert_array_equal(found, encoder.encode(columns, taken, 3)[0])
    for j, column in enumerate(columns):
        own = column if taken is None else column[taken]
        if ordered[j]:
            numbers_of = own.astype(np.float64)
            expected = np.where(np.isnan(numbers_of), 0, 1 + np.searchsorted(edges[j], numbers_of, side="right"))
        else:
            known = np.append(places[j], 1)[np.minimum(own, len(places[j]))]
            expected = np.where(own == np.iinfo(own.dtype).max, 0, known)
        assert_array_equal(found[j], expected)


def test_parts_that_do_not_fit_are_refused():
    columns, order, weight = [np.arange(3.0)], np.arange(3, dtype=np.int32), np.ones(3)
    for call in (cut_numbers, scale_numbers):
        with pytest.raises(ValueError, match="a row is out of range"):
            call(columns, order + 1, weight, 9, 1)
        with pytest.raises(ValueError, match="differ in length"):
            call(columns, order, weight[1:], 9, 1)
    none = np.empty(0, np.uint8)
    with pytest.raises(ValueError, match="differ in length"):
        LevelEncoder([], [none], np.array([True]))
    with pytest.raises(ValueError, match="not whole numbers"):
        LevelEncoder([np.empty(0)], [none], np.array([False])).encode(columns, None, 1)
    with pytest.raises(ValueError, match="too many bins"):
        LevelEncoder([np.arange(255.0)], [none], np.array([True]))
    with pytest.raises(ValueError, match="another number of columns"):
        LevelEncoder([np.empty(0)], [none], np.array([True])).encode(columns * 2, None, 1)
