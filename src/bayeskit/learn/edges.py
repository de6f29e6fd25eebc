"""Bins of columns that do not fit in memory: exact where the numbers repeat, otherwise of rounded numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import tally_numbers
from bayeskit.counts.class_labels import union_classes
from bayeskit.errors import warn_caller
from bayeskit.kinds import FitContext, words
from bayeskit.learn.plan import Pass, Plan
from bayeskit.table.column import Numbers
from bayeskit.table.encode import as_numbers, refuse_infinite
from bayeskit.table.scan.pieces import PieceReader
from bayeskit.table.schema import Variable

# Distinct pairs of number and class that are kept of a column; of a column with more, numbers are rounded.
_MOST_CELLS = 1 << 17
# Cells that are collected before they are counted: tallies of many are added less often.
_WAITING = 1 << 23
# Numbers that are looked at to see how much must be rounded.
_LOOKED_AT = 1 << 19


@dataclass(frozen=True)
class Tally:
    """How often each number of a column occurs with each class; where there are too many, numbers are rounded.

    Rounding drops the last ``level`` bits of a number, and the level is the least with which the pairs of number and
    class fit. It follows from the numbers alone: parts that are added in any order give the same tally, since a part
    never needs a higher level than the whole.
    """

    level: int
    values: NDArray[np.float64]  # rounded toward zero
    labels: NDArray[np.int64]
    rounded: NDArray[np.bool_]  # whether the numbers of a cell lost something by rounding
    weight: NDArray[np.float64]

    @classmethod
    def of(
        cls, values: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None, level: int = 0
    ) -> Tally:
        """Count numbers that are all known, at this level or the least higher one at which they fit."""
        values = np.ascontiguousarray(values, dtype=np.float64)
        if not level and len(values) > _MOST_CELLS:
            level = _lowest_level(values[:_LOOKED_AT], labels[:_LOOKED_AT])
        return cls(*tally_numbers(values, labels.astype(np.int64, copy=False), None, weight, level, _MOST_CELLS))

    def __add__(self, other: Tally) -> Tally:
        values, labels, rounded, weight = (
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("values", "labels", "rounded", "weight")
        )
        level = max(self.level, other.level)
        return Tally(*tally_numbers(values, labels, rounded, weight, level, _MOST_CELLS))

    def under(self, place: NDArray[np.int64]) -> Tally:
        """Return the tally with other numbers for the classes."""
        return Tally(self.level, self.values, place[self.labels], self.rounded, self.weight)

    @property
    def error(self) -> float:
        """The largest share of rows that one rounded number stands for: how wrong the rank of a cut can be."""
        if not self.level or not self.rounded.any():
            return 0.0
        _, place = np.unique(self.values, return_inverse=True)
        return float(np.bincount(place, self.weight * self.rounded).max() / self.weight.sum())


def _lowest_level(values: NDArray[np.float64], labels: NDArray[Any]) -> int:
    """Return a level below which there are too many pairs of number and class: counting can begin with it.

    Where all numbers can be kept it is 0; the level at which they fit may be higher, never lower.
    """
    # The class stands before the number, and takes the place of the bits that are lost first.
    least = int(labels.max()).bit_length()
    kept, group = np.uint64(64 - least), labels.astype(np.uint64)
    # With one class the whole number is kept, and no shift by 64 is asked for.
    bits = np.sort((values.view(np.uint64) >> np.uint64(least)) | (group << kept if least else group))
    changed = bits[1:] ^ bits[:-1]
    # The place of the highest bit in which neighbours differ; without the bit behind it, none is rounded up.
    highest = np.frexp((changed & ~(changed >> np.uint64(1))).astype(np.float64))[1]
    distinct = 1 + np.cumsum(np.bincount(highest, minlength=65)[:0:-1])[::-1]  # at levels least, least + 1, …
    enough = distinct <= _MOST_CELLS + 1 + int(labels.max())  # a zero with each class may be two
    level = int(np.argmax(enough)) if enough[-1] else 63
    return min(level + least, 63) if level else 0


@dataclass(frozen=True)
class SeenNumbers:
    """The numbers of the columns to be binned: how often each occurs with each class."""

    classes: NDArray[Any] | None
    tallies: tuple[Tally, ...]

    def plus(self, other: SeenNumbers) -> SeenNumbers:
        """Return the union of both."""
        if self.classes is None or other.classes is None:
            return other if self.classes is None else self
        classes = union_classes(self.classes, other.classes)
        places = [np.searchsorted(classes, each.classes) for each in (self, other)]  # type: ignore[arg-type]
        pairs = zip(self.tallies, other.tallies, strict=True)
        return SeenNumbers(classes, tuple(a.under(places[0]) + b.under(places[1]) for a, b in pairs))


class _Growing:
    """The numbers of one column while batches are read; they are counted when enough have come."""

    def __init__(self, most_waiting: int) -> None:
        self._most_waiting = most_waiting
        self._waiting: list[tuple[NDArray[np.float64], NDArray[Any], NDArray[np.float64] | None]] = []
        self._n_waiting = 0
        self._tally: Tally | None = None

    def add(self, values: NDArray[np.float64], labels: NDArray[Any], weight: NDArray[np.float64] | None) -> None:
        """Add the cells of a batch, of which some may be NaN."""
        known = np.flatnonzero(~np.isnan(values))
        if len(known) < len(values):
            values, labels, weight = values[known], labels[known], None if weight is None else weight[known]
        self._waiting.append((values, labels, weight))
        self._n_waiting += len(values)
        if self._n_waiting >= self._most_waiting:
            self._count()

    def _count(self) -> None:
        if not self._waiting:
            return
        values = np.concatenate([each[0] for each in self._waiting])
        labels = np.concatenate([each[1] for each in self._waiting])
        weights = [each[2] for each in self._waiting if each[2] is not None]
        weight = np.concatenate(weights) if weights else None
        tally = Tally.of(values, labels, weight, 0 if self._tally is None else self._tally.level)
        self._tally = tally if self._tally is None else self._tally + tally
        self._waiting, self._n_waiting = [], 0

    def move(self, place: NDArray[np.int64]) -> None:
        """Renumber the classes."""
        self._count()
        self._tally = None if self._tally is None else self._tally.under(place)

    @property
    def tally(self) -> Tally:
        """All that was added."""
        self._count()
        assert self._tally is not None
        return self._tally


@dataclass(frozen=True)
class _Look:
    plan: Plan
    places: tuple[int, ...]
    word: tuple[str, ...]

    def __call__(self, readers: Iterable[PieceReader]) -> SeenNumbers:
        classes: NDArray[Any] | None = None
        columns = [_Growing(max(1 << 17, _WAITING // len(self.places))) for _ in self.places]
        for rows in self.plan.rows(readers):
            known = rows.classes if classes is None else union_classes(classes, rows.classes)
            if classes is not None and len(known) > len(classes):
                for column in columns:
                    column.move(np.searchsorted(known, classes))
            classes = known
            self._add(rows, np.searchsorted(known, rows.classes), columns)
        if classes is None:
            return SeenNumbers(None, ())
        return SeenNumbers(classes, tuple(column.tally for column in columns))

    def _add(self, rows: Any, to_class: NDArray[np.int64], columns: list[_Growing]) -> None:
        labels = to_class[rows.y]
        for j, word, column in zip(self.places, self.word, columns, strict=True):
            name = rows.source.names[j]
            numbers = np.asarray(as_numbers(rows.source.column(j), name, word), dtype=np.float64)
            refuse_infinite(numbers, name)
            column.add(numbers, labels, rows.weight)


def collect_numbers(plan: Plan, places: Sequence[int], asked: Sequence[str]) -> Pass:
    """Return the pass that collects the numbers of the columns to be binned."""
    return _Look(plan, tuple(places), tuple(asked)), SeenNumbers.plus


def cut(seen: SeenNumbers, names: Sequence[str], asked: Sequence[str], bins: int) -> list[Variable]:
    """Bin each column by its method; warn of those whose numbers were rounded, with the error of their quantiles."""
    variables, rounded = [], {}
    for tally, name, word in zip(seen.tallies, names, asked, strict=True):
        if error := tally.error:
            rounded[name] = error
        if not len(tally.values):
            variables.append(Variable(name, "unknown"))
            continue
        order = np.lexsort((tally.labels, tally.values))  # sums of fractions depend on the order, which is then one
        training = FitContext(bins, tally.labels[order], tally.weight[order])
        variables += words()[word].learn([Numbers(tally.values[order])], [name], word, training)
    if rounded:
        shown = f"{', '.join(map(repr, list(rounded)[:5]))}{' …' if len(rounded) > 5 else ''}"
        warn_caller(
            f"the bins of {shown} are cut between rounded numbers, since there are more than {_MOST_CELLS:,} pairs of "
            f"number and class; the share of rows below a cut is right to {100 * max(rounded.values()):.2g} %."
        )
    return variables
