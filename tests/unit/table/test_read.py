"""Reading tables: kinds from dtypes, missing cells, names, masks and odd columns."""

import datetime

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit import NaiveBayes
from bayeskit.errors import TableError
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.table.column import Coded, Numbers, code_bytes
from bayeskit.table.encode import encode
from bayeskit.table.read import read_table, read_values

NAN = float("nan")


def kinds(table, **arguments):
    return [variable.kind for variable in learn_schema(read_table(table), **arguments)]


def test_the_dtype_decides_the_kind():
    table = {"text": ["a"], "truth": [True], "whole": [1], "real": [1.5], "none": [None]}
    assert kinds(table) == ["categorical", "categorical", "gaussian", "gaussian", "unknown"]
    assert kinds(table, numeric="poisson", kinds={"real": "gaussian"})[2:4] == ["poisson", "gaussian"]


def test_numbers_among_objects_are_numbers():
    column = read_values(np.array([1, NAN, None, 2.5], dtype=object), "u")
    assert isinstance(column, Numbers)
    assert_array_equal(column.values, [1, NAN, NAN, 2.5])
    whole = read_values(np.array([1, 2], dtype=object), "u")
    assert whole.values.dtype == np.int64


def test_texts_of_two_classes_are_one_level():
    column = read_values(np.array(["a", np.str_("a"), np.str_("b"), "b"], dtype=object), "u")
    assert column.levels == ("a", "b")
    assert_array_equal(column.codes, [0, 0, 1, 1])


def test_a_whole_number_beyond_floats_is_refused():
    with pytest.raises(TableError, match="column 'u' holds a whole number that is too large for a float"):
        read_values([10**400, None], "u")


@pytest.mark.parametrize("array", [np.ma.array([[1.0, 2], [3, 4]], mask=[[0, 1], [0, 0]]),
                                   np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]])])  # fmt: skip
def test_a_masked_cell_is_missing(array):
    assert_array_equal(read_table(array).array, [[1, NAN], [3, 4]])


def test_a_masked_text_is_missing():
    column = read_table(np.ma.array([["a"], ["b"]], mask=[[False], [True]])).column(0)
    assert isinstance(column, Coded)
    assert_array_equal(column.missing(), [False, True])


def test_plain_arrays_are_read_in_place():
    X = np.zeros((3, 2))
    assert read_table(X).array is X or np.shares_memory(read_table(X).array, X)
    assert read_table(X).names == ("x0", "x1")
    assert not read_table(X).named


def test_categories_of_a_frame_are_read_in_place():
    pd = pytest.importorskip("pandas", reason="categories come from pandas")
    column = pd.Categorical(list("abca") * 5)
    source = read_table(pd.DataFrame({"u": column}, copy=False))
    schema = learn_schema(source)
    assert np.shares_memory(encode(source, schema)[0], source.column(0).codes)


@pytest.mark.parametrize(("n", "width"), [(1, 1), (254, 1), (255, 2), (65_534, 2), (65_535, 4)])
def test_codes_are_as_narrow_as_their_values_and_two_reserved_ones_allow(n, width):
    assert code_bytes(n) == width
    source = read_table({"u": np.arange(n)})
    codes = encode(source, learn_schema(source, kinds="categorical"))[0]
    assert codes.dtype.itemsize == width
    assert_array_equal(codes, np.arange(n))


def test_missing_and_unseen_have_codes_of_their_own():
    schema = learn_schema(read_table({"u": ["a", "b"], "n": [1, 3]}), kinds={"n": "categorical"})
    codes = encode(read_table({"u": ["b", None, "z"], "n": [3, NAN, 2]}), schema)
    assert_array_equal(codes[0], [1, 255, 254])
    assert_array_equal(codes[1], [1, 255, 254])


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        (np.array([-1, 0, 1]), [0, 1, 2]),
        (np.array([2**64 - 1, 0, 1], dtype=np.uint64), [254, 1, 2]),
        (np.array([-1e-20, 0.0, 1 - 1e-16]), [254, 1, 254]),
        (np.array([-1.0, np.nan, 0.5], dtype=np.float32), [0, 255, 254]),
        (np.array([True, False, True]), [2, 1, 2]),
    ],
)
def test_a_number_is_its_level_only_when_it_is_that_number(values, codes):
    schema = learn_schema(read_table({"u": [-1, 0, 1]}), kinds="categorical")
    assert_array_equal(encode(read_table({"u": values}), schema)[0], codes)


def test_levels_far_apart_are_found_by_search():
    far = np.array([-(10**15), 5, 10**15])
    schema = learn_schema(read_table({"u": far}), kinds="categorical")
    assert schema["u"].values == tuple(far.tolist())
    assert_array_equal(encode(read_table({"u": [5, 10**15, 7, None]}), schema)[0], [1, 2, 254, 255])


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (datetime.date(2020, 1, 1), "column 'u', row 1: .* got date .* Split a date into the parts that matter"),
        (b"bytes", "column 'u', row 1: .* got bytes b'bytes'"),
        ({1: 2}, "column 'u', row 1: argument must be a string or a number; got dict"),
    ],
)
def test_a_cell_that_is_no_value_is_named(cell, message):
    with pytest.raises(TypeError, match=message):
        read_values(["a", cell], "u")


def test_a_lazy_frame_is_told_to_collect():
    pl = pytest.importorskip("polars", reason="lazy frames come from polars")
    with pytest.raises(TypeError, match=r"a LazyFrame holds no rows yet; call its collect\(\) first"):
        read_table(pl.DataFrame({"u": [1]}).lazy())


def test_columns_with_two_headings_are_called_by_both():
    pd = pytest.importorskip("pandas", reason="such columns come from pandas")
    frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")]))
    source = read_table(frame)
    assert source.names == ("('a', 'b')", "('a', 'c')")
    assert not source.named


@pytest.mark.parametrize("rows", [[[10**30], [10**30 + 1]], [[2**63], [2**63 + 1], [-1]]])
def test_rows_of_whole_numbers_that_floats_cannot_tell_apart_are_refused(rows):
    with pytest.raises(TableError, match=r"column 'x0' holds .* which are one number among floats"):
        NaiveBayes(kinds="categorical").fit(rows, range(len(rows)))


@pytest.mark.parametrize(
    "pair",
    [(2**63 + 5, 2**63 + 6), (-(2**64), -(2**64) - 2**20), (10**30, 5)],
)
def test_levels_beyond_64_bits_count_as_any_others(pair):
    rows = np.array([[level] for level in pair] * 2, dtype=np.uint64 if pair[1] > 2**63 else object)
    # By hand: (2 + 1) / (2 + 2) with Laplace's pseudo-count, and even classes.
    answer = NaiveBayes(kinds="categorical").fit(rows, [0, 1, 0, 1]).predict_proba(rows[:2])
    np.testing.assert_allclose(answer, [[0.75, 0.25], [0.25, 0.75]], rtol=1e-12)


def test_a_column_is_found_by_its_name_without_a_search_through_all_names():
    # 100,000 names: each search would look at 50,000 of them.
    source = read_table({f"c{j}": [j, j + 1] for j in range(2000)})
    assert list(source.place) == list(source.names)
    assert [source.named_column(name).values.tolist() for name in ("c0", "c1999")] == [[0, 1], [1999, 2000]]
