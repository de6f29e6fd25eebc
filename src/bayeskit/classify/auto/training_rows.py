"""The rows that a plan is chosen on: each distinct row once, with its weight, in the order of their hashes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import group_rows, n_threads
from bayeskit._kernels import log_softmax as normalize
from bayeskit.classify.auto.levels import Levels
from bayeskit.classify.auto.text_columns import as_keys


@dataclass(frozen=True)
class TrainingRows:
    """The rows to choose from and to count, and those that are left out one at a time to choose weights."""

    columns: list[NDArray[Any]]  # as the schema reads them, in the order in which they came: they are not copied
    order: NDArray[np.int32]  # (n_rows,): where each row stands there
    codes: NDArray[np.uint8]  # (n_features, n_rows)
    y: NDArray[np.uint32]  # (n_rows,)
    weight: NDArray[np.float64]  # (n_rows,)
    n_classes: int

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""
        return len(self.y)

    @property
    def left_out_weight(self) -> NDArray[np.float64]:
        """The weight of each row that is left out: 1, or the whole weight of a row if it is less."""
        return np.minimum(self.weight, 1.0)

    @property
    def threads(self) -> int:
        """The number of threads that is worth starting for this table: its cells are read several times, by class."""
        return n_threads(self.codes.size * 8 * self.n_classes)

    def first(self, n: int) -> TrainingRows:
        """Return the first rows, which are a random sample: rows are in the order of their hashes."""
        return self if n >= self.n_rows else self.part(0, n)

    def part(self, begin: int, end: int) -> TrainingRows:
        """Return the rows from ``begin`` to before ``end``."""
        return TrainingRows(
            self.columns,
            self.order[begin:end],
            np.ascontiguousarray(self.codes[:, begin:end]),
            self.y[begin:end],
            self.weight[begin:end],
            self.n_classes,
        )

    def take(self, places: NDArray[np.int64]) -> TrainingRows:
        """Return the rows at some places."""
        codes = np.ascontiguousarray(self.codes[:, places])
        return TrainingRows(
            self.columns, self.order[places], codes, self.y[places], self.weight[places], self.n_classes
        )

    def halves(self) -> tuple[TrainingRows, TrainingRows]:
        """Return the first half of the rows, and the second."""
        middle = self.n_rows // 2
        return self.part(0, middle), self.part(middle, self.n_rows)


def different_rows(
    columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.int32], NDArray[np.uint32], NDArray[np.float64]]:
    """Return the position of each distinct row, its class, and the sum of the weights of its copies."""
    codes = np.ascontiguousarray(y, dtype=np.uint32)
    given = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    rows, weights, _ = group_rows(as_keys(columns), codes, given, False, n_threads(len(codes) * len(columns)))
    return rows, codes[rows], weights


def coded_rows(
    levels: Levels,
    columns: list[NDArray[Any]],
    order: NDArray[np.int32],
    y: NDArray[np.uint32],
    weight: NDArray[np.float64],
    n_classes: int,
) -> TrainingRows:
    """Return the rows with their levels."""
    return TrainingRows(columns, order, levels.encode(columns, order)[0], y, weight, n_classes)


def log_softmax(scores: NDArray[Any], least: float = -np.inf) -> NDArray[np.float64]:
    """Return scores (n_rows, n_classes) minus the log of the sum of their exponentials, row by row, cut off below."""
    return normalize(np.ascontiguousarray(scores, dtype=np.float64), least, n_threads(scores.size * 16))


def class_shares(n_class: NDArray[Any]) -> NDArray[np.float64]:
    """Return the share of each class among the rows."""
    return np.asarray(n_class / n_class.sum(), dtype=np.float64)


def log_prior(n_class: NDArray[Any]) -> NDArray[np.float64]:
    """Return log P(c), with half a row added to each class."""
    shares: NDArray[np.float64] = np.log((n_class + 0.5) / (n_class.sum() + 0.5 * len(n_class)))
    return shares


def log_prior_left_out(n_class: NDArray[Any], rows: TrainingRows) -> NDArray[np.float64]:
    """Return log P(c) of each row without the row itself, of shape (n_rows, n_classes)."""
    counts = np.repeat(np.asarray(n_class, dtype=np.float64)[None, :], rows.n_rows, axis=0)
    counts[np.arange(rows.n_rows), rows.y] -= rows.left_out_weight
    counts = np.maximum(counts, 0.0) + 0.5
    left: NDArray[np.float64] = np.log(counts / counts.sum(axis=1, keepdims=True))
    return left
