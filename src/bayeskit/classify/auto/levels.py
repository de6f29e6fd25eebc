"""Any column as bytes: at most 255 levels, of which the first is a recorded missing cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import LevelEncoder, cut_numbers, n_threads
from bayeskit.classify.auto.text_columns import as_levels
from bayeskit.table.schema import Variable

# A list of columns, or an array (n_rows, n_features) where all of them are numbers.
Columns = list[NDArray[Any]] | NDArray[Any]
# A cell that nobody has asked for yet; a cell that was recorded as missing is level 0.
HIDDEN = 255
MISSING_LEVEL, OTHER_LEVEL = 0, 1
# Bytes leave room for so many bins of numbers, or values of a categorical column, beside the levels that are reserved.
MOST_BINS, MOST_VALUES = 254, 253
# Bins are cut on this many rows at the most: a quantile of more rows is hardly another number.
MOST_ROWS_TO_CUT = 50_000


@dataclass(frozen=True)
class Levels:
    """What each byte means, column by column.

    Level 0 is a missing cell. Of a numeric column the others are bins; bin b holds edges[b − 2] <= x < edges[b − 1]. Of
    a categorical column level 1 is every value that has no level of its own: one not seen in fit, or one of the rarest
    where there are more than 253 (`RareValues` tells these apart).
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

    @cached_property
    def kernel(self) -> LevelEncoder:
        """The compiled levels."""
        return LevelEncoder(list(self.edges), list(self.places), self.ordered)

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled cannot be pickled, and follows from the rest.
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    def encode(self, columns: Columns, order: NDArray[np.int32] | None = None) -> tuple[NDArray[np.uint8], bool]:
        """Return the levels of a table, of shape (n_features, n_rows), and whether one of its numbers is infinite.

        Its columns were read by the schema. With ``order`` the rows are those at its places.
        """
        n_rows = len(order) if order is not None else n_rows_of(columns)
        columns = columns if isinstance(columns, np.ndarray) else as_levels(columns)
        # A number is looked for among others, not only read.
        return self.kernel.encode(columns, order, n_threads(len(self.ordered) * n_rows * 16))


def n_rows_of(columns: Columns) -> int:
    """Return how many rows a table has."""
    return len(columns) if isinstance(columns, np.ndarray) else len(columns[0])


def learn_levels(
    variables: Sequence[Variable],
    columns: Sequence[NDArray[Any]],
    order: NDArray[np.int32],
    weight: NDArray[np.float64],
    value_ranks: Sequence[NDArray[np.int64]],
) -> Levels:
    """Choose the levels of each column: every number where they are few, equal frequencies otherwise.

    ``value_ranks`` has the rank of each value of a categorical column, in which their levels are numbered.
    """
    columns = as_levels(list(columns))
    few, numeric = order[:MOST_ROWS_TO_CUT], [variable.is_numeric for variable in variables]
    numbers = [column for column, is_number in zip(columns, numeric, strict=True) if is_number]
    threads = n_threads(len(numbers) * len(few) * 16)  # they are sorted
    cut = iter(cut_numbers(numbers, few, weight[: len(few)], MOST_BINS, threads) if numbers else [])
    edges = [next(cut) if is_number else np.empty(0) for is_number in numeric]
    places = [
        ranks.astype(np.uint8) + np.uint8(OTHER_LEVEL + 1)
        if len(ranks) <= MOST_VALUES
        else _place(column[order], ranks, weight)
        for column, ranks in zip(columns, value_ranks, strict=True)
    ]
    return Levels(tuple(edges), tuple(places), np.array(numeric, dtype=bool))


def _place(column: NDArray[Any], ranks: NDArray[np.int64], weight: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Return the level of each value: the most frequent have one each."""
    known = column < len(ranks)
    often = np.bincount(column[known], weights=weight[known], minlength=len(ranks))
    kept = np.lexsort([ranks, -often])[:MOST_VALUES]
    places = np.full(len(ranks), OTHER_LEVEL, dtype=np.uint8)
    places[kept[np.argsort(ranks[kept])]] = np.arange(len(kept)) + OTHER_LEVEL + 1
    return places
