"""How many rows have each combination of values, for families of columns, within each class or without any."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import prod
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_families, count_subsets, n_threads
from bayeskit.counts.memory import MemoryLimit, table_bytes, table_cells
from bayeskit.counts.table import TableCounts, class_codes, without_class_axis
from bayeskit.counts.values import ragged
from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.table.schema import Schema

Members = tuple[int, ...]
Families = tuple[Members, ...]
# All pairs, all pairs and all triples, or given families.
FamilyKind = Literal["pairs", "triples", "given"]

_MOST_ROWS_OF_INT32 = 2**31 - 1


@dataclass(frozen=True)
class FamilyCounts:
    """Counts of families of discrete columns within each class, and counts of each single column.

    A family is a tuple of column positions, the feature last. Its table has shape (values of each member …,
    n_classes), or (values of each member …) where the table has no class; a row in which a member is missing is not
    counted there. Counts add and subtract; levels and classes may grow. Nothing is smoothed here.

    Examples
    --------
    >>> from bayeskit.learn.counting import learn_counts
    >>> from bayeskit.table.encode import encode
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"wind": ["weak", "strong", "weak"], "sky": ["clear", "grey", "grey"]})
    >>> alone = learn_counts(table, np.array([0, 0, 1]), np.array(["no", "yes"]))
    >>> counts = FamilyCounts.of(alone, encode(table, alone.schema), np.array([0, 0, 1]), "pairs")
    >>> counts.table((0, 1))[:, :, 0]  # class "no": strong, weak by clear, grey
    array([[0, 1],
           [1, 0]], dtype=int32)
    """

    alone: TableCounts
    kind: FamilyKind
    families: Families
    cells: NDArray[Any]  # (n_cells,), family after family
    # What given families were chosen by, where a model chose them; of a sum, that of the left side.
    chosen_by: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        alone: TableCounts,
        columns: list[NDArray[Any]],
        y: NDArray[Any] | None,
        families: FamilyKind | Families,
        weight: NDArray[np.float64] | None = None,
        limit: MemoryLimit | None = None,
        beside: float = 0.0,
    ) -> FamilyCounts:
        """Count coded columns; ``beside`` bytes are in use already, ``y`` is None without a class."""
        sizes, n_classes = sizes_of(alone.schema), alone.n_classes
        y = class_codes(y, len(columns[0]) if columns else 0)
        kind: FamilyKind = families if isinstance(families, str) else "given"
        if limit is not None:
            known = (sizes, n_classes, families, alone.schema)
            limit.refuse_too_large(*known, weighted=weight is not None, beside=beside)
        named = _all_families(len(sizes), kind) if isinstance(families, str) else families
        threads = n_threads(len(y) * max(1, len(named)))
        if kind == "given":
            cells = count_families(columns, y, weight, n_classes, sizes, named, threads)
        else:
            order = 2 if kind == "pairs" else 3
            cells = count_subsets(columns, y, weight, n_classes, sizes, order, threads)
        return cls(alone, kind, named, cells)

    @property
    def schema(self) -> Schema:
        """The columns."""
        return self.alone.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels; an error for counts without a class."""
        return self.alone.classes

    @property
    def n_classes(self) -> int:
        """The number of classes, or 1 where there is no class."""
        return self.alone.n_classes

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        return self.alone.n_class

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """Where each family's cells begin, and where the last ends."""
        if self.kind == "given":
            return ragged([prod(shape) for shape in _shapes(self.families, self.schema, self.n_classes)])
        return ragged(_all_cells(np.array(sizes_of(self.schema), dtype=np.int64), self.kind) * self.n_classes)

    @cached_property
    def position(self) -> dict[Members, int]:
        """Each family's place."""
        return {members: k for k, members in enumerate(self.families)}

    @property
    def pairs(self) -> NDArray[Any]:
        """The cells of all pairs, of "pairs" and "triples"."""
        n_columns = len(self.schema)
        return self.cells[: self.offsets[n_columns * (n_columns - 1) // 2]]

    @property
    def triples(self) -> NDArray[Any]:
        """The cells of all triples, of "triples"."""
        n_columns = len(self.schema)
        return self.cells[self.offsets[n_columns * (n_columns - 1) // 2] :]

    def column(self, j: int) -> NDArray[Any]:
        """Return the counts of one column, of shape (n_values, n_classes), or (n_values,) where there is no class."""
        return self.alone.column(j)

    def table(self, members: Members) -> NDArray[Any]:
        """Return the counts of a family, of shape (values of each member …, n_classes), in the order asked for.

        Where there is no class, the table has no axis for it.
        """
        return without_class_axis(self._by_class(members), self.alone)

    def _by_class(self, members: Members) -> NDArray[Any]:
        if len(members) == 1:
            return self.alone.by_class(members[0])
        k = self.position.get(members)
        if k is not None:
            return self._table(k)
        stored = tuple(sorted(members))
        return self._table(self.position[stored]).transpose(*(stored.index(j) for j in members), len(members))

    def _table(self, k: int) -> NDArray[Any]:
        shape = [*(self.schema[j].n_values for j in self.families[k]), self.n_classes]
        return self.cells[self.offsets[k] : self.offsets[k + 1]].reshape(shape)

    def __add__(self, other: Self) -> Self:
        return self.plus(other)

    def plus(self, other: Self, limit: MemoryLimit | None = None) -> Self:
        """Return the sum. Levels may grow, so it can be larger than both; above ``limit`` bytes is an error."""
        self._refuse_other_families(other)
        alone = self.alone + other.alone
        dtype = wide_enough(np.result_type(self.cells, other.cells), alone.n_rows)
        if limit is not None:
            families = self.families if self.kind == "given" else self.kind
            known = (sizes_of(alone.schema), alone.n_classes, families, alone.schema)
            # Both sides are there while the sum is made; the side that grew most is a copy that becomes the sum.
            beside = 2.0 * self.cells.nbytes + other.cells.nbytes
            limit.refuse_too_large(*known, weighted=dtype.itemsize == 8, beside=beside)
        ours, theirs = self._recount(alone, dtype), other._recount(alone, dtype)
        copies = [cells for cells, old in ((ours, self.cells), (theirs, other.cells)) if cells is not old]
        return replace(self, alone=alone, cells=np.add(ours, theirs, out=copies[0] if copies else None))

    def __sub__(self, other: Self) -> Self:
        self._refuse_other_families(other)
        alone = self.alone - other.alone  # refuses what was never counted, and drops levels that no row has
        dtype = np.result_type(self.cells, other.cells)
        cells = self._recount(alone, dtype) - other._recount(alone, dtype)
        slack = 0.0 if dtype.kind == "i" else 1e-9 * max(1.0, float(self.n_class.sum()))
        if (cells < -slack).any():
            raise MergeError("cannot subtract rows that were never counted: a count would become negative.")
        if slack:
            cells = np.where(np.abs(cells) <= slack, 0.0, cells)
        return replace(self, alone=alone, cells=cells)

    def weighted(self, factor: NDArray[np.float64]) -> Self:
        """Return the counts with each row of class c counted ``factor[c]`` times, when they become probabilities."""
        values = self.alone.values
        scaled = replace(values, n_class=values.n_class * factor, n_value=values.n_value * factor)
        cells = (self.cells.reshape(-1, self.n_classes) * factor).ravel()
        return replace(self, alone=replace(self.alone, values=scaled), cells=cells)

    def declare(self, classes: NDArray[Any]) -> Self:
        """Return the counts with declared classes, which may have no row yet."""
        return self.under(self.alone.declare(classes), self.cells.dtype)

    def narrow(self) -> Self:
        """Return the counts without levels and classes that have no row and were not declared."""
        return self.under(self.alone.narrow(), self.cells.dtype)

    def under(self, alone: TableCounts, dtype: np.dtype[Any]) -> Self:
        """Return the same cells beside other counts of the columns, whose levels and classes cover these."""
        return replace(self, alone=alone, cells=self._recount(alone, dtype))

    def keep(self, families: Families, chosen_by: NDArray[np.float64] | None = None) -> FamilyCounts:
        """Return the counts of some families only, out of those that were counted, and what they were chosen by."""
        return replace(self._given(families, [self._by_class(members) for members in families]), chosen_by=chosen_by)

    def extend(
        self,
        columns: list[NDArray[Any]],
        y: NDArray[Any] | None,
        families: Families,
        weight: NDArray[np.float64] | None = None,
        limit: MemoryLimit | None = None,
    ) -> FamilyCounts:
        """Return the counts of these families of the same rows; one pass counts those that were not counted yet."""
        if limit is not None:
            sizes, n_classes, weighted = sizes_of(self.schema), self.n_classes, weight is not None
            # What is counted now is brought together with what was counted before, which is a copy.
            copy = table_bytes(table_cells(sizes, families)[1], n_classes, weighted=weighted)
            known = (sizes, n_classes, families, self.schema)
            limit.refuse_too_large(*known, weighted=weighted, beside=self.cells.nbytes + copy)
        new = tuple(members for members in families if not self._has(members))
        more = FamilyCounts.of(self.alone, columns, y, new, weight) if new else self
        tables = [(more if members in more.position else self)._by_class(members) for members in families]
        return self._given(families, tables)

    def _has(self, members: Members) -> bool:
        return len(members) == 1 or members in self.position or tuple(sorted(members)) in self.position

    def _given(self, families: Families, tables: list[NDArray[Any]]) -> FamilyCounts:
        # Each in the type of the whole first: one table of wider numbers would make the whole wide for a while.
        dtype = self.cells.dtype
        parts = [table.astype(dtype, copy=False).ravel() for table in tables]
        return FamilyCounts(self.alone, "given", families, np.concatenate([*parts, np.empty(0, dtype=dtype)]))

    def _recount(self, alone: TableCounts, dtype: np.dtype[Any]) -> NDArray[Any]:
        # The same cells under other levels and classes: those that both sides know.
        same = not alone.has_class or np.array_equal(alone.classes, self.classes)
        if same and alone.schema.variables == self.schema.variables:
            return self.cells.astype(dtype, copy=False)
        shared = [(0, 0)]
        if alone.has_class:
            known = {label: c for c, label in enumerate(alone.classes.tolist())}
            shared = [(c, known[label]) for c, label in enumerate(self.classes.tolist()) if label in known]
        levels = [_shared_levels(ours, theirs) for ours, theirs in zip(self.schema, alone.schema, strict=True)]
        class_levels = np.array(shared, dtype=np.int64).reshape(-1, 2)
        wide = replace(self, alone=alone, cells=np.empty(0, dtype))
        cells = np.zeros(wide.offsets[-1], dtype=dtype)
        for k, shape in enumerate(_shapes(self.families, alone.schema, alone.n_classes)):
            axes = [*(levels[j] for j in self.families[k]), class_levels]
            part = cells[wide.offsets[k] : wide.offsets[k + 1]].reshape(shape)
            part[np.ix_(*(axis[:, 1] for axis in axes))] = self._table(k)[np.ix_(*(axis[:, 0] for axis in axes))]
        return cells

    def _refuse_other_families(self, other: FamilyCounts) -> None:
        if self.families != other.families:
            raise MergeError(
                "the two sides count different families of columns, since they have different structures; "
                "learn the second from the first by partial_fit, or give both the same structure."
            )

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        meta, arrays = self.alone.to_parts()
        given = [list(members) for members in self.families] if self.kind == "given" else []
        arrays = {**arrays, "family_cells": self.cells}
        if self.chosen_by is not None:
            arrays["families_chosen_by"] = self.chosen_by
        return {**meta, "family_kind": self.kind, "families": given}, arrays

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> FamilyCounts:
        """Read what :meth:`to_parts` gave; every size is checked against the schema."""
        alone = TableCounts.from_parts(meta, arrays)
        n_columns = len(alone.schema)
        kind: Any = expect_field(meta, "family_kind", str)
        if kind not in ("pairs", "triples", "given") or alone.schema.numeric:
            raise ModelFileError("families are of discrete columns: all pairs, all triples, or given.")
        given = expect_field(meta, "families", list)
        families = tuple(tuple(members) for members in given) if kind == "given" else _all_families(n_columns, kind)
        if not all(_is_family(members, n_columns) for members in families):
            raise ModelFileError("a family names a column that is not there, or one column twice.")
        n_cells = sum(prod(shape) for shape in _shapes(families, alone.schema, alone.n_classes))
        dtype = arrays["family_cells"].dtype if "family_cells" in arrays else np.dtype(np.int32)
        if dtype not in (np.int32, np.int64, np.float64):
            raise ModelFileError(f"family counts are {dtype}; they must be int32, int64 or float64.")
        cells = expect_array(arrays, "family_cells", dtype, (n_cells,))
        if (cells < 0).any() or not np.isfinite(cells).all():
            raise ModelFileError("a count is below zero or not a finite number.")
        chosen = "families_chosen_by" in arrays
        chosen_by = expect_array(arrays, "families_chosen_by", np.float64, (None, None)) if chosen else None
        return cls(alone, kind, families, cells, chosen_by)


def _is_family(members: Sequence[Any], n_columns: int) -> bool:
    whole = all(type(j) is int and 0 <= j < n_columns for j in members)
    return bool(members) and whole and len(set(members)) == len(members)


def wide_enough(dtype: np.dtype[Any], n_rows: float) -> np.dtype[Any]:
    """Return the type of counts of this many rows: they are kept in four bytes while they must fit."""
    return np.dtype(np.int64) if dtype == np.int32 and n_rows > _MOST_ROWS_OF_INT32 else dtype


def sizes_of(schema: Schema) -> list[int]:
    """Return the number of values of each column; a column that never had a value has none."""
    return [variable.n_values if variable.is_discrete else 0 for variable in schema]


def _all_families(n_columns: int, kind: str) -> Families:
    pairs: Families = tuple(combinations(range(n_columns), 2))
    return pairs if kind == "pairs" else (*pairs, *combinations(range(n_columns), 3))


def _all_cells(sizes: NDArray[np.int64], kind: str) -> NDArray[np.int64]:
    """Return the cells of each table of :func:`_all_families` for one class: millions of families take no loop.

    >>> _all_cells(np.array([2, 3, 5]), "triples")
    array([ 6, 10, 15, 30])
    """
    pairs = [sizes[i] * sizes[i + 1 :] for i in range(len(sizes))]
    triples = [sizes[i] * sizes[j] * sizes[j + 1 :] for i, j in combinations(range(len(sizes)), 2) if kind == "triples"]
    return np.concatenate([np.empty(0, dtype=np.int64), *pairs, *triples])


def _shapes(families: Families, schema: Schema, n_classes: int) -> Iterator[Sequence[int]]:
    sizes = sizes_of(schema)
    return ([*(sizes[j] for j in members), n_classes] for members in families)


def _shared_levels(ours: Any, theirs: Any) -> NDArray[np.int64]:
    """Return (n_shared, 2): the code of each shared value here and there."""
    codes = theirs.code_of
    pairs = [(code, codes[value]) for code, value in enumerate(ours.values) if value in codes]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
