"""The distance of rows with mixed and missing cells, and the votes of the nearest rows by it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.schema import Schema

# Distances that stand in memory at once.
_CELLS_AT_ONCE = 1 << 22
# Up to this many of the nearest rows are sought by a sweep for each, which is faster than to part all distances.
_MOST_SWEEPS = 12
# A tree over more axes than this visits most of its leaves.
_MOST_TREE_AXES = 15
# Two sums of squares of the same numbers in another order differ by less than this share of them.
_ROUNDING = 1e-12
# A number that is more ranges away has a square that overflows; all rows are as far from it.
_FARTHEST = 1e150


@dataclass(frozen=True, eq=False)
class HeomRows:
    r"""Rows under the heterogeneous Euclidean-overlap metric (Wilson & Martinez 1997, equation 14).

    .. math:: d(a, b)^2 = \sum_j d_j^2, \quad
              d_j = 1 \text{ if a cell is missing}, \; [a_j \ne b_j] \text{ for values}, \;
              |a_j - b_j| / range_j \text{ for numbers}
    """

    numbers: NDArray[np.float64]  # (n_rows, n_numeric), in units of the range; NaN where a cell is missing
    levels: NDArray[np.float32]  # (n_rows, n_levels): 1 where the cell has the level; a missing cell has none
    n_discrete: int

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> HeomRows:
        return HeomRows(self.numbers[rows], self.levels[rows], self.n_discrete)

    @cached_property
    def points(self) -> NDArray[np.float64] | None:
        """Points whose Euclidean distance is the metric, where no cell is missing: a level is a corner of a simplex."""
        if np.isnan(self.numbers).any() or self.levels.sum() < len(self) * self.n_discrete:
            return None
        return np.concatenate([self.numbers, self.levels * np.sqrt(0.5)], axis=1)

    @cached_property
    def tree(self) -> Any:
        """A tree that finds the nearest of these rows, where they are points on few axes; otherwise None."""
        from scipy.spatial import cKDTree

        few = self.numbers.shape[1] + self.levels.shape[1] <= _MOST_TREE_AXES
        return cKDTree(self.points) if few and self.points is not None else None

    def squared_distances(self, others: HeomRows) -> NDArray[np.float64]:
        """Return d², of shape (n_rows, n_others), from differences, so that equal rows have the distance 0."""
        from scipy.spatial.distance import cdist

        squared = self.n_discrete - np.asarray(self.levels @ others.levels.T, dtype=np.float64)
        holes = np.isnan(self.numbers).any(axis=0) | np.isnan(others.numbers).any(axis=0)
        if not holes.all():
            squared += cdist(self.numbers[:, ~holes], others.numbers[:, ~holes], "sqeuclidean")
        for j in np.flatnonzero(holes):
            apart = (self.numbers[:, j, None] - others.numbers[:, j]) ** 2
            squared += np.where(np.isnan(apart), 1.0, apart)
        return squared

    def blocks(self, n_others: int) -> Iterator[slice]:
        """Yield parts of the rows whose distances to the others stand in memory at once."""
        step = max(1, _CELLS_AT_ONCE // max(1, n_others))
        return (slice(begin, begin + step) for begin in range(0, len(self), step))


def heom_rows(columns: list[NDArray[Any]], schema: Schema, low: NDArray[Any], half_range: NDArray[Any]) -> HeomRows:
    """Return encoded columns as rows of the metric; numbers are taken from ``low``, in units of the range."""
    n_rows = len(columns[0])
    numbers = [np.empty((n_rows, 0))]
    levels = [np.empty((n_rows, 0), dtype=np.float32)]
    for j, (column, variable) in enumerate(zip(columns, schema, strict=True)):
        if variable.is_numeric:
            # Halves, since a difference may overflow; + 0 makes of -0 the number that it equals.
            away = (column[:, None] / 2 - low[j] / 2) / half_range[j] + 0.0
            numbers.append(np.clip(away, -_FARTHEST, _FARTHEST))
        else:
            # Missing and unseen have codes above all values; an unseen value is unlike every other.
            levels.append((column[:, None] == np.arange(variable.n_values)).astype(np.float32))
    return HeomRows(np.concatenate(numbers, axis=1), np.concatenate(levels, axis=1), len(levels) - 1)


def nearest_rows(rows: HeomRows, asked: HeomRows | None, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return distances and positions of the k nearest rows of each query row; None: all rows, without themselves.

    Of equally far rows the first ones are returned.
    """
    queries = rows if asked is None else asked
    blocks = []
    for block in queries.blocks(len(rows)):
        squared = queries[block].squared_distances(rows)
        if asked is None:
            squared[np.arange(len(squared)), np.arange(block.start, block.start + len(squared))] = np.inf
        place = np.argsort(squared, axis=1, kind="stable")[:, :k]
        blocks.append((np.sqrt(np.take_along_axis(squared, place, axis=1)), place))
    return np.concatenate([d for d, _ in blocks]), np.concatenate([p for _, p in blocks])


