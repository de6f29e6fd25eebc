"""Numbers and text become the codes that plain twins give them."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bayeskit import _kernels as native
from kernels import twins
from kernels.arrays import columns, laid_out

any_column = st.integers(0, 12).flatmap(columns)


@given(any_column)
@settings(max_examples=120, deadline=None)
@example(np.array([0, (1 << 22) - 1]))
@example(np.array([0, 1 << 22]))
@example(np.array([-(2**63), 2**63 - 1]))
@example(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64))
@example(np.array([np.nan, np.nan]))
def test_whole_levels_is_its_twin(column):
    found, expected = native.whole_levels(column), twins.whole_levels(column)
    if column.dtype == np.uint64 and column.size and column.max() > np.iinfo(np.int64).max:
        expected = None  # such levels do not fit the int64 that is returned
    if column.dtype.kind == "i" and expected is None:
        values = np.unique(column)  # 9e15 bounds floats only; whole numbers are exact beyond it
        if int(values[-1]) - int(values[0]) < 1 << 22:
            expected = values.tolist()
    assert (None if found is None else found.tolist()) == expected


@given(
    any_column,
    st.integers(-3, 3),
    st.lists(st.integers(-2, 9), max_size=8),
    st.sampled_from([1, 2, 4]),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
@example(np.array([255, 254, 3], dtype=np.uint8), 0, [1, -2], 2, False)
@example(np.array([255, 254, 1], dtype=np.uint8), 0, [1, -2], 2, True)
@example(np.array([2**64 - 1], dtype=np.uint64), -1, [0, 1], 1, False)
@example(np.array([-1e-20, 1 - 1e-17]), -1, [0, 1, 2], 1, False)
@example(np.array([16777216.0], dtype=np.float32), 16777217, [0, 1], 1, False)
def test_recode_is_its_twin(column, lo, lookup, code_bytes, coded):
    if coded:
        lo = 0  # codes start at zero
    table = np.array(lookup, dtype=np.int64)
    found = native.recode(column, lo, table, code_bytes, coded)
    assert_array_equal(found, twins.recode(column, lo, lookup, code_bytes, coded), strict=True)


@given(any_column, st.lists(st.floats(-6, 6), max_size=40, unique=True).map(sorted), st.sampled_from([1, 2, 4]))
@settings(max_examples=120, deadline=None)
def test_digitise_is_its_twin(column, edges, code_bytes):
    found = native.digitise(column, np.array(edges), code_bytes)
    assert_array_equal(found, twins.digitise(column, edges, code_bytes), strict=True)


def test_blocks_of_a_long_column_have_no_seam():
    column = np.arange(5000) % 7 - 3.0
    assert_array_equal(native.recode(column, -3, np.arange(7), 1, False), np.arange(5000) % 7)
    assert_array_equal(native.digitise(column, np.arange(-2.0, 4.0), 1), np.arange(5000) % 7)


@pytest.mark.parametrize("n_edges", [1, 2, 3, 4, 5, 31, 32, 33, 1000])
def test_the_bins_of_a_long_column_are_those_of_a_sorted_search(n_edges):
    rng = np.random.default_rng(n_edges)
    edges = np.sort(rng.normal(size=n_edges))
    column = rng.permutation(np.r_[rng.normal(size=3000), edges, -np.inf, np.inf])
    assert_array_equal(native.digitise(column, edges, 2), np.searchsorted(edges, column, side="right"))


NA = object()
cells = st.one_of(
    st.none(),
    st.just(float("nan")),
    st.just(NA),
    st.text(max_size=12),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([1.0, 2.5]),
)


@given(st.lists(cells, max_size=30), st.sampled_from(["row-major", "sliced", "reversed"]))
@settings(max_examples=120, deadline=None)
def test_encode_objects_is_its_twin(values, layout):
    column = np.empty(len(values), dtype=object)
    column[:] = values
    if layout == "sliced":
        wide = np.empty(2 * len(values), dtype=object)
        wide[::2] = column
        column = wide[::2]
    elif layout == "reversed":
        column, values = column[::-1], values[::-1]
    codes, levels = native.encode_objects(column, [NA])
    expected, known = twins.encode(values, lambda v: v is None or v is NA or v != v)
    assert_array_equal(codes, expected, strict=True)
    assert [(type(a), a) for a in levels] == [(type(a), a) for a in known]


def test_equal_texts_in_different_objects_are_one_level():
    column = np.array(["".join(["a", "b"]) for _ in range(10_000)] + ["ab"], dtype=object)
    codes, levels = native.encode_objects(column, [])
    assert levels == ["ab"]
    assert not codes.any()


def test_many_levels_keep_their_order_of_appearance():
    texts = [f"level {k * 7919 % 100_003}" for k in range(100_003)]
    codes, levels = native.encode_objects(np.array(texts, dtype=object), [])
    assert levels == texts
    assert_array_equal(codes, np.arange(100_003))


def test_a_cell_that_has_no_hash_raises_its_own_error():
    column = np.empty(2, dtype=object)
    column[:] = ["a", [1]]
    with pytest.raises(TypeError, match="unhashable"):
        native.encode_objects(column, [])


def test_a_comparison_that_raises_is_passed_on():
    class Odd:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise RuntimeError("no comparison")

    column = np.empty(2, dtype=object)
    column[:] = [Odd(), Odd()]
    with pytest.raises(RuntimeError, match="no comparison"):
        native.encode_objects(column, [])


@given(st.lists(st.text(st.characters(exclude_characters="\0"), max_size=9), min_size=1, max_size=20))
@settings(max_examples=100, deadline=None)
def test_encode_fixed_is_its_twin(values):
    column = np.array(values)
    assume(column.itemsize > 0)
    codes, first = native.encode_fixed(column.view(np.uint8).reshape(len(column), -1), column.itemsize)
    expected, known = twins.encode(values, lambda _: False)
    assert_array_equal(codes, expected, strict=True)
    assert [values[row] for row in first] == known


@pytest.mark.parametrize("kind", ["string", "large_string", "string_view"])
@given(values=st.lists(st.none() | st.text(max_size=20), max_size=20), cuts=st.lists(st.integers(0, 20), max_size=3))
@settings(max_examples=100, deadline=None)
def test_encode_arrow_is_its_twin(kind, values, cuts):
    pa = pytest.importorskip("pyarrow", reason="Arrow strings come from pyarrow")
    if not hasattr(pa, kind):
        pytest.skip(f"this pyarrow has no {kind}")
    cuts = sorted({0, len(values), *(min(cut, len(values)) for cut in cuts)})
    whole = pa.array(values, type=getattr(pa, kind)())
    # Slices share their buffers and begin at an offset.
    chunks = [whole.slice(a, b - a) for a, b in itertools.pairwise(cuts)]
    stream = pa.chunked_array(chunks, type=whole.type).__arrow_c_stream__()
    codes, levels = native.encode_arrow(stream)
    expected, known = twins.encode(values, lambda value: value is None)
    assert_array_equal(codes, expected, strict=True)
    assert levels == known


def test_encode_arrow_refuses_what_is_no_text():
    pa = pytest.importorskip("pyarrow", reason="Arrow streams come from pyarrow")
    with pytest.raises(ValueError, match="expected Arrow strings, got the format 'l'"):
        native.encode_arrow(pa.chunked_array([[1, 2]]).__arrow_c_stream__())
    with pytest.raises(ValueError, match="PyCapsule"):
        native.encode_arrow("no capsule")


def test_read_only_columns_are_read():
    column = laid_out(np.array([1, 2, 3]), "read-only")
    assert_array_equal(native.whole_levels(column), [1, 2, 3])
