"""Bins of columns that do not fit in memory: exact where the numbers repeat, otherwise from a sample of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.table import union_classes
from bayeskit.errors import warn_caller
from bayeskit.kinds import FitContext, words
from bayeskit.learn.plan import Pass, Plan
from bayeskit.table.column import Numbers
from bayeskit.table.encode import as_numbers, refuse_infinite
from bayeskit.table.scan.pieces import PieceReader
from bayeskit.table.scan.row_keys import row_keys
from bayeskit.table.schema import Variable

# Distinct pairs of number and class that are counted of a column; of a column with more, rows are sampled.
_MOST_DISTINCT = 1 << 16
# Rows of the sample of a column.
_SAMPLED = 1 << 17


@dataclass(frozen=True)
class NumberCells:
    """Numbers of one column, the class and the weight of each, and a random key."""

    values: NDArray[np.float64]
    labels: NDArray[np.int64]
    weight: NDArray[np.float64]
    keys: NDArray[np.uint64]

    def __add__(self, other: NumberCells) -> NumberCells:
        names = ("values", "labels", "weight", "keys")
        return NumberCells(*(np.concatenate([getattr(self, name), getattr(other, name)]) for name in names))

    def __getitem__(self, rows: NDArray[Any]) -> NumberCells:
        return NumberCells(self.values[rows], self.labels[rows], self.weight[rows], self.keys[rows])

    def tallied(self) -> NumberCells | None:
        """Join equal pairs of number and class and add their weights; None where there are too many."""
        order = np.lexsort((self.labels, self.values))
        cells = self[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (cells.values[1:] != cells.values[:-1]) | (cells.labels[1:] != cells.labels[:-1])
        starts = np.flatnonzero(new)
        if len(starts) > _MOST_DISTINCT:
            return None
        return replace(cells[starts], weight=np.add.reduceat(cells.weight, starts)) if len(starts) else cells

    def sampled(self) -> NumberCells:
        """Keep the cells with the smallest keys."""
        if len(self.keys) <= _SAMPLED:
            return self
        return self[np.argpartition(self.keys, _SAMPLED)[:_SAMPLED]]


@dataclass(frozen=True)
class SeenNumbers:
    """The numbers of the columns to be binned: the tally of each while it is small, and a sample.

    A cell's key depends only on the seed, the piece and the row. So the sample of the smallest keys is the
    same for any number of workers and any order in which their parts are merged.
    """

    classes: NDArray[Any] | None
    tallies: tuple[NumberCells | None, ...]
    samples: tuple[NumberCells, ...]

    def plus(self, other: SeenNumbers) -> SeenNumbers:
        """Return the union of both."""
        if self.classes is None or other.classes is None:
            return other if self.classes is None else self
        classes = union_classes(self.classes, other.classes)
        a, b = self._under(classes), other._under(classes)
        tallies = tuple(
            None if x is None or y is None else (x + y).tallied() for x, y in zip(a.tallies, b.tallies, strict=True)
        )
        samples = tuple((x + y).sampled() for x, y in zip(a.samples, b.samples, strict=True))
        return SeenNumbers(classes, tallies, samples)

    def _under(self, classes: NDArray[Any]) -> SeenNumbers:
        assert self.classes is not None
        place = np.searchsorted(classes, self.classes)

        def moved(cells: NumberCells | None) -> Any:
            return None if cells is None else replace(cells, labels=place[cells.labels])

        return SeenNumbers(classes, tuple(map(moved, self.tallies)), tuple(map(moved, self.samples)))


@dataclass(frozen=True)
class _Look:
    plan: Plan
    places: tuple[int, ...]
    word: tuple[str, ...]
    seed: int

    def __call__(self, readers: Iterable[PieceReader]) -> SeenNumbers:
        seen = SeenNumbers(None, (), ())
        for reader in readers:
            row = 0
            for rows, n_unlabelled in self.plan.rows([reader]):
                if rows is None:
                    row += n_unlabelled
                    continue
                n = rows.source.n_rows
                seen = seen.plus(self._of_batch(rows, row_keys(self.seed, reader.number, row, n)))
                row += n + n_unlabelled
        return seen

    def _of_batch(self, rows: Any, keys: NDArray[np.uint64]) -> SeenNumbers:
        weight = np.ones(len(keys)) if rows.weight is None else rows.weight
        found = []
        for j, word in zip(self.places, self.word, strict=True):
            name = rows.source.names[j]
            numbers = np.asarray(as_numbers(rows.source.column(j), name, word), dtype=np.float64)
            refuse_infinite(numbers, name)
            known = np.flatnonzero(~np.isnan(numbers))
            cells = NumberCells(numbers + 0.0, rows.y.astype(np.int64), weight, keys)
            found.append(cells[known] if len(known) < len(keys) else cells)
        return SeenNumbers(
            rows.classes, tuple(cells.tallied() for cells in found), tuple(cells.sampled() for cells in found)
        )


def collect_numbers(plan: Plan, places: Sequence[int], asked: Sequence[str], seed: int = 0) -> Pass:
    """Return the pass that collects the numbers of the columns to be binned."""
    return _Look(plan, tuple(places), tuple(asked), seed), SeenNumbers.plus


def cut(seen: SeenNumbers, names: Sequence[str], asked: Sequence[str], bins: int) -> list[Variable]:
    """Bin each column by its method; warn of those binned from a sample, with the error of their quantiles."""
    variables, sampled = [], []
    for tally, sample, name, word in zip(seen.tallies, seen.samples, names, asked, strict=True):
        cells = sample if tally is None else tally
        if tally is None and len(sample.keys) == _SAMPLED:
            sampled.append(name)
        if not len(cells.values):
            variables.append(Variable(name, "unknown"))
            continue
        order = np.lexsort((cells.labels, cells.values))
        cells = cells[order]
        training = FitContext(bins, cells.labels, cells.weight)
        variables += words()[word].learn([Numbers(cells.values)], [name], word, training)
    if sampled:
        # Dvoretzky–Kiefer–Wolfowitz: with probability .99 no rank is further off.
        error = sqrt(log(2 / 0.01) / (2 * _SAMPLED))
        warn_caller(
            f"the bins of {', '.join(map(repr, sampled[:5]))}{' …' if len(sampled) > 5 else ''} are cut by a sample of "
            f"{_SAMPLED:,} rows, since there are more than {_MOST_DISTINCT:,} different numbers; the share of rows "
            f"below a cut is right to {100 * error:.1f} % (with probability .99)."
        )
    return variables
