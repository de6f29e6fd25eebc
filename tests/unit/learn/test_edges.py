"""The numbers of columns to be binned: how often each occurs, rounded the same way however rows are split."""

from collections import Counter
from functools import reduce
from itertools import pairwise
from types import SimpleNamespace

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose

from bayeskit import TAN, scan
from bayeskit.learn import edges
from bayeskit.learn.edges import SeenNumbers, Tally, collect_numbers
from bayeskit.table.read import read_table
from bayeskit.table.scan.pieces import merge_tree

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
    nothing = SeenNumbers(None, ())
    assert nothing.plus(found) is found
    assert found.plus(nothing) is found


def test_numbers_are_rounded_by_as_few_bits_as_make_them_fit_however_rows_are_split(monkeypatch):
    rng = np.random.default_rng(1)
    numbers = np.concatenate([rng.normal(size=900), rng.normal(1e9, 1e-3, 900), [0.0, -0.0, 1e-300, -1e300, 5e-324]])
    labels = rng.integers(0, 3, len(numbers))
    monkeypatch.setattr(edges, "_MOST_CELLS", 200)
    whole = Tally.of(numbers, labels, None)
    # By brute force: the least number of bits with which at most 200 cells are left.
    bits = numbers.view(np.uint64)

    def cells(level):
        kept = [float(np.array(b >> level << level, dtype=np.uint64).view(np.float64)) + 0.0 for b in map(int, bits)]
        return Counter((k, int(c), k != x + 0.0) for k, c, x in zip(kept, labels, numbers.tolist(), strict=True))

    level = next(level for level in range(64) if len(cells(level)) <= 200)
    assert 0 < level == whole.level
    assert content(whole) == cells(level)
    order = rng.permutation(len(numbers))
    for parts in (np.array_split(order, 7), np.array_split(order[::-1], 300), [order[:1], order[1:]]):
        tallies = [Tally.of(numbers[rows], labels[rows], None) for rows in parts]
        for merged in (merge_tree(tallies, Tally.__add__), reduce(Tally.__add__, reversed(tallies))):
            assert merged.level == level
            assert content(merged) == content(whole)


def content(tally):
    names = ("values", "labels", "rounded", "weight")
    columns = [getattr(tally, name).tolist() for name in names]
    return Counter({cell[:3]: cell[3] for cell in zip(*columns, strict=True)})


def test_the_error_is_the_largest_share_of_rows_behind_one_rounded_number(monkeypatch):
    rng = np.random.default_rng(2)
    numbers = np.concatenate([np.zeros(5000), rng.uniform(1, 2, 5000)])  # half of them one number, which is exact
    monkeypatch.setattr(edges, "_MOST_CELLS", 65)
    tally = Tally.of(numbers, np.zeros(10_000, dtype=int), None)
    shares = np.histogram(numbers[5000:], np.linspace(1, 2, 65))[0] / 10_000
    assert tally.error == shares.max()
    monkeypatch.setattr(edges, "_MOST_CELLS", 1 << 17)
    assert Tally.of(numbers, np.zeros(10_000, dtype=int), None).error == 0


@pytest.mark.parametrize("method", ["equal-frequency", "mdl"])
def test_bins_of_rounded_numbers_do_not_depend_on_files_and_have_the_error_that_is_said(tmp_path, monkeypatch, method):
    rng = np.random.default_rng(3)
    play = rng.choice(["no", "yes"], 30_000)
    heat = rng.lognormal(3, 1, 30_000) + 4 * (play == "yes")
    table = pa.table({"heat": heat, "play": play})
    exact = TAN(numeric=method).fit(table, target="play").schema_["heat"].edges
    monkeypatch.setattr(edges, "_MOST_CELLS", 2000)
    found = []
    for n_files in (1, 7):
        folder = tmp_path / str(n_files)
        folder.mkdir()
        shuffled = table.take(rng.permutation(30_000))
        for k in range(n_files):
            part = shuffled.slice(k * 30_000 // n_files, (k + 1) * 30_000 // n_files - k * 30_000 // n_files)
            pq.write_table(part, folder / f"{k}.parquet", row_group_size=3000)
        for source in (scan(folder), scan(duckdb.from_arrow(shuffled))):
            with pytest.warns(UserWarning, match="the bins of 'heat' are cut between rounded numbers") as said:
                found.append(TAN(numeric=method).fit(source, target="play").schema_["heat"].edges)
    assert len(set(found)) == 1
    error = float(str(said[0].message).split("right to ")[1].split(" %")[0]) / 100
    assert error < 0.005
    if method == "equal-frequency":
        ranks, expected = (np.searchsorted(np.sort(heat), cuts) / 30_000 for cuts in (found[0], exact))
        assert_allclose(ranks, expected, atol=1.05 * error)


def test_a_column_of_exactly_as_many_numbers_as_are_counted_is_counted(monkeypatch):
    numbers, labels = np.repeat([1.0, 2.0, 3.0], 4), np.zeros(12, dtype=int)
    monkeypatch.setattr(edges, "_MOST_CELLS", 3)
    assert Tally.of(numbers, labels, None).weight.tolist() == [4.0, 4.0, 4.0]
    assert Tally.of(numbers, labels, np.full(12, 0.5)).weight.tolist() == [2.0, 2.0, 2.0]
    monkeypatch.setattr(edges, "_MOST_CELLS", 2)
    assert Tally.of(numbers, labels, None).level > 0


@pytest.mark.parametrize("n_classes", [1, 2, 3, 5])
def test_counting_begins_at_the_level_at_which_it_ends_and_never_above(monkeypatch, n_classes):
    # The start came from the numbers alone, so that many classes made the counting begin too low and round again.
    monkeypatch.setattr(edges, "_MOST_CELLS", 200)
    rng = np.random.default_rng(n_classes)
    for values in (rng.normal(size=3000), rng.integers(-3, 3, 3000) * 0.1, rng.exponential(size=3000) - 0.5):
        labels = rng.integers(0, n_classes, len(values))
        start = edges._lowest_level(values, labels)
        end = edges.tally_numbers(values, labels, None, None, 0, 200)[0]
        assert start <= end
        assert end - start <= 1  # a zero of each class and sign, and numbers that rounding leaves as they are
