"""Counts of all rows, fold by fold, for several models at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit.errors import BayeskitError
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.plan import Plan, total
from bayeskit.progress import Progress
from bayeskit.table.arrow import BatchReader
from bayeskit.table.scan.pieces import PieceReader, Scan
from bayeskit.workflow.fold_plan import ScanFolds


@dataclass(frozen=True)
class FoldCounts:
    """The counts of each plan in each fold; None where no row fell there, or where the plan was refused."""

    counts: tuple[tuple[Any, ...], ...]  # plan, fold
    refused: tuple[str, ...]  # of each plan, "" where it was not

    def plus(self, other: FoldCounts) -> FoldCounts:
        """Return the counts of both."""
        counts, refused = [], []
        for ours, theirs, why, whynot in zip(self.counts, other.counts, self.refused, other.refused, strict=True):
            said = why or whynot
            both: tuple[Any, ...] = (None,) * len(ours)
            if not said:
                try:
                    both = tuple(
                        b if a is None else a if b is None else a + b for a, b in zip(ours, theirs, strict=True)
                    )
                except BayeskitError as error:
                    said = str(error)
            counts.append(both)
            refused.append(said)
        return FoldCounts(tuple(counts), tuple(refused))


class _Growing:
    """The counts of each plan in each fold while rows are added."""

    def __init__(self, plans: Sequence[Plan], n_folds: int) -> None:
        self._plans, self._n_folds = plans, n_folds
        self._counted: list[list[Any]] = [[None] * n_folds for _ in plans]
        self._refused = [""] * len(plans)

    def add(self, fold: int, rows: Labelled) -> None:
        """Count rows of one fold."""
        for place, plan in enumerate(self._plans):
            counted = self._counted[place]
            if not self._refused[place]:
                try:
                    counted[fold] = plan.add(counted[fold], rows)
                except BayeskitError as error:
                    self._refused[place], self._counted[place] = str(error), [None] * self._n_folds

    @property
    def counts(self) -> FoldCounts:
        return FoldCounts(tuple(tuple(map(total, parts)) for parts in self._counted), tuple(self._refused))


def count_folds(parts: Iterable[Labelled], plans: Sequence[Plan]) -> FoldCounts:
    """Count the rows of a table in memory, which come fold by fold."""
    parts = list(parts)
    growing = _Growing(plans, len(parts))
    for fold, rows in enumerate(parts):
        if rows.source.n_rows:
            growing.add(fold, rows)
    return growing.counts


def count_folds_of_scan(
    scan: Scan, folds: ScanFolds, plans: Sequence[Plan], progress: Progress | None = None
) -> FoldCounts:
    """Count all rows of a scan in one pass."""
    return scan.run(_CountFolds(tuple(plans), folds), FoldCounts.plus, progress)


@dataclass(frozen=True)
class _CountFolds:
    plans: tuple[Plan, ...]
    folds: ScanFolds

    def __call__(self, readers: Iterable[PieceReader]) -> FoldCounts:
        growing, reader = _Growing(self.plans, self.folds.n), BatchReader()
        for piece in readers:
            first = 0
            for batch in reader.joined(piece):
                rows, known = self.plans[0].labelled(batch, reader) if batch.num_rows else (None, None)
                if rows is not None:
                    part = self.folds.of_batch(batch, piece.number, first)[known]
                    for fold in range(self.folds.n):
                        some = np.flatnonzero(part == fold)
                        if len(some):
                            growing.add(fold, rows.take(some))
                first += batch.num_rows
        return growing.counts
