"""Counts of parts add up to the counts of the whole, and subtract again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit.errors import MergeError
from bayeskit.learn.counting import learn_counts
from bayeskit.table.labels import read_labels
from bayeskit.table.read import read_table
from laws.tables import KINDS, rows, tables

# The law for moments; integer counts are compared exactly.
ROUNDING = 1e-12


def count(table, y, weight=None, like=None):
    classes, codes = read_labels(y)
    source = read_table(table)
    kinds = {name: kind for name, kind in KINDS.items() if name in source.names}
    return learn_counts(source, codes, classes, weight, kinds, like=like)


def assert_same(a, b, scale=1.0):
    assert a.schema == b.schema
    assert a.classes.tolist() == b.classes.tolist()
    assert_array_equal(a.n_class, b.n_class)
    assert_array_equal(a.values.n_value, b.values.n_value)
    assert_array_equal(a.moments.weight, b.moments.weight)
    assert_allclose(a.moments.mean, b.moments.mean, rtol=ROUNDING, atol=ROUNDING * scale)
    assert_allclose(a.moments.scatter, b.moments.scatter, rtol=ROUNDING, atol=ROUNDING * scale**2)


@given(tables(min_rows=2), st.data())
@settings(max_examples=50, deadline=None)
def test_counts_of_two_parts_add_up_to_counts_of_the_whole(data, draw):
    table, y = data
    cut = draw.draw(st.integers(1, len(y) - 1))
    first, rest = range(cut), range(cut, len(y))
    whole = count(table, y)
    a = count(rows(table, first), y[:cut])
    b = count(rows(table, rest), y[cut:], like=a.schema)
    assert_same(a + b, whole, scale=100)


@given(tables(min_rows=2), st.data())
@settings(max_examples=50, deadline=None)
def test_taking_a_part_away_leaves_the_counts_of_the_other(data, draw):
    table, y = data
    cut = draw.draw(st.integers(1, len(y) - 1))
    whole = count(table, y)
    a = count(rows(table, range(cut)), y[:cut], like=whole.schema).narrow()
    b = count(rows(table, range(cut, len(y))), y[cut:], like=whole.schema)
    left = whole - b
    assert_array_equal(left.n_class, a.n_class)
    assert left.classes.tolist() == a.classes.tolist()
    for j, variable in enumerate(a.schema):
        if variable.kind != "unknown":
            assert left.schema[j] == variable
    sums = [dict(_cells(side)) for side in (left, a)]
    assert sums[0] == sums[1]
    if left.schema == a.schema:
        # Moments subtract accurately relative to the larger set.
        assert_allclose(left.moments.mean, a.moments.mean, atol=1e-11)
        assert_allclose(left.moments.scatter, a.moments.scatter, atol=1e-9)


def _cells(counts):
    for k, j in enumerate(counts.schema.discrete):
        for v, value in enumerate(counts.schema[j].values):
            for c, label in enumerate(counts.classes):
                n = counts.values.n_value[counts.values.offsets[k] + v, c]
                if n:
                    yield (counts.schema[j].name, value, label), n


def test_levels_and_classes_grow_to_their_sorted_union():
    both = count({"colour": ["b", "d"]}, ["y", "x"]) + count({"colour": ["c", "a"]}, ["z", "x"])
    assert both.schema["colour"].values == ("a", "b", "c", "d")
    assert both.classes.tolist() == ["x", "y", "z"]
    assert_array_equal(both.values.n_value, [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])


def test_declared_order_is_kept_and_new_values_follow_in_rising_order():
    pd = pytest.importorskip("pandas", reason="declared categories come from pandas")
    declared = pd.DataFrame({"size": pd.Categorical(["M"], categories=["S", "M", "L"], ordered=True)})
    both = count(declared, ["x"]) + count({"size": ["XL", "A"]}, ["x", "x"])
    assert both.schema["size"].values == ("S", "M", "L", "A", "XL")
    assert (count({"size": ["XL", "A"]}, ["x", "x"]) + count(declared, ["x"])).schema == both.schema


def test_a_column_without_values_takes_the_kind_of_the_other_side():
    empty, known = count({"height": [None, None]}, ["x", "y"]), count({"height": [1.0, 2.0]}, ["x", "y"])
    assert empty.schema["height"].kind == "unknown"
    for both in (empty + known, known + empty):
        assert both.schema["height"].kind == "gaussian"
        assert_array_equal(both.moments.weight, [[1, 1]])
        assert_array_equal(both.n_class, [2, 2])


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ({"u": ["a"]}, {"v": ["a"]}, "column 'u' on one side is column 'v'"),
        ({"u": ["a"]}, {"u": [1.5]}, "column 'u' is categorical on one side and gaussian"),
        ({"u": ["a"]}, {"u": ["a"], "v": ["b"]}, "one side has 1 columns and the other has 2"),
        ({"grade": ["a"]}, {"grade": [1]}, "column 'grade' holds text on one side and numbers"),
    ],
)
def test_what_cannot_be_one_column_is_refused_by_name(a, b, message):
    sides = [count(table, ["x"]) for table in (a, b)]
    with pytest.raises(MergeError, match=message):
        sides[0] + sides[1]
    with pytest.raises(MergeError, match=message):
        sides[0] - sides[1]


def test_labels_of_two_types_are_refused():
    with pytest.raises(MergeError, match="text and numbers do not mix"):
        count({"u": ["a"]}, ["x"]) + count({"u": ["a"]}, [1])


def test_rows_that_were_never_counted_cannot_be_taken_away():
    counts = count({"u": ["a", "b"], "h": [1.0, 2.0]}, ["x", "y"])
    with pytest.raises(MergeError, match="column 'u' never held 'c'"):
        counts - count({"u": ["c"], "h": [1.0]}, ["x"])
    with pytest.raises(MergeError, match="class 'z' was never counted"):
        counts - count({"u": ["a"], "h": [1.0]}, ["z"])
    with pytest.raises(MergeError, match="would become negative"):
        counts - count({"u": ["b"], "h": [1.0]}, ["x"])


@given(tables(min_rows=2, columns=("colour", "grade", "height")), st.data())
@settings(max_examples=40, deadline=None)
def test_sums_of_weights_add_to_rounding(data, draw):
    table, y = data
    weight = np.array(draw.draw(st.lists(st.floats(0.01, 5), min_size=len(y), max_size=len(y))))
    cut = draw.draw(st.integers(1, len(y) - 1))
    whole = count(table, y, weight)
    a = count(rows(table, range(cut)), y[:cut], weight[:cut])
    b = count(rows(table, range(cut, len(y))), y[cut:], weight[cut:], like=a.schema)
    both = a + b
    assert both.schema == whole.schema
    assert_allclose(both.n_class, whole.n_class, rtol=ROUNDING)
    assert_allclose(both.values.n_value, whole.values.n_value, rtol=ROUNDING)
    assert_allclose(both.moments.mean, whole.moments.mean, rtol=ROUNDING, atol=ROUNDING * 100)
    assert_allclose(both.moments.scatter, whole.moments.scatter, rtol=1e-11, atol=1e-10)
    left = whole - b
    assert left.classes.tolist() == a.classes.tolist()
    assert_allclose(left.n_class, a.n_class, rtol=ROUNDING)


def test_tiny_weights_survive_a_subtraction():
    weight = np.full(4, 1e-15)
    whole = count({"u": list("aabb")}, list("xyxy"), weight)
    left = whole - count({"u": ["a"]}, ["x"], weight[:1])
    assert_allclose(left.n_class, [1e-15, 2e-15], rtol=ROUNDING)
