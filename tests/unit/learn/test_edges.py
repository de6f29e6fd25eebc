"""The numbers of columns to be binned: tallies while they are small, and the same sample however rows are split."""

from collections import Counter
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit.learn import edges
from bayeskit.learn.edges import NumberCells, SeenNumbers, collect_numbers
from bayeskit.table.read import read_table
from bayeskit.table.scan.row_keys import row_keys

RNG = np.random.default_rng(0)
NUMBERS = RNG.integers(0, 30, 400) / 2.0
NUMBERS[::7] = np.nan
NUMBERS[1] = -0.0
LABELS = RNG.choice(["a", "b", "c"], 400)


class FakePlan:
    """The batches of some pieces, as a plan reads them: labelled rows."""

    def __init__(self, batches):
        self.batches = batches  # piece → slices

    def rows(self, readers):
        for reader in readers:
            for part in self.batches[reader.number]:
                classes, y = np.unique(LABELS[part], return_inverse=True)
                source = read_table({"x": NUMBERS[part]})
                yield SimpleNamespace(source=source, classes=classes, y=y, weight=None)


def seen(batches, pieces=None):
    look, _ = collect_numbers(FakePlan(batches), [0], ["equal-frequency"])
    return look([SimpleNamespace(number=number) for number in (batches if pieces is None else pieces)])


def pairs(cells, classes):
    return Counter(
        dict(
            zip(
                zip(cells.values.tolist(), classes[cells.labels].tolist(), strict=True),
                cells.weight.tolist(),
                strict=True,
            )
        )
    )


@pytest.mark.parametrize("cuts", [[0, 400], [0, 3, 90, 400]])
def test_a_tally_counts_each_pair_of_number_and_class(cuts):
    found = seen({0: [slice(a, b) for a, b in pairwise(cuts)]})
    known = ~np.isnan(NUMBERS)
    expected = Counter(zip((NUMBERS[known] + 0.0).tolist(), LABELS[known].tolist(), strict=True))
    assert pairs(found.tallies[0], found.classes) == expected
    assert not np.signbit(found.tallies[0].values).any()


def test_parts_of_different_classes_are_joined_under_all_classes():
    order = np.argsort(LABELS, kind="stable")
    halves = {0: [order[:150]], 1: [order[150:]]}
    found = seen(halves, [0]).plus(seen(halves, [1]))
    whole = seen(halves)
    assert found.classes.tolist() == whole.classes.tolist() == ["a", "b", "c"]
    assert pairs(found.tallies[0], found.classes) == pairs(whole.tallies[0], whole.classes)
    nothing = SeenNumbers(None, (), ())
    assert nothing.plus(found) is found
    assert found.plus(nothing) is found


def test_a_sample_has_the_smallest_keys_of_all_rows_whatever_the_batches(monkeypatch):
    monkeypatch.setattr(edges, "_SAMPLED", 40)
    monkeypatch.setattr(edges, "_MOST_DISTINCT", 10)
    known = np.flatnonzero(~np.isnan(NUMBERS))
    smallest = np.sort(row_keys(0, 0, 0, 400)[known])[:40]
    for cuts in ([0, 400], [0, 25, 50, 130, 400]):
        found = seen({0: [slice(a, b) for a, b in pairwise(cuts)]})
        assert found.tallies == (None,)  # more than ten different pairs
        assert_array_equal(np.sort(found.samples[0].keys), smallest)
    joined = found.plus(found)
    assert joined.tallies == (None,)
    assert len(joined.samples[0].keys) == 40


def test_a_column_of_exactly_as_many_numbers_as_are_counted_is_counted(monkeypatch):
    cells = NumberCells(
        np.repeat([1.0, 2.0, 3.0], 4), np.zeros(12, dtype=int), np.ones(12), np.arange(12, dtype=np.uint64)
    )
    monkeypatch.setattr(edges, "_MOST_DISTINCT", 3)
    assert cells.tallied().weight.tolist() == [4.0, 4.0, 4.0]
    monkeypatch.setattr(edges, "_MOST_DISTINCT", 2)
    assert cells.tallied() is None
