"""Hypothesis strategies: arrays of every dtype, stride and order that a table may come in."""

import numpy as np
from hypothesis import strategies as st

INTEGERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]
FLOATS = ["f4", "f8"]
LAYOUTS = ["row-major", "column-major", "sliced", "reversed", "read-only", "transposed"]


def laid_out(array, layout):
    """The same numbers in another memory layout."""
    if layout == "column-major":
        return np.asfortranarray(array)
    if layout == "sliced":
        wide = np.zeros(tuple(2 * n + 1 for n in array.shape), dtype=array.dtype)
        view = wide[tuple(slice(1, 2 * n + 1, 2) for n in array.shape)]
        view[...] = array
        return view
    if layout == "reversed":
        return np.ascontiguousarray(array[::-1])[::-1]
    if layout == "transposed":
        return np.ascontiguousarray(array.T).T
    copy = array.copy()
    copy.flags.writeable = layout != "read-only"
    return copy


@st.composite
def classes(draw, n_rows, most=9):
    """Class codes of each row and the number of classes; some classes may have no row."""
    n_classes = draw(st.integers(1, most))
    dtype = draw(st.sampled_from(["u1", "u2", "u4", "i8"]))
    y = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    return np.array(y, dtype=dtype), n_classes


def weights(n_rows):
    """None, or one positive or zero weight a row."""
    some = st.lists(st.sampled_from([0.0, 0.25, 1.0, 2.0, 3.5]), min_size=n_rows, max_size=n_rows)
    return st.none() | some.map(lambda w: np.array(w, dtype=np.float64))


@st.composite
def whole_tables(draw, low=-3, high=300):
    """A 2-D array of whole numbers in any integer dtype and layout."""
    shape = draw(st.tuples(st.integers(0, 12), st.integers(1, 6)))
    dtype = np.dtype(draw(st.sampled_from(INTEGERS)))
    least, most = max(low, np.iinfo(dtype).min), min(high, np.iinfo(dtype).max)
    cells = draw(st.lists(st.integers(least, most), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]))
    return laid_out(np.array(cells, dtype=dtype).reshape(shape), draw(st.sampled_from(LAYOUTS)))


@st.composite
def columns(draw, n_rows, special=True):
    """One column of numbers in any dtype and layout, with NaN and infinities among floats where ``special``."""
    dtype = np.dtype(draw(st.sampled_from(INTEGERS + FLOATS + ["?"])))
    if dtype.kind == "b":
        cell = st.booleans()
    elif dtype.kind == "f":
        cell = st.integers(-5, 5).map(float) | st.sampled_from([0.5, -2.25, 1e6, -0.0])
        cell = cell | st.just(math_nan)
        if special:
            cell = cell | st.sampled_from([np.inf, -np.inf, 1e18])
    else:
        ends = [np.iinfo(dtype).max, np.iinfo(dtype).max - 1, np.iinfo(dtype).min]
        cell = st.integers(max(-5, ends[2]), 9)
        if special:
            cell = cell | st.sampled_from(ends)
    cells = draw(st.lists(cell, min_size=n_rows, max_size=n_rows))
    return laid_out(np.array(cells, dtype=dtype), draw(st.sampled_from(LAYOUTS)))


math_nan = float("nan")
