"""A table as the checks see it: each column as codes of its values, and the class of each row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.column import Coded, Column

# The reason of a column that numbers the rows.
NUMBERS_ROWS = "numbers the rows"
# Cells that are looked at; of a larger table, those of a random sample of its rows.
MOST_CELLS = 5_000_000
LEAST_ROWS = 2_000
# Bins of equal frequency into which a column of many numbers is cut to be counted with the class.
BINS = 32
# Cells of the table of a column and the class at the most; a column with more values is not counted with the class.
MOST_COUNTED = 4_000_000


@dataclass(frozen=True)
class Values:
    """A column as codes: -1 is a missing cell, and the levels are those that some cell has."""

    codes: NDArray[np.int32]  # (n_rows,)
    levels: tuple[Any, ...] | NDArray[Any]
    numeric: bool

    @cached_property
    def known(self) -> NDArray[np.bool_]:
        """Which cells hold a value."""
        return np.asarray(self.codes >= 0)

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """The number of cells of each level."""
        return np.bincount(self.codes[self.known], minlength=len(self.levels))

    @property
    def n_known(self) -> int:
        """The number of cells that hold a value."""
        return int(self.counts.sum())

    def level(self, k: int) -> Any:
        """Return a level as Python shows it."""
        value = self.levels[k]
        value = value.item() if isinstance(value, np.generic) else value
        return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class Examined:
    """A table that is looked through for problems.

    Parameters
    ----------
    columns : dict of name to column
        Every column but the target, also those that models leave out.
    kinds, reasons : dict of name to str
        The kind of each column, such as "numeric", "categorical", "date" or "left out", and why.
    target, y, classes
        The name of the target, the class position of each row, and the classes; none where the table has no target.
    decided : set of str
        Columns of which the user has said what they are.
    n_rows : int
        Rows of the whole table, where the columns hold a sample of them; 0 means all of them.
    dates : dict of name to column
        Dates with their time of day, of which the columns hold parts.
    row_of : array of shape (n_held,), optional
        Where each row is in the table that the user gave; all rows in its order without.
    """

    columns: Mapping[str, Column]
    kinds: Mapping[str, str] = field(default_factory=dict)
    reasons: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    y: NDArray[Any] | None = None
    classes: tuple[Any, ...] = ()
    decided: frozenset[str] = frozenset()
    n_rows: int = 0
    dates: Mapping[str, Column] = field(default_factory=dict)
    row_of: NDArray[np.intp] | None = None

    @cached_property
    def n_held(self) -> int:
        """Rows that are looked at."""
        return len(next(iter(self.columns.values()))) if self.columns else 0

    @property
    def is_sample(self) -> bool:
        """Whether the table has more rows than these."""
        return self.n_rows > self.n_held

    @property
    def rows(self) -> str:
        """How many rows are looked at, as text."""
        return f"{self.n_held:,} sampled rows" if self.is_sample else f"{self.n_held:,} rows"

    @cached_property
    def used(self) -> tuple[str, ...]:
        """The columns whose values models learn from: not those of free text, of which hardly two are alike."""
        unused = ("left out", "target", "date", "text")
        return tuple(name for name in self.columns if self.kinds.get(name) not in unused)

    @cached_property
    def read(self) -> tuple[str, ...]:
        """The columns that models learn from, free text among them."""
        return tuple(name for name in self.columns if name in self.used or self.kinds.get(name) == "text")

    @cached_property
    def telling(self) -> tuple[str, ...]:
        """The columns that tell rows apart: all but those that number them, and those the user left out."""
        return (*(name for name in self.columns if NUMBERS_ROWS not in self.reasons.get(name, "")), *self.dates)

    def row(self, k: int) -> str:
        """Return the number of a row, from 1 on, in the table that the user gave."""
        return f"{k + 1 if self.row_of is None else int(self.row_of[k]) + 1:,}"

    def sampled(self) -> Examined:
        """Return the table with a random sample of its rows, where it has too many to look at all of them."""
        most = max(LEAST_ROWS, MOST_CELLS // max(len(self.columns), 1))
        if self.n_held <= most:
            return self
        rows = np.sort(np.random.default_rng(0).choice(self.n_held, most, replace=False))
        return replace(
            self,
            columns={name: column.take(rows) for name, column in self.columns.items()},
            dates={name: column.take(rows) for name, column in self.dates.items()},
            row_of=rows if self.row_of is None else self.row_of[rows],
            y=None if self.y is None else self.y[rows],
            n_rows=max(self.n_rows, self.n_held),
        )

    @cached_property
    def _values(self) -> dict[str, Values]:
        return {}

    def values(self, name: str) -> Values:
        """Return a column as codes."""
        if name not in self._values:
            self._values[name] = _values(self.columns[name] if name in self.columns else self.dates[name])
        return self._values[name]

    @cached_property
    def n_class(self) -> NDArray[np.int64]:
        """The number of rows of each class."""
        y = np.empty(0, dtype=np.intp) if self.y is None else self.y
        return np.bincount(y, minlength=len(self.classes))

    @cached_property
    def entropy(self) -> float:
        """H(C) in bits, of the classes as they are."""
        share = self.n_class[self.n_class > 0] / max(self.n_class.sum(), 1)
        return float(-(share * np.log2(share)).sum())

    def information(self, name: str) -> float:
        """Return how many bits a column alone says about the class of rows that it was not learned from.

        The rows are halved at random; P(c | v) is counted in one half and scored in the other, with one pseudo-row that
        has the shares of the classes. A column that merely has many values thus says nothing.
        """
        if self.y is None or len(self.classes) < 2:
            return 0.0
        codes, n_values = self._cut(name)
        n_classes = len(self.classes)
        if n_values < 2 or n_values * n_classes > MOST_COUNTED:
            return 0.0
        half = self._half
        gained = 0.0
        for part in (half, ~half):
            prior = (np.bincount(self.y[part], minlength=n_classes) + 1e-9) / (part.sum() + 1e-9 * n_classes)
            cells = np.bincount(codes[part] * n_classes + self.y[part], minlength=n_values * n_classes)
            table = cells.reshape(n_values, n_classes) + prior
            table /= table.sum(axis=1, keepdims=True)
            other = np.flatnonzero(~part)
            truth = self.y[other]
            gained += float(np.log2(table[codes[other], truth] / prior[truth]).sum())
        return gained / self.n_held

    @cached_property
    def _half(self) -> NDArray[np.bool_]:
        return np.asarray(np.random.default_rng(0).permutation(self.n_held) % 2 == 0)

    def _cut(self, name: str) -> tuple[NDArray[np.intp], int]:
        """Return a column as codes from 0 on, where a missing cell is a value and many numbers are cut into bins."""
        values = self.values(name)
        codes = values.codes.astype(np.intp)
        n_values = len(values.levels)
        if values.numeric and n_values > 2 * BINS:
            # The levels are in order: a bin ends where its share of the cells is reached.
            before = np.cumsum(values.counts) - values.counts
            bin_of = (before * BINS // max(values.n_known, 1)).astype(np.intp)
            codes, n_values = np.where(values.known, bin_of[codes], -1), BINS
        return codes + 1, n_values + 1


def _values(column: Column) -> Values:
    missing = column.missing()
    if isinstance(column, Coded):
        counts = np.bincount(column.codes[~missing], minlength=len(column.levels))
        place = np.cumsum(counts > 0) - 1
        codes = np.full(len(column), -1, dtype=np.int32)
        codes[~missing] = place[column.codes[~missing]]
        return Values(codes, tuple(level for level, n in zip(column.levels, counts, strict=False) if n), False)
    levels, inverse = np.unique(column.values[~missing], return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int32)
    codes[~missing] = inverse
    return Values(codes, levels, column.values.dtype.kind != "b")
