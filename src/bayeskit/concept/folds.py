"""Stratified folds of any table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int64]


def stratified_folds(y: NDArray[Any], n_folds: int, rng: np.random.RandomState | None) -> Iterator[tuple[Rows, Rows]]:
    """Yield the training rows and the held-out rows of each fold.

    The rows of a class are assigned to the folds in turn, in their order or shuffled. A class with a single row is
    never held out, since no row would be left to learn it from; a fold without rows is left out.

    Examples
    --------
    >>> [test.tolist() for _, test in stratified_folds(np.array([0, 0, 1, 1, 1]), 2, None)]
    [[0, 2, 4], [1, 3]]
    """
    fold = np.full(len(y), -1)
    for c in np.unique(y):
        rows = np.flatnonzero(y == c)
        if len(rows) > 1:
            fold[rows if rng is None else rng.permutation(rows)] = np.arange(len(rows)) % n_folds
    for k in range(n_folds):
        if (fold == k).any():
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def without_column(X: Any, name: str) -> Any:
    """Return a table without one column, as the same type of table."""
    if isinstance(X, Mapping):
        return {other: column for other, column in X.items() if other != name}
    if nw.dependencies.is_into_dataframe(X):
        return nw.to_native(nw.from_native(X, eager_only=True).drop(name))
    if isinstance(X, list) and X and isinstance(X[0], Mapping):
        return [{other: cell for other, cell in row.items() if other != name} for row in X]
    return X.without(name)
