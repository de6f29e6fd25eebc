"""Any column as bytes: at most 255 levels, of which the first is a recorded missing cell."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import digitise, n_threads
from bayeskit.table.column import missing_code
from bayeskit.table.schema import Schema

T = TypeVar("T")

# A cell that nobody has asked for yet; a cell that was recorded as missing is level 0.
HIDDEN = 255
MISSING_LEVEL, OTHER_LEVEL = 0, 1
# Bytes leave room for so many bins of numbers, or values of a categorical column, beside the levels that are reserved.
MOST_BINS, MOST_VALUES = 254, 253
# Bins are cut on this many rows at the most: a quantile of more rows is hardly another number.
MOST_ROWS_TO_CUT = 50_000
# Rows that are encoded at once.
ROWS_AT_ONCE = 1 << 15


@dataclass(frozen=True)
class Levels:
    """What each byte means, column by column.

    Level 0 is a missing cell. Of a numeric column the others are bins; bin b holds edges[b − 2] <= x < edges[b − 1]. Of
    a categorical column level 1 is every value that has no level of its own: one not seen in fit, or one of the rarest
    where there are too many.
    """

    edges: tuple[NDArray[np.float64], ...]  # empty for a categorical column
    places: tuple[NDArray[np.uint8], ...]  # the level of each value of a categorical column; empty for a numeric one
    ordered: NDArray[np.bool_]  # (n_features,): numeric

    @cached_property
    def level_at(self) -> NDArray[np.int64]:
        """Where the levels of each column begin in a list of all, and where the last ends."""
        sizes = [
            len(edges) + 2 if ordered else int(places.max(initial=OTHER_LEVEL)) + 1
            for edges, places, ordered in zip(self.edges, self.places, self.ordered, strict=True)
        ]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def feature_of(self) -> NDArray[np.int64]:
        """The column that each level belongs to."""
        return np.repeat(np.arange(len(self.ordered)), np.diff(self.level_at))

    def encode(self, columns: Sequence[NDArray[Any]], order: NDArray[np.int32] | None = None) -> NDArray[np.uint8]:
        """Return the levels of a table, of shape (n_features, n_rows), whose columns were read by the schema.

        With ``order`` the rows are those at its places.
        """
        out = np.empty((len(columns), len(columns[0] if order is None else order)), dtype=np.uint8)

        def encode_column(j: int) -> None:
            for begin in range(0, out.shape[1], ROWS_AT_ONCE):  # so that no column is copied whole
                rows = slice(begin, begin + ROWS_AT_ONCE)
                self._encode_part(j, columns[j][rows if order is None else order[rows]], out[j, rows])

        for_columns(encode_column, len(columns), out.size)
        return out

    def _encode_part(self, j: int, column: NDArray[Any], out: NDArray[np.uint8]) -> None:
        if self.ordered[j]:
            # The kernel numbers bins from 0 and gives 255 for a missing cell, which one more turns into 0.
            out[:] = digitise(column, self.edges[j], 1)
            out += np.uint8(1)
        else:
            lookup = np.append(self.places[j], np.uint8(OTHER_LEVEL))
            out[:] = lookup[np.minimum(column, len(lookup) - 1)]
            out[column == missing_code(column.dtype)] = MISSING_LEVEL


def for_columns(work: Callable[[int], T], n_columns: int, cells: int) -> list[T]:
    """Return work(j) of each column; NumPy and our kernels let several threads sort, search and interpolate at once."""
    threads = n_threads(cells * 16)  # a cell is looked for among others, not only read
    if threads == 1:
        return [work(j) for j in range(n_columns)]
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, range(n_columns)))


def learn_levels(
    schema: Schema, columns: Sequence[NDArray[Any]], order: NDArray[np.int32], weight: NDArray[np.float64]
) -> Levels:
    """Choose the levels of each column: every number where they are few, equal frequencies otherwise."""
    places = []
    few = order[:MOST_ROWS_TO_CUT]
    edges = for_columns(
        lambda j: _cut(columns[j][few], weight[: len(few)]) if schema[j].is_numeric else np.empty(0),
        len(columns),
        len(columns) * len(few),
    )
    for variable, column in zip(schema, columns, strict=True):
        if variable.is_numeric or variable.n_values <= MOST_VALUES:
            n_values = 0 if variable.is_numeric else variable.n_values
            places.append((np.arange(n_values) + OTHER_LEVEL + 1).astype(np.uint8))
        else:
            places.append(_place(column[order], variable.n_values, weight))
    return Levels(tuple(edges), tuple(places), np.array([variable.is_numeric for variable in schema], dtype=bool))


def _cut(column: NDArray[Any], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    numbers = column.astype(np.float64)
    known = ~np.isnan(numbers)
    values, position = np.unique(numbers[known], return_inverse=True)
    if len(values) > MOST_BINS:
        reached = np.cumsum(np.bincount(position, weights=weight[known]))
        cuts = np.unique(np.searchsorted(reached, reached[-1] * np.arange(1, MOST_BINS) / MOST_BINS))
        cuts = cuts[cuts < len(values) - 1]
    else:
        cuts = np.arange(max(len(values) - 1, 0))
    # Half-way, but never so near the lower value that rounding puts it on the wrong side.
    halfway = np.maximum(values[cuts] / 2 + values[cuts + 1] / 2, np.nextafter(values[cuts], np.inf))
    return np.asarray(halfway, dtype=np.float64)


def _place(column: NDArray[Any], n_values: int, weight: NDArray[np.float64]) -> NDArray[np.uint8]:
    known = column < n_values
    often = np.bincount(column[known], weights=weight[known], minlength=n_values)
    kept = np.sort(np.argsort(-often, kind="stable")[:MOST_VALUES])
    places = np.full(n_values, OTHER_LEVEL, dtype=np.uint8)
    places[kept] = np.arange(len(kept)) + OTHER_LEVEL + 1
    return places
