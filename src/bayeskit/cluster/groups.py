"""Shared by all engines: groups of pieces are sent to workers, and the parts come back in order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from bayeskit import errors
from bayeskit.errors import BayeskitError
from bayeskit.table.scan.pieces import PieceReader

T = TypeVar("T")

# Tasks for each core of the workers at the most: few enough parts to merge, and no core waits long for the last one.
_TASKS_PER_CORE = 4
# A task of fewer cells than this is shorter than a few tenths of a second, and what an engine does for a task weighs.
_CELLS_OF_A_TASK = 1 << 25


def groups_of(readers: Sequence[PieceReader], n_cores: int) -> list[list[PieceReader]]:
    """Return groups of consecutive pieces, one per task, with about the same number of rows each.

    There are as many tasks as cores, and up to four times as many where the table is large.

    >>> from types import SimpleNamespace
    >>> pieces = [SimpleNamespace(columns=["a"], piece=SimpleNamespace(n_rows=n)) for n in (9, 1, 1, 1, 9, 9)]
    >>> [len(group) for group in groups_of(pieces, n_cores=3)]
    [2, 3, 1]
    """
    sizes = [reader.piece.n_rows for reader in readers]
    most = max(1, n_cores) * _TASKS_PER_CORE
    if any(size is None for size in sizes):  # text files: how many rows they have is not known before they are read
        return _cut(readers, [1] * len(readers), most)
    n_cells = sum(size * len(reader.columns) for size, reader in zip(sizes, readers, strict=True) if size)
    n_tasks = min(most, max(1, n_cores, round(n_cells / _CELLS_OF_A_TASK)))
    return _cut(readers, [size or 0 for size in sizes], n_tasks)


def _cut(readers: Sequence[PieceReader], sizes: Sequence[int], n_tasks: int) -> list[list[PieceReader]]:
    """Cut where the sum of sizes passes a multiple of its n-th part; no group is empty."""
    if not readers:
        return []
    sums = np.cumsum(sizes)
    middles = sums - np.array(sizes) / 2
    number = (middles * n_tasks / max(1, int(sums[-1]))).astype(int)  # the task of each piece, rising
    borders = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(readers)]
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
            table = pa.Table.from_batches([batch])
            posterior = self.model.predict_proba(table.select(columns_of(self.model, table.column_names)))
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


def given_columns(sample_weight: str | None, group: str | None, time: str | None) -> dict[str, str]:
    """Return the columns that were named, as ``fit`` takes them: a model has some of these arguments only."""
    named = {"sample_weight": sample_weight, "group": group, "time": time}
    return {argument: name for argument, name in named.items() if name is not None}


def columns_of(model: Any, names: Sequence[str]) -> list[str]:
    """Return the columns that the model reads; others, such as an id, are carried and not read."""
    known = set(model.schema_.names)
    if (conversions := model.schema_.conversions) is not None:
        known |= {conversions.source_of.get(name, name) for name in known}
    return [name for name in names if name in known]


def mean_of(right: Sequence[tuple[int, int]]) -> float:
    """Return the accuracy from pairs (correct rows, all rows)."""
    n = sum(all_rows for _, all_rows in right)
    if not n:
        raise BayeskitError("there is no row with a label, so there is no score.")
    return sum(n_right for n_right, _ in right) / n


def hits(model: Any, target: str) -> Callable[[pa.RecordBatch], tuple[int, int]]:
    """Return a function that counts, in a batch, the correctly predicted rows and the labelled rows."""
    return _Hits(model, target)


@dataclass(frozen=True)
class _Hits:
    model: Any
    target: str

    def __call__(self, batch: pa.RecordBatch) -> tuple[int, int]:
        table = pa.Table.from_batches([batch])
        table = table.filter(table[self.target].is_valid())
        if not table.num_rows:
            return 0, 0
        truth = table[self.target].to_pylist()
        predicted = self.model.predict(table.select(columns_of(self.model, table.column_names))).tolist()
        return sum(a == b for a, b in zip(predicted, truth, strict=True)), len(truth)


_REFUSAL = re.compile(r"^bayeskit\.errors\.(\w+): (.+)$", re.MULTILINE)


def refuse_in_words(error: BaseException, engine: str) -> None:
    """Raise what an engine's long message comes down to: a refusal of ours, or that the workers lack bayeskit."""
    if "No module named 'bayeskit'" in str(error):
        raise BayeskitError(
            f"the {engine} workers have no bayeskit: install it in the environment that they run in."
        ) from error
    cause: BaseException | None = error
    while cause is not None:  # what cannot be sent to a worker says so beneath what the engine says
        if isinstance(cause, BayeskitError):
            raise cause from (None if cause is error else error)
        cause = cause.__cause__ or cause.__context__
    refusal = _REFUSAL.search(str(error))
    if refusal is not None:
        kind = getattr(errors, refusal[1], BayeskitError)
        raise kind(refusal[2]) from error
