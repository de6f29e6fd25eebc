"""Counts of numbers: parts add up to the whole, bins included; what was added can be taken away again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from bayeskit import NaiveBayes
from bayeskit.counts import numbers as module
from bayeskit.counts.numbers import EXACT, NumberCounts
from bayeskit.errors import MergeError, ModelFileError

FEW = 6

any_number = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([0.0, -0.0, 0.1, 0.3, 1e9, 1e-320])
rows = st.lists(st.tuples(any_number | st.just(np.nan), st.integers(0, 1)), max_size=30)


@pytest.fixture(autouse=True)
def few(monkeypatch):
    monkeypatch.setattr(module, "MOST_NUMBERS", FEW)


def count(pairs):
    x = np.array([x for x, _ in pairs], dtype=float)
    return NumberCounts.of([x, None], np.array([c for _, c in pairs], dtype=np.uint8), 2)


def assert_same(a, b):
    for mine, theirs in zip(vars(a).values(), vars(b).values(), strict=True):
        assert_array_equal(mine, theirs, strict=True)


@given(rows, rows)
@settings(max_examples=300, deadline=None)
def test_counts_of_two_parts_add_up_to_those_of_the_whole_bins_included(a, b):
    assert_same(count(a) + count(b), count(a + b))


@given(rows, rows)
@settings(max_examples=200, deadline=None)
def test_what_was_added_can_be_taken_away_and_the_bins_stay(a, b):
    whole = count(a + b)
    left = whole - count(b)
    assert left.exponent[0] == whole.exponent[0]
    known = np.array([x for x, _ in a if x == x])
    classes = np.array([c for x, c in a if x == x], dtype=int)
    assert_array_equal(left.n.sum(axis=0), np.bincount(classes, minlength=2))
    if left.exponent[0] == EXACT:
        assert_same(left, count(a))
    elif len(known):
        width = whole.width(0)
        nearest = np.abs(known[:, None] / 2 - left.values / 2).min(axis=1)  # halves, whose differences do not overflow
        assert (nearest <= width / 4).all()


@given(rows)
@settings(max_examples=200, deadline=None)
def test_bins_are_the_narrowest_of_which_there_are_few_enough(pairs):
    counts = count(pairs)
    values = np.unique([x for x, _ in pairs if x == x])
    assert len(counts.values) <= FEW
    if len(values) <= FEW:
        assert counts.exponent[0] == EXACT
        assert_array_equal(counts.values, values)
    else:
        k = int(counts.exponent[0])
        bins = {int(np.floor(np.longdouble(x) / np.longdouble(2.0) ** k)) for x in values}
        assert len(bins) == len(counts.values)
        narrower = {np.floor(np.longdouble(x) / np.longdouble(2.0) ** (k - 1)) for x in values}
        assert len(narrower) > FEW


@given(rows)
@settings(max_examples=60, deadline=None)
def test_counts_come_back_from_their_parts(pairs):
    counts = count(pairs)
    assert_same(NumberCounts.from_parts(counts.to_parts(), 2, 2, np.int64), counts)


def test_weights_are_added_up():
    y = np.zeros(3, dtype=np.uint8)
    counts = NumberCounts.of([np.array([1.0, 1.0, 2.0])], y, 1, np.array([0.5, 2.0, 3.0]))
    assert_array_equal(counts.n, [[2.5], [3.0]])
    assert_array_equal(counts.n_known(), [[5.5]])


def test_rows_that_were_never_counted_cannot_be_taken_away():
    with pytest.raises(MergeError, match="one of their numbers never occurred"):
        count([(1.0, 0)]) - count([(2.0, 0)])
    with pytest.raises(MergeError, match="a count would become negative"):
        count([(1.0, 0)]) - count([(1.0, 1)])
    with pytest.raises(MergeError, match="do not fit"):
        count([(1.0, 0)]) + NumberCounts.none(2, 3)


def test_a_wider_table_holds_the_same_counts():
    wide = count([(1.0, 0), (2.0, 1)]).remap(3, np.array([1, 2]), 3, np.array([0, 2]))
    assert_array_equal(wide.column(1)[1], [[1, 0, 0], [0, 0, 1]])
    assert [len(wide.column(j)[0]) for j in range(3)] == [0, 2, 0]


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("number_values", [2.0, 1.0]),
        ("number_values", [1.0, np.inf]),
        ("number_counts", [[1, 0], [-1, 0]]),
        ("number_offsets", [0, 3, 2]),
        ("number_exponents", [2000, 0]),
    ],
)
def test_parts_that_no_table_gives_are_refused(part, value):
    parts = count([(1.0, 0), (2.0, 1)]).to_parts()
    parts[part] = np.array(value, dtype=parts[part].dtype)
    with pytest.raises(ModelFileError):
        NumberCounts.from_parts(parts, 2, 2, np.int64)


def test_numbers_of_several_columns_come_back_from_a_file():
    counts = NaiveBayes(numeric="kde").fit({"x": [3.0, 4.0, 5.0], "y": [1.0, 2.0, 2.0]}, ["a", "b", "b"]).counts_
    again = type(counts).from_parts(*counts.to_parts()).numbers
    for j in range(2):
        for ours, theirs in zip(again.column(j), counts.numbers.column(j), strict=True):
            assert ours.tolist() == theirs.tolist()
