"""Family counts add, subtract, grow and are refused when a file's sizes do not fit."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit.counts.families import FamilyCounts
from bayeskit.counts.memory import MemoryLimit, readable, table_bytes, table_cells
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitError, MergeError, ModelFileError, TooLargeError
from bayeskit.learn.counting import learn_counts
from bayeskit.table.encode import encode
from bayeskit.table.labels import read_labels
from bayeskit.table.read import read_table

X = {"a": ["x", "y", "x", "z"], "b": ["u", "u", "v", None], "c": ["p", "q", "q", "p"]}
Y = ["no", "yes", "no", "yes"]


def count(rows, kind="pairs", weight=None):
    table = read_table({name: [values[i] for i in rows] for name, values in X.items()})
    classes, codes = read_labels([Y[i] for i in rows])
    alone = learn_counts(table, codes, classes, weight)
    return FamilyCounts.of(alone, encode(table, alone.schema), codes, kind, weight)


def test_a_cell_is_the_number_of_rows_that_have_its_values():
    counts = count(range(4))
    table = counts.table((0, 1))  # a = x, y, z by b = u, v by class
    assert table[0, 0].tolist() == [1, 0]
    assert table[0, 1].tolist() == [1, 0]
    assert table[1, 0].tolist() == [0, 1]
    assert table[2].sum() == 0  # b is missing where a is z
    assert_array_equal(counts.table((1, 0)), table.transpose(1, 0, 2))
    assert_array_equal(counts.table((2, 0, 1)) if counts.kind == "triples" else table, table)


@pytest.mark.parametrize("kind", ["pairs", "triples", ((0,), (0, 1), (2, 1))])
def test_parts_add_up_to_the_whole_and_subtract_again(kind):
    whole, first, second = count(range(4), kind), count([0, 1], kind), count([2, 3], kind)
    assert_array_equal((first + second).cells, whole.cells)
    assert (first + second).schema == whole.schema
    back = whole - second
    assert_array_equal(back.cells, first.cells)
    assert back.schema == first.schema


def test_rows_that_were_never_counted_cannot_be_taken_away():
    with pytest.raises(MergeError, match="never"):
        count([0, 1]) - count([2, 3])
    # Each column alone would allow it; the pairs of the row were never seen together.
    all_rows, one = count([0, 1, 2]), count([0])
    swapped = FamilyCounts(one.alone, "pairs", one.families, one.cells * 2)
    with pytest.raises(MergeError, match="a count would become negative"):
        all_rows - swapped


def test_counts_of_more_rows_than_four_bytes_hold_get_longer():
    half = count(range(4))
    values = half.alone.values
    many = FamilyCounts(
        TableCounts(
            half.schema,
            half.classes,
            type(values)(values.n_class * 2**28, values.n_value * 2**28, values.offsets),
            half.alone.moments,
            half.alone.numbers,
        ),
        "pairs",
        half.families,
        (half.cells.astype(np.int64) * 2**28).astype(np.int32),
    )
    total = many + many
    assert total.cells.dtype == np.int64
    assert total.cells.max() == 2**29


def test_weighted_counts_are_sums_of_weights():
    counts = count(range(4), weight=np.array([0.5, 2.0, 1.5, 1.0]))
    assert counts.cells.dtype == np.float64
    assert counts.table((0, 1))[0, :, 0].tolist() == [0.5, 1.5]
    assert_array_equal((counts + counts - counts).cells, counts.cells)


def test_some_families_can_be_kept_out_of_all_pairs():
    pairs = count(range(4))
    kept = pairs.keep(((0,), (2, 0)))
    assert_array_equal(kept.table((2, 0)), pairs.table((2, 0)))
    assert kept.kind == "given"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("family_kind", "all"),
        ("family_kind", 3),
        ("families", [[0, 9]]),
        ("families", [[0, 0]]),
        ("families", [[]]),
        ("families", [["a"]]),
        ("families", [[0, 1, 2]]),
    ],
)
def test_a_file_whose_families_do_not_fit_is_refused(field, value):
    meta, arrays = count(range(4), ((0,), (0, 1))).to_parts()
    with pytest.raises(ModelFileError):
        FamilyCounts.from_parts({**meta, field: value}, arrays)


@pytest.mark.parametrize("cells", [[-1], [np.nan], np.ones(3), np.ones(12, dtype=np.uint8)])
def test_a_file_whose_counts_do_not_fit_is_refused(cells):
    meta, arrays = count(range(4), ((0,), (0, 1))).to_parts()
    broken = arrays["family_cells"].astype(float)
    broken[: len(cells)] = cells
    array = np.asarray(cells) if len(cells) > 1 else broken
    with pytest.raises(ModelFileError):
        FamilyCounts.from_parts(meta, {**arrays, "family_cells": array})


def test_sizes_are_said_in_words():
    sizes = [3, 1, 4, 1, 5, 9]
    pairs, triples = list(combinations(range(6), 2)), list(combinations(range(6), 3))
    assert table_cells(sizes, "pairs") == table_cells(sizes, pairs)
    assert table_cells(sizes, "triples") == table_cells(sizes, pairs + triples)
    assert readable(8_000_000) == "7.6 MiB"
    assert readable(2048) == "2.0 KiB"


TABLE = {"wind": ["weak", "strong", "weak", None], "sky": ["clear", "grey", "grey", "clear"], "t": [1.0, 2.0, 4.0, 8.0]}


def count_without_class(rows, families="pairs"):
    table = read_table({name: [column[i] for i in rows] for name, column in TABLE.items() if name != "t"})
    alone = learn_counts(table)
    return FamilyCounts.of(alone, encode(table, alone.schema), None, families)


def test_without_a_class_tables_have_no_axis_for_it():
    counts = count_without_class(range(4))
    assert not counts.alone.has_class
    assert counts.column(0).tolist() == [1, 2]
    assert counts.table((0, 1)).tolist() == [[0, 1], [1, 1]]
    assert counts.table((1, 0)).tolist() == [[0, 1], [1, 1]]
    with pytest.raises(BayeskitError, match="counts are of a table without a class"):
        _ = counts.classes


def test_without_a_class_moments_are_those_of_all_rows():
    counts = learn_counts(read_table(TABLE))
    assert counts.n_rows == 4
    assert counts.moments.mean.tolist() == [[3.75]]
    assert counts.moments.scatter.tolist() == [[np.var(TABLE["t"]) * 4]]


def test_counts_without_a_class_are_those_with_one_summed_over_it():
    table = read_table({name: column for name, column in TABLE.items() if name != "t"})
    y, classes = np.array([0, 1, 1, 0]), np.array(["no", "yes"])
    alone = learn_counts(table, y, classes)
    within = FamilyCounts.of(alone, encode(table, alone.schema), y, "pairs")
    assert_array_equal(count_without_class(range(4)).table((0, 1)), within.table((0, 1)).sum(axis=-1))


@pytest.mark.parametrize("families", ["pairs", ((0,), (1, 0))])
def test_counts_without_a_class_add_subtract_and_come_back_from_a_file(families):
    whole, first, rest = (count_without_class(rows, families) for rows in (range(4), [0], [1, 2, 3]))
    assert_array_equal((first + rest).cells, whole.cells)
    assert (first + rest).schema == whole.schema
    assert_array_equal((whole - rest).cells, first.cells)
    assert (whole - rest).schema == first.schema
    meta, arrays = whole.to_parts()
    again = FamilyCounts.from_parts(meta, arrays)
    assert_array_equal(again.cells, whole.cells)
    assert again.families == whole.families
    assert not again.alone.has_class


def test_counts_with_and_without_a_class_do_not_mix():
    within = count(range(4)).alone
    alone = learn_counts(read_table(X))
    for refused in (lambda: within + alone, lambda: alone + within, lambda: within - alone, lambda: alone - within):
        with pytest.raises(MergeError, match="within classes on one side and without a class on the other"):
            refused()


def test_files_from_before_the_class_was_optional_have_one():
    meta, arrays = count(range(4)).to_parts()
    del meta["has_class"]
    assert FamilyCounts.from_parts(meta, arrays).classes.tolist() == count(range(4)).classes.tolist()


def test_weights_that_add_up_to_a_rounded_sum_leave_nothing_when_they_are_taken_away():
    weight = np.array([0.1, 0.2, 0.3, 0.7])
    whole = count(range(4), "pairs", weight) + count([0, 1], "pairs", weight[:2])
    rest = whole - count([0, 1], "pairs", weight[:2]) - count(range(4), "pairs", weight)
    assert not rest.cells.any()
    assert (count(range(4)) - count([0])).cells.dtype.kind == "i"


def test_memory_that_is_in_use_beside_the_counts_counts_too():
    counts = count(range(4))
    sizes, known = [3, 2, 2], (2, "pairs", counts.schema)
    need = table_bytes(table_cells(sizes, "pairs")[1], 2, weighted=False)
    MemoryLimit(need + 100).refuse_too_large(sizes, *known, beside=100)
    with pytest.raises(TooLargeError, match="in use at once"):
        MemoryLimit(need + 99).refuse_too_large(sizes, *known, beside=100)


def test_sums_of_weights_come_back_from_a_file():
    counts = count(range(4), "pairs", np.array([0.5, 1.0, 2.0, 0.25]))
    assert_array_equal(FamilyCounts.from_parts(*counts.to_parts()).cells, counts.cells)
