"""The counting kernels count what their plain twins count, in any dtype, layout and number of threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import _kernels as native
from kernels import twins
from kernels.arrays import classes, laid_out, weights, whole_tables

# Sums of a few weights that are quarters are exact; those of many rows may differ by rounding.
ROUNDING = 1e-12


@st.composite
def counted(draw):
    array = draw(whole_tables())
    y, n_classes = draw(classes(len(array)))
    return array, y, draw(weights(len(array))), n_classes


@given(counted())
@settings(max_examples=100, deadline=None)
def test_count_bytes_is_its_twin(table):
    array, y, weight, n_classes = table
    found = native.count_bytes(array, y, weight, n_classes, 2)
    row_major = array.shape[1] == 1 or array.strides[1] == array.itemsize
    # An array in another order is counted column by column.
    expected = twins.count_bytes(array, y, weight, n_classes) if row_major else None
    assert (found is None) == (expected is None)
    if expected is not None:
        assert_array_equal(found, expected)


def test_count_bytes_takes_254_and_255_for_numbers():
    array = np.array([[254], [255], [255]], dtype=np.uint8)
    n = native.count_bytes(array, np.array([0, 0, 1], dtype=np.uint8), None, 2, 1)
    assert_array_equal(n[0, 254], [1, 0])
    assert_array_equal(n[0, 255], [1, 1])


@st.composite
def coded(draw):
    n_rows = draw(st.integers(0, 12))
    sizes = draw(st.lists(st.integers(0, 7), max_size=5))
    columns = []
    for size in sizes:
        dtype = np.dtype(draw(st.sampled_from(["u1", "u2", "u4"])))
        top = np.iinfo(dtype).max
        code = st.integers(0, size) | st.sampled_from([top, top - 1])
        cells = np.array(draw(st.lists(code, min_size=n_rows, max_size=n_rows)), dtype=dtype)
        columns.append(laid_out(cells, draw(st.sampled_from(["row-major", "sliced", "reversed", "read-only"]))))
    y, n_classes = draw(classes(n_rows))
    return columns, y, draw(weights(n_rows)), n_classes, sizes


@given(coded())
@settings(max_examples=100, deadline=None)
def test_count_values_is_its_twin(table):
    columns, y, weight, n_classes, sizes = table
    found = native.count_values(columns, y, weight, n_classes, sizes, 2)
    assert_array_equal(found, twins.count_values(columns, y, weight, n_classes, sizes))
    assert found.dtype == (np.int64 if weight is None else np.float64)


@pytest.mark.parametrize("size", [3, 254, 255, 256, 300])
def test_wide_codes_of_few_values_are_counted_as_narrow_ones_are(size):
    rng = np.random.default_rng(size)
    y = rng.integers(0, 4, 1000).astype(np.uint8)
    columns = []
    for dtype in ("u1", "u2", "u4"):
        top = np.iinfo(dtype).max
        columns.append(np.where(rng.random(1000) < 0.1, top, rng.integers(0, min(size + 2, 256), 1000)).astype(dtype))
    sizes = [min(size, 256), size, size]
    found = native.count_values(columns, y, None, 4, sizes, 1)
    assert_array_equal(found, twins.count_values(columns, y, None, 4, sizes))


@given(st.integers(0, 30).flatmap(lambda n: st.tuples(classes(n), weights(n))))
def test_count_classes_is_its_twin(rows):
    (y, n_classes), weight = rows
    assert_array_equal(native.count_classes(y, weight, n_classes), twins.count_classes(y, weight, n_classes))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_rows", [65535, 65536, 65537, 200_003])
def test_rows_on_both_sides_of_a_chunk_border_are_counted_once(n_rows, weighted):
    rng = np.random.default_rng(n_rows)
    array = rng.integers(0, 5, (n_rows, 3), dtype=np.uint8)
    y = rng.integers(0, 4, n_rows, dtype=np.uint8)
    weight = rng.random(n_rows) if weighted else None
    cells = (array[:, :, None] == np.arange(5)).astype(float)  # (n_rows, 3, 5)
    expected = np.stack(
        [np.einsum("ijv,i->jv", cells, (y == c) * (1.0 if weight is None else weight)) for c in range(4)], axis=2
    )
    by_bytes = native.count_bytes(array, y, weight, 4, 2)[:, :5]
    by_columns = native.count_values([array[:, j] for j in range(3)], y, weight, 4, [5] * 3, 2)
    assert_allclose(by_bytes, expected, rtol=ROUNDING)
    assert_allclose(by_columns.reshape(3, 5, 4), expected, rtol=ROUNDING)
    if not weighted:
        assert_array_equal(by_bytes, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_threads_do_not_change_a_bit(weighted):
    rng = np.random.default_rng(0)
    n_rows = 300_000
    array = rng.integers(0, 9, (n_rows, 4), dtype=np.int64)
    y = rng.integers(0, 3, n_rows, dtype=np.uint8)
    weight = rng.random(n_rows) if weighted else None
    columns = [np.ascontiguousarray(array[:, j]).astype(np.uint16) for j in range(4)]
    assert_array_equal(
        native.count_bytes(array, y, weight, 3, 1), native.count_bytes(array, y, weight, 3, 2), strict=True
    )
    assert_array_equal(
        native.count_values(columns, y, weight, 3, [9] * 4, 1),
        native.count_values(columns, y, weight, 3, [9] * 4, 2),
        strict=True,
    )


def test_a_class_out_of_range_is_refused():
    with pytest.raises(ValueError, match="class code is out of range"):
        native.count_classes(np.array([0, 2]), None, 2)
    with pytest.raises(ValueError, match="class code is out of range"):
        native.count_values([np.zeros(1, dtype=np.uint8)], np.array([-1]), None, 2, [1], 1)


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        native.count_values([np.zeros(3, np.uint8), np.zeros(2, np.uint8)], np.zeros(3, np.uint8), None, 1, [1, 1], 1)
    with pytest.raises(ValueError, match="differ in length"):
        native.count_bytes(np.zeros((3, 2), np.uint8), np.zeros(2, np.uint8), None, 1, 1)
