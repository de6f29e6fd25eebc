"""Shared by all engines: groups of pieces are sent to workers, and the parts come back in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from bayeskit.errors import BayeskitError
from bayeskit.table.scan.pieces import PieceReader

T = TypeVar("T")

# Tasks for each core of the workers: few enough parts to merge, and no core waits long for the last one.
_TASKS_PER_CORE = 4


def groups_of(readers: Sequence[PieceReader], n_cores: int) -> list[list[PieceReader]]:
    """Return groups of consecutive pieces, one per task.

    >>> [len(group) for group in groups_of(list(range(10)), n_cores=1)]
    [2, 3, 2, 3]
    """
    n = min(len(readers), max(1, n_cores) * _TASKS_PER_CORE)
    borders = [k * len(readers) // n for k in range(n + 1)] if n else [0]
    return [list(readers[low:high]) for low, high in pairwise(borders)]


@dataclass(frozen=True)
class Scorer:
    """Adds the model's predictions to each batch of a worker as additional columns."""

    model: Any
    probabilities: bool

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with the most probable class, and P(c | x) of each class if requested."""
        classes = self.model.classes_
        posterior = np.empty((0, len(classes)))
        if batch.num_rows:
            posterior = self.model.predict_proba(pa.Table.from_batches([batch]))
        answers = [classes[posterior.argmax(axis=1)].tolist(), *(posterior.T if self.probabilities else [])]
        fields = self.fields()
        columns = [pa.array(answer, field.type) for answer, field in zip(answers, fields, strict=True)]
        schema = pa.schema([*batch.schema, *fields])
        return pa.RecordBatch.from_arrays([*batch.columns, *columns], schema=schema)

    @property
    def name(self) -> str:
        """The name of the column with the predicted class."""
        return f"{self.model.target_ or 'class'}_predicted"

    def fields(self) -> list[pa.Field]:
        """Return the new columns."""
        kind = pa.array(self.model.classes_.tolist()).type
        fields = [pa.field(self.name, kind)]
        if self.probabilities:
            fields += [pa.field(f"P({label})", pa.float64()) for label in self.model.classes_.tolist()]
        return fields

    def batches(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Predict batch by batch."""
        return map(self, batches)


def mean_of(right: Sequence[tuple[int, int]]) -> float:
    """Return the accuracy from pairs (correct rows, all rows)."""
    n = sum(all_rows for _, all_rows in right)
    if not n:
        raise BayeskitError("there is no row with a label, so there is no score.")
    return sum(hits for hits, _ in right) / n


def hits(model: Any, target: str) -> Callable[[pa.RecordBatch], tuple[int, int]]:
    """Return a function that counts, in a batch, the correctly predicted rows and the labelled rows."""
    return _Hits(model, target)


@dataclass(frozen=True)
class _Hits:
    model: Any
    target: str

    def __call__(self, batch: pa.RecordBatch) -> tuple[int, int]:
        table = pa.Table.from_batches([batch])
        table = table.filter(pa.compute.is_valid(table[self.target]))
        if not table.num_rows:
            return 0, 0
        truth = table[self.target].to_pylist()
        found = self.model.predict(table.drop_columns([self.target])).tolist()
        return sum(a == b for a, b in zip(found, truth, strict=True)), len(truth)


def refuse_bare_worker(error: BaseException, engine: str) -> None:
    """Raise a short error where an engine's long message says that its workers have no bayeskit."""
    if "No module named 'bayeskit'" in str(error):
        raise BayeskitError(
            f"the {engine} workers have no bayeskit: install it in the environment that they run in."
        ) from error