@dataclass(frozen=True, eq=False)
class Voters:
    """Training rows, equal ones together, with the number of each class; the order of the rows leaves no trace."""

    rows: HeomRows  # the distinct rows
    n_class: NDArray[np.float64]  # (n_distinct, n_classes)
    place: NDArray[np.int64]  # (n_rows,): which of the distinct rows a training row is

    @classmethod
    def of(cls, rows: HeomRows, y: NDArray[np.int64], n_classes: int) -> Voters:
        """Gather equal rows."""
        key = np.ascontiguousarray(np.concatenate([rows.numbers, rows.levels], axis=1))
        key = key.view(np.dtype((np.void, max(1, key.strides[0])))).ravel() if key.shape[1] else np.zeros(len(rows))
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        n_class = np.zeros((len(first), n_classes))
        np.add.at(n_class, (place, y), 1.0)
        return cls(rows[first], n_class, np.asarray(place, dtype=np.int64))

    def shares(self, asked: HeomRows, k: int, *, by_distance: bool) -> NDArray[np.float64]:
        """Return the share of each class among the k nearest rows, of shape (n_asked, n_classes).

        All rows at the distance of the k-th take part, each with the same part of the votes that are left for them.
        """
        return self._shares(asked, np.full(len(asked), -1), np.zeros(len(asked), dtype=np.int64), k, by_distance)

    def shares_left_out(self, y: NDArray[np.int64], k: int, *, by_distance: bool) -> NDArray[np.float64]:
        """Return the shares that each training row finds among the others."""
        return self._shares(self.rows[self.place], self.place, y, k, by_distance)

    def _shares(
        self, asked: HeomRows, same: NDArray[np.int64], y: NDArray[np.int64], k: int, by_distance: bool
    ) -> NDArray[np.float64]:
        # ``same`` is the distinct row from which one row of class y is left out, or -1.
        votes = np.zeros((len(asked), self.n_class.shape[1]))
        rest = np.arange(len(asked))
        if k + 2 < len(self.rows) and self.rows.tree is not None and asked.points is not None:
            distance, place = self.rows.tree.query(asked.points, k + 2)
            reach = self._reach(distance**2, place, same, k)
            clear = distance[:, -1] ** 2 > reach * (1 + _ROUNDING)  # no row as far as the k-th was left out
            rest = np.flatnonzero(~clear)
            votes[clear] = self._votes(
                distance[clear] ** 2, place[clear], reach[clear], same[clear], y[clear], k, by_distance
            )
        for block in asked[rest].blocks(len(self.rows)):
            some = rest[block]
            squared = asked[some].squared_distances(self.rows)
            near = _smallest(squared, min(k + 1, len(self.rows)))
            reach = self._reach(np.take_along_axis(squared, near, axis=1), near, same[some], k)
            votes[some] = self._votes(squared, None, reach, same[some], y[some], k, by_distance)
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def _reach(
        self, squared: NDArray[np.float64], place: NDArray[np.int64], same: NDArray[np.int64], k: int
    ) -> NDArray[np.float64]:
        """Return the squared distance within which k rows lie, for neighbours in the order of their distance."""
        n = self.n_class.sum(axis=1)[place] - (place == same[:, None])
        at = (np.cumsum(n, axis=1) >= k).argmax(axis=1)
        return np.asarray(squared[np.arange(len(squared)), at])

    def _votes(
        self,
        squared: NDArray[np.float64],  # (n_asked, n_near)
        place: NDArray[np.int64] | None,  # (n_asked, n_near), or None where all distinct rows are near
        reach: NDArray[np.float64],
        same: NDArray[np.int64],
        y: NDArray[np.int64],
        k: int,
        by_distance: bool,
    ) -> NDArray[np.float64]:
        # Few of the rows lie within reach: what follows has one entry for each of these, in the order of who asks.
        asks, column = np.nonzero(squared <= reach[:, None] * (1 + _ROUNDING))
        squared, voter = squared[asks, column], column if place is None else place[asks, column]
        left_out = voter == same[asks]
        n = self.n_class.sum(axis=1)[voter] - left_out
        closer = squared < reach[asks] * (1 - _ROUNDING)

        def total(of_each: NDArray[Any]) -> NDArray[np.float64]:  # (n_asked,)
            return np.asarray(np.bincount(asks, of_each, minlength=len(reach)), dtype=np.float64)

        part = (k - total(n * closer)) / total(n * ~closer)
        weight = np.where(closer, 1.0, part[asks])
        if by_distance:
            here = (squared == 0) & (n > 0)
            alone = total(here)[asks] > 0
            with np.errstate(divide="ignore", invalid="ignore"):
                weight = np.where(alone, weight * here, np.where(weight > 0, weight / np.sqrt(squared), 0.0))
            weight[left_out & (n == 0)] = 0.0
        votes = np.stack([total(weight * of_class[voter]) for of_class in self.n_class.T], axis=1)
        votes[np.arange(len(votes)), y] -= total(weight * left_out)
        return votes


def _smallest(squared: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return the positions of the k smallest numbers of each row, in their order."""
    if k > _MOST_SWEEPS:
        near = np.argpartition(squared, k - 1, axis=1)[:, :k]
        return np.take_along_axis(near, np.argsort(np.take_along_axis(squared, near, axis=1), axis=1), axis=1)
    row = np.arange(len(squared))
    near = np.empty((len(squared), k), dtype=np.int64)
    taken = np.empty((len(squared), k))
    for j in range(k):
        near[:, j] = squared.argmin(axis=1)
        taken[:, j] = squared[row, near[:, j]]
        squared[row, near[:, j]] = np.inf
    squared[row[:, None], near] = taken
    return near
