"""The distance of rows with mixed and missing cells, and the nearest rows by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.schema import Schema

# Distances that stand in memory at once.
_CELLS_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class HeomRows:
    r"""Rows as points: the heterogeneous Euclidean-overlap metric (Wilson & Martinez 1997, equation 14).

    .. math:: d(a, b)^2 = \sum_j d_j^2, \quad
              d_j = 1 \text{ if a cell is missing}, \; [a_j \ne b_j] \text{ for values}, \;
              |a_j - b_j| / range_j \text{ for numbers}

    A value is a corner of a simplex whose edges have length 1, so that where no cell is missing the metric is the
    Euclidean distance of points, which scikit-learn's trees search.
    """

    points: NDArray[np.float64]  # (n_rows, n_axes); 0 where a cell is missing
    squares: NDArray[np.float64]  # (n_rows, n_columns): the squared length of each column's part
    known: NDArray[np.float64]  # (n_rows, n_columns): 1 where the cell is known

    @property
    def complete(self) -> bool:
        """Whether no cell is missing."""
        return bool(self.known.all())


def heom_rows(columns: list[NDArray[Any]], schema: Schema, low: NDArray[Any], half_range: NDArray[Any]) -> HeomRows:
    """Return encoded columns as points; numbers are taken from ``low``, in units of the range."""
    parts, known, squares = [], [], []
    for j, (column, variable) in enumerate(zip(columns, schema, strict=True)):
        if variable.is_numeric:
            there = ~np.isnan(column)
            # Halves, since a difference may overflow.
            part = np.where(there, (column / 2 - low[j] / 2) / half_range[j], 0.0)[:, None]
        else:
            # Missing and unseen have codes above all values; an unseen value is unlike every other.
            there = column < variable.n_values
            part = (column[:, None] == np.arange(variable.n_values)) * np.sqrt(0.5)
        parts.append(part)
        known.append(there.astype(np.float64))
        squares.append((part**2).sum(axis=1))
    n_rows = len(columns[0])
    return HeomRows(
        np.concatenate([np.empty((n_rows, 0)), *parts], axis=1), np.stack(squares, axis=1), np.stack(known, axis=1)
    )


def nearest_rows(rows: HeomRows, asked: HeomRows | None, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances and positions of the k nearest rows of each query row; None: all rows, without themselves."""
    if rows.complete and (asked is None or asked.complete):
        from sklearn.neighbors import NearestNeighbors as Search

        search = Search(n_neighbors=k).fit(rows.points)
        distance, place = search.kneighbors(None if asked is None else asked.points)
        return distance, place
    found = [
        _nearest_block(rows, rows if asked is None else asked, begin, k, alone=asked is None)
        for begin in range(0, len((rows if asked is None else asked).points), _block(rows))
    ]
    return np.concatenate([d for d, _ in found]), np.concatenate([p for _, p in found])


def _block(rows: HeomRows) -> int:
    return max(1, _CELLS_AT_ONCE // max(1, len(rows.points)))


def _nearest_block(rows: HeomRows, asked: HeomRows, begin: int, k: int, *, alone: bool) -> tuple[Any, Any]:
    some = slice(begin, begin + _block(rows))
    a, sa, ka = asked.points[some], asked.squares[some], asked.known[some]
    # Columns that both know add |a|² + |b|² − 2ab, the others 1.
    squared = sa @ rows.known.T + ka @ rows.squares.T - 2.0 * (a @ rows.points.T)
    squared += rows.known.shape[1] - ka @ rows.known.T
    squared = np.maximum(squared, 0.0).round(12)  # what should be equal is equal
    if alone:
        own = np.arange(begin, begin + len(a))
        squared[np.arange(len(a)), own] = np.inf
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(squared, order, axis=1)), order
