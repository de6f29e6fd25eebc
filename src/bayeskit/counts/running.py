"""A growing sum of family counts: a batch of few rows is added at the cost of its rows, not of all tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import Families, FamilyCounts, FamilyKind, sizes_of, wide_enough
from bayeskit.counts.memory import MemoryLimit, table_bytes, table_cells
from bayeskit.counts.table import TableCounts
from bayeskit.table.column import Coded, code_bytes
from bayeskit.table.schema import Schema

# Rows wait while their codes take at most this share of the memory of the tables: what walking over all tables costs
# is then small compared with counting the rows.
_WAITING_SHARE = 0.25


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows that are not counted yet: a copy of their codes, under the schema and classes of their batch."""

    schema: Schema
    classes: NDArray[Any]
    columns: tuple[NDArray[Any], ...]
    y: NDArray[Any]  # (n_rows,)
    weight: NDArray[np.float64] | None  # (n_rows,)

    @property
    def n_bytes(self) -> int:
        """The memory that they use."""
        weight = 0 if self.weight is None else self.weight.nbytes
        return sum(column.nbytes for column in self.columns) + self.y.nbytes + weight

    def copy(self) -> CodedRows:
        """Return a copy of the rows: the caller may write into the original arrays later."""
        weight = None if self.weight is None else self.weight.copy()
        return replace(self, columns=tuple(map(np.array, self.columns)), y=self.y.copy(), weight=weight)

    def codes(self, j: int, schema: Schema) -> NDArray[Any]:
        """Return the codes of one column under a schema that covers this one."""
        return Coded(self.columns[j], self.schema[j].values).codes_for(schema[j].code_of)

    def class_codes(self, classes: NDArray[Any]) -> NDArray[Any]:
        """Return the class of each row as a position among classes that cover these."""
        places = np.searchsorted(classes, self.classes)
        return np.asarray(places[self.y], dtype=f"u{code_bytes(len(classes))}")


@dataclass(frozen=True, eq=False)
class RunningFamilies:
    """Family counts, and later coded rows that are not in the tables yet.

    Tables of pairs are large: 60 columns of 40 values and 2 classes have 5.7 million cells. Adding a thousand rows to
    them would mostly cost time for copying cells. So rows are kept, and :attr:`total` counts all of them in one pass.
    The object is immutable: :meth:`plus` returns another sum.
    """

    counted: FamilyCounts
    alone: TableCounts  # of all rows, those that wait too
    waiting: tuple[CodedRows, ...] = ()

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.alone.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels."""
        return self.alone.classes

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        return self.alone.n_class

    @property
    def kind(self) -> FamilyKind:
        """Which families are counted: all pairs, all triples, or given ones."""
        return self.counted.kind

    @property
    def families(self) -> Families:
        """The families that are counted."""
        return self.counted.families

    def declare(self, classes: NDArray[Any]) -> RunningFamilies:
        """Return the sum with declared classes, which may have no row yet."""
        return replace(self, alone=self.alone.declare(classes))

    def plus(
        self,
        alone: TableCounts,
        columns: Sequence[NDArray[Any]],
        y: NDArray[Any],
        weight: NDArray[np.float64] | None,
        limit: MemoryLimit,
    ) -> RunningFamilies:
        """Add rows: their counts column by column, and their codes under the schema of those counts.

        More memory than ``limit`` is an error, before anything changes; the earlier counts are in memory together with
        the new.
        """
        total = self.alone + alone
        weighted = weight is not None or self._dtype(total).itemsize == 8
        families = self.families if self.kind == "given" else self.kind
        sizes = sizes_of(total.schema)
        known, beside = (sizes, total.n_classes, families, total.schema), self.counted.cells.nbytes
        limit.refuse_too_large(*known, weighted=weighted, beside=beside)
        rows = CodedRows(alone.schema, alone.classes, tuple(columns), y, weight)
        start = self if "total" not in self.__dict__ else RunningFamilies(self.total, self.alone)
        n_bytes = table_bytes(table_cells(sizes, families)[1], total.n_classes, weighted=weighted)
        if sum(part.n_bytes for part in (*start.waiting, rows)) > _WAITING_SHARE * n_bytes:
            return RunningFamilies(RunningFamilies(start.counted, total, (*start.waiting, rows)).total, total)
        return RunningFamilies(start.counted, total, (*start.waiting, rows.copy()))

    def _dtype(self, alone: TableCounts) -> np.dtype[Any]:
        dtype = self.counted.cells.dtype
        if any(rows.weight is not None for rows in self.waiting):
            return np.dtype(np.float64)
        return wide_enough(dtype, alone.n_rows)

    @cached_property
    def total(self) -> FamilyCounts:
        """The counts of all rows; the waiting rows are counted when this is first used."""
        alone, waiting = self.alone, self.waiting
        before = self.counted.under(alone, self._dtype(alone))
        if not waiting:
            return before
        columns = [_joined([rows.codes(j, alone.schema) for rows in waiting]) for j in range(len(alone.schema))]
        y = _joined([rows.class_codes(alone.classes) for rows in waiting])
        weight = None
        if any(rows.weight is not None for rows in waiting):
            weight = np.concatenate([np.ones(len(r.y)) if r.weight is None else r.weight for r in waiting])
        families = self.families if self.kind == "given" else self.kind
        more = FamilyCounts.of(alone, columns, y, families, weight)
        dtype = before.cells.dtype
        cells = more.cells.astype(dtype, copy=False)
        return replace(before, cells=np.add(before.cells, cells, out=cells))  # into the new ones, which nobody has yet


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
