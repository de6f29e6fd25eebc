"""The moment kernel sums up what its plain twin sums up."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import count_moments
from kernels import twins
from kernels.arrays import classes, columns, laid_out, weights

ROUNDING = 1e-12


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
    scale = 1.0 + max(np.nanmax(np.abs(x.astype(float)), initial=0.0) for x in cells) ** 2
    assert_allclose(found, expected, rtol=ROUNDING, atol=ROUNDING * scale)


@pytest.mark.parametrize("layout", ["row-major", "column-major", "sliced", "reversed", "read-only", "transposed"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1"])
def test_an_array_of_any_layout_has_the_moments_of_its_columns(layout, dtype):
    rng = np.random.default_rng(1)
    plain = rng.integers(0, 100, (2000, 5)).astype(dtype)
    y = rng.integers(0, 9, 2000, dtype=np.uint8)
    found = count_moments(laid_out(plain, layout), y, None, 9, 1)
    assert_allclose(found, twins.count_moments(list(plain.T), y, None, 9), rtol=ROUNDING)


@pytest.mark.parametrize("n_rows", [1023, 1024, 1025, 32767, 32768, 32769, 70_001])
@pytest.mark.parametrize("missing", [False, True])
def test_tiles_and_chunks_are_merged_without_a_seam(n_rows, missing):
    rng = np.random.default_rng(n_rows)
    x = 1e6 + rng.normal(size=(n_rows, 2))
    if missing:
        x[rng.random(x.shape) < 0.1] = np.nan
    y = rng.integers(0, 3, n_rows, dtype=np.uint8)
    weight = rng.integers(1, 4, n_rows).astype(float)
    found = count_moments(x, y, weight, 3, 2)
    expected = twins.count_moments(list(x.T), y, weight, 3)
    assert_allclose(found[:2], expected[:2], rtol=1e-14)
    assert_allclose(found[2], expected[2], rtol=1e-9)  # the mean is a million deviations away


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
    _, mean, scatter = count_moments(x, y, np.linspace(0.1, 2, len(y)), 3, 2)
    assert_array_equal(mean, value)
    assert_array_equal(scatter, 0.0)


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
    assert_array_equal(found[:, 0, 2], [2, 2, 2])
