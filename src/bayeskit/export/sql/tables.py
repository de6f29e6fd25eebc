"""Tables of logarithms over codes: small ones are merged, and each is looked up once per row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
from numpy.typing import NDArray

from bayeskit.export.sql.dialect import RecordDialect
from bayeskit.export.sql.query import Query

# Stands for log 0: finite, so that no database meets ∞ − ∞, and far below what a possible row can have.
LOG_ZERO = -1e300
IMPOSSIBLE = -1e299


def log_numbers(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return logarithms with log 0 as a finite number."""
    return np.maximum(table, LOG_ZERO)


@dataclass(frozen=True)
class Table:
    """What the codes of some columns add to log P(x, c)."""

    columns: tuple[int, ...]
    numbers: NDArray[np.float64]  # (codes of each column …, n_classes)

    @classmethod
    def of_values(cls, columns: tuple[int, ...], numbers: NDArray[np.float64]) -> Table:
        """Return the table with code 0, a missing cell, before the values of each column: it adds nothing."""
        return cls(columns, np.pad(log_numbers(numbers), [*((1, 0) for _ in columns), (0, 0)]))

    def __add__(self, other: Table) -> Table:
        """Return the table that adds what both add."""
        columns = (*self.columns, *(j for j in other.columns if j not in self.columns))
        return Table(columns, log_numbers(self._spread(columns) + other._spread(columns)))

    def size_with(self, other: Table) -> int:
        """Return how many numbers the table of both has."""
        n_codes = dict(zip(self.columns, self.numbers.shape[:-1], strict=True))
        n_codes |= dict(zip(other.columns, other.numbers.shape[:-1], strict=True))
        return prod([*n_codes.values(), self.numbers.shape[-1]])

    def _spread(self, columns: tuple[int, ...]) -> NDArray[np.float64]:
        # In the order of the columns, with one code for those that the table does not have.
        shared = [j for j in columns if j in self.columns]
        ordered = np.moveaxis(self.numbers, [self.columns.index(j) for j in shared], range(len(shared)))
        return np.expand_dims(ordered, [axis for axis, j in enumerate(columns) if j not in self.columns])


def merge(tables: Sequence[Table], most_numbers: int) -> list[Table]:
    """Return fewer tables with the same sum: a table takes in others, those that make it least larger first."""
    left, merged = list(tables), []
    while left:
        table = left.pop(0)
        while left:
            best = min(range(len(left)), key=lambda i: table.size_with(left[i]))
            if table.size_with(left[best]) > most_numbers:
                break
            table += left.pop(best)
        merged.append(table)
    return merged


def add_lookups(query: Query, tables: Sequence[Table], suffix: str = "") -> list[list[str]]:
    """Add to the query the place of each row in each table; return the terms, one list per table of one per class."""
    dialect = query.dialect
    places = [dialect.place([f"c{j}" for j in table.columns], table.numbers.shape[:-1]) for table in tables]
    by_class = [table.numbers.reshape(-1, table.numbers.shape[-1]).T.tolist() for table in tables]
    if not isinstance(dialect, RecordDialect):
        query.add({f"p{i}{suffix}": place for i, place in enumerate(places)})
        return [[dialect.lookup(part, f"p{i}{suffix}") for part in parts] for i, parts in enumerate(by_class)]
    lists = {f"l{i}{suffix}": dialect.records(parts) for i, parts in enumerate(by_class)}
    query.add({f"r{i}{suffix}": dialect.item(f"l{i}{suffix}", place) for i, place in enumerate(places)}, lists)
    return [[dialect.member(f"r{i}{suffix}", c) for c in range(len(parts))] for i, parts in enumerate(by_class)]
