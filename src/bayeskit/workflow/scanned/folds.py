"""Counts of all rows of a scan, fold by fold, in one pass for all models."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError, TableError
from bayeskit.learn.plan import Plan, total
from bayeskit.progress import Progress
from bayeskit.table.arrow import BatchReader
from bayeskit.table.scan.pieces import PieceReader, Scan
from bayeskit.table.scan.sample import Sample, fold_keys
from bayeskit.workflow.fold_plan import FoldPlan
from bayeskit.workflow.folds import time_parts

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ScanFolds:
    """The fold of each row: by its random number, by the group that it is of, or by its time.

    It depends only on the row and these settings, not on other rows; so no row needs to be stored.
    """

    n: int
    seed: int
    how: str = "stratified"
    column: str = ""
    cuts: tuple[float, ...] = ()  # of time: where each stretch but the first begins

    @classmethod
    def of_plan(cls, plan: FoldPlan, seed: int, sample: Sample) -> ScanFolds:
        """Return the folds of a plan; stretches of time are cut where they have equal shares of the sample."""
        if plan.how != "time":
            return cls(plan.n, seed, plan.how, plan.column)
        times = _times(sample.table[plan.column], plan.column)
        parts = time_parts(times, plan.n)
        cuts = tuple(float(times[parts == k].min()) for k in range(1, int(parts.max()) + 1))
        return cls(len(cuts) + 1, seed, plan.how, plan.column, cuts)

    def of_sample(self, sample: Sample) -> NDArray[np.intp]:
        """Return the fold of each row of the sample."""
        return self._of(sample.table, sample.fold_keys)

    def of_batch(self, batch: pa.RecordBatch, piece: int, first: int) -> NDArray[np.intp]:
        """Return the fold of each row of a batch."""
        return self._of(batch, fold_keys(self.seed, piece, first, batch.num_rows))

    def _of(self, rows: Any, keys: NDArray[np.uint64]) -> NDArray[np.intp]:
        if self.how == "stratified":
            return (keys % np.uint64(self.n)).astype(np.intp)
        column = rows.column(rows.schema.get_field_index(self.column))
        if column.null_count:
            raise TableError(f"some row has no value of {self.column!r}, by which rows are assigned to folds.")
        if self.how == "time":
            return np.searchsorted(np.array(self.cuts), _times(column, self.column), side="right").astype(np.intp)
        return self._of_groups(column)

    def _of_groups(self, column: Any) -> NDArray[np.intp]:
        import pyarrow as pa

        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        chunks = coded.chunks if isinstance(coded, pa.ChunkedArray) else [coded]
        found = []
        for chunk in chunks:
            names = (f"{self.seed} {value}".encode() for value in chunk.dictionary.to_pylist())
            fold_of = [int.from_bytes(blake2b(name, digest_size=8).digest(), "little") % self.n for name in names]
            found.append(np.array(fold_of, dtype=np.intp)[np.asarray(chunk.indices)])
        return np.concatenate(found) if found else np.empty(0, dtype=np.intp)


def _times(column: Any, name: str) -> NDArray[np.float64]:
    import pyarrow as pa
    import pyarrow.compute as pc

    kind = column.type
    if pa.types.is_temporal(kind):
        column = pc.cast(pc.cast(column, pa.timestamp("us"), safe=False), pa.int64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise TableError(f"column {name!r} holds {kind}; folds in time need numbers or dates.", "date_order")
    return np.asarray(column, dtype=np.float64)


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


def count_folds(scan: Scan, plans: Sequence[Plan], folds: ScanFolds, progress: Progress | None = None) -> FoldCounts:
    """Count all rows of a scan in each fold, for several models in one pass."""
    return scan.run(_CountFolds(tuple(plans), folds), FoldCounts.plus, progress)


@dataclass(frozen=True)
class _CountFolds:
    plans: tuple[Plan, ...]
    folds: ScanFolds

    def __call__(self, readers: Iterable[PieceReader]) -> FoldCounts:
        counted: list[list[Any]] = [[None] * self.folds.n for _ in self.plans]
        refused = [""] * len(self.plans)
        reader = BatchReader()
        for piece in readers:
            first = 0
            for batch in piece:
                if batch.num_rows:
                    self._add(batch, piece.number, first, reader, counted, refused)
                first += batch.num_rows
        totals = tuple(
            (None,) * self.folds.n if why else tuple(map(total, parts))
            for parts, why in zip(counted, refused, strict=True)
        )
        return FoldCounts(totals, tuple(refused))

    def _add(
        self, batch: Any, piece: int, first: int, reader: BatchReader, counted: list[list[Any]], refused: list[str]
    ) -> None:
        rows, known = self.plans[0].labelled(batch, reader)
        if rows is None:
            return
        part = self.folds.of_batch(batch, piece, first)[known]
        for fold in range(self.folds.n):
            some = np.flatnonzero(part == fold)
            if not len(some):
                continue
            taken = rows.take(some)
            for place, plan in enumerate(self.plans):
                if not refused[place]:
                    try:
                        counted[place][fold] = plan.add(counted[place][fold], taken)
                    except BayeskitError as error:
                        refused[place], counted[place] = str(error), [None] * self.folds.n
