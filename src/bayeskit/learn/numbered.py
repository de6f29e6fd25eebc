"""Rows to learn from: a table, a number for each row and its weight, read and checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.kinds.reader import inferred
from bayeskit.learn.checks import target_of
from bayeskit.learn.labelled import read_features_and_y
from bayeskit.table.labels import read_weight, refuse_missing_labels
from bayeskit.table.read import Source
from bayeskit.table.read_result import ReadTable


@dataclass(frozen=True)
class Numbered:
    """The rows of a table that count, each with a number."""

    source: Source
    y: NDArray[np.float64]  # (n_rows,)
    weight: NDArray[np.float64] | None  # (n_rows,), or None where every row counts once
    target: str | None = None


def read_numbered(X: Any, y: Any, sample_weight: Any, target: str | None, who: str, kinds: Any = None) -> Numbered:
    """Read the arguments of ``fit`` where y holds numbers; a row of weight 0 is as if it were not there."""
    X = inferred(X, kinds, target)
    target = target_of(X, y, target)
    source, y = read_features_and_y(X, y, target, who)
    if isinstance(X, ReadTable):
        sample_weight = X.of_rows(sample_weight)
    numbers = _numbers(y, source.n_rows)
    weight = read_weight(sample_weight, source.n_rows)
    if weight is not None and not weight.all():
        rows = np.flatnonzero(weight)
        source, numbers, weight = source.take(rows), numbers[rows], weight[rows]
    return Numbered(source, numbers, weight, target)


def _numbers(y: Any, n_rows: int) -> NDArray[np.float64]:
    from sklearn.utils.validation import column_or_1d

    try:
        numbers = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(f"y must be a numeric column, one for each row: {error}") from error
    if len(numbers) != n_rows:
        raise TableError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(numbers)}]")
    refuse_missing_labels(np.isnan(numbers))
    if np.isinf(numbers).any():
        row = int(np.isinf(numbers).argmax())
        raise TableError(f"Input y contains infinity: row {row}; put a finite number there.")
    return numbers
