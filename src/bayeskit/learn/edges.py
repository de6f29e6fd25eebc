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

    @classmethod
    def joined(cls, parts: Sequence[NumberCells]) -> NumberCells:
        """Return the numbers of all parts."""
        names = ("values", "labels", "weight", "keys")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __add__(self, other: NumberCells) -> NumberCells:
        return self.joined([self, other])

    def __getitem__(self, rows: NDArray[Any]) -> NumberCells:
        return NumberCells(self.values[rows], self.labels[rows], self.weight[rows], self.keys[rows])

    def tallied(self) -> NumberCells | None:
        """Join equal pairs of number and class and add their weights; None where there are too many."""
        if len(self.values) > _MOST_DISTINCT:
            ordered = np.sort(self.values)  # quicker than the order of pairs, and enough where few numbers repeat
            if np.count_nonzero(ordered[1:] != ordered[:-1]) >= _MOST_DISTINCT:
                return None
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


class _Growing:
    """The numbers of one column while batches are read: few rows of a batch can still come into the sample."""

    def __init__(self) -> None:
        self._parts: list[NumberCells] = []
        self._waiting = 0  # rows since the sample was last cut to size
        self._below = 2**64 - 1  # the largest key that a row of the sample can have
        self._tally: NumberCells | None = None
        self._overflowed = False

    def add(self, cells: NumberCells) -> None:
        """Add the cells of a batch, of which some may be NaN."""
        if not self._overflowed:
            tally = _known(cells).tallied()
            if self._tally is not None and tally is not None:
                tally = (self._tally + tally).tallied()
            self._tally, self._overflowed = tally, tally is None
        near = np.flatnonzero(cells.keys <= np.uint64(self._below))
        near_cells = _known(cells if len(near) == len(cells.keys) else cells[near])
        self._parts.append(near_cells)
        self._waiting += len(near_cells.keys)
        if self._waiting > _SAMPLED:
            self._cut_to_size()

    def _cut_to_size(self) -> None:
        sample = NumberCells.joined(self._parts).sampled()
        self._parts, self._waiting = [sample], 0
        if len(sample.keys) == _SAMPLED:
            self._below = int(sample.keys.max())

    def move(self, place: NDArray[np.int64]) -> None:
        """Renumber the classes."""
        self._parts = [replace(part, labels=place[part.labels]) for part in self._parts]
        self._tally = None if self._tally is None else replace(self._tally, labels=place[self._tally.labels])

    @property
    def seen(self) -> tuple[NumberCells | None, NumberCells]:
        """The tally, and the sample."""
        self._cut_to_size()
        return self._tally, self._parts[0]


@dataclass(frozen=True)
class _Look:
    plan: Plan
    places: tuple[int, ...]
    word: tuple[str, ...]
    seed: int

    def __call__(self, readers: Iterable[PieceReader]) -> SeenNumbers:
        classes: NDArray[Any] | None = None
        columns = [_Growing() for _ in self.places]
        for reader in readers:
            row = 0
            for rows in self.plan.rows([reader]):
                known = rows.classes if classes is None else union_classes(classes, rows.classes)
                if classes is not None and known is not classes:
                    for column in columns:
                        column.move(np.searchsorted(known, classes))
                classes = known
                self._add(rows, np.searchsorted(known, rows.classes), columns, reader.number, row)
                row += rows.source.n_rows
        if classes is None:
            return SeenNumbers(None, (), ())
        tallies, samples = zip(*(column.seen for column in columns), strict=True)
        return SeenNumbers(classes, tallies, samples)

    def _add(self, rows: Any, to_class: NDArray[np.int64], columns: list[_Growing], piece: int, first: int) -> None:
        keys = row_keys(self.seed, piece, first, rows.source.n_rows)
        weight = np.ones(len(keys)) if rows.weight is None else rows.weight
        labels = to_class[rows.y]
        for j, word, column in zip(self.places, self.word, columns, strict=True):
            name = rows.source.names[j]
            numbers = np.asarray(as_numbers(rows.source.column(j), name, word), dtype=np.float64)
            refuse_infinite(numbers, name)
            column.add(NumberCells(numbers, labels, weight, keys))


def _known(cells: NumberCells) -> NumberCells:
    """Return the cells that hold a number, with 0 for the zero below 0."""
    known = np.flatnonzero(~np.isnan(cells.values))
    cells = cells[known] if len(known) < len(cells.values) else cells
    return replace(cells, values=cells.values + 0.0)


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
        if (cells.weight != np.floor(cells.weight)).any():
            # Sums of fractions depend on the order, which must not be that in which parts were merged.
            cells = cells[np.lexsort((cells.labels, cells.values))]
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
