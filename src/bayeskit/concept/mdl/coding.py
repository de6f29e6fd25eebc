"""How the columns of a table become the integers that a tree is encoded with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.mdl.tree import CodedTable
from bayeskit.io.expect import expect_array
from bayeskit.table.column import missing_code
from bayeskit.table.encode import encode, refuse_infinite
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema


@dataclass(frozen=True, eq=False)
class Coding:
    """Values of discrete columns by their position in the schema, numbers by their rank among those seen in fit.

    ``levels`` holds the distinct numbers of each numeric column in increasing order, and None for the others.
    """

    schema: Schema
    levels: tuple[NDArray[np.float64] | None, ...]

    @classmethod
    def learn(cls, source: Source, schema: Schema) -> Coding:
        """Collect the distinct numbers of each numeric column."""
        levels: list[NDArray[np.float64] | None] = []
        for variable, column in zip(schema, encode(source, schema), strict=True):
            if not variable.is_numeric:
                levels.append(None)
                continue
            refuse_infinite(column, variable.name)
            numbers = np.unique(column.astype(np.float64))
            levels.append(numbers[~np.isnan(numbers)])
        return cls(schema, tuple(levels))

    @property
    def sizes(self) -> NDArray[np.int64]:
        """The number of values, or of distinct numbers, of each column."""
        pairs = zip(self.schema, self.levels, strict=True)
        return np.array([v.n_values if levels is None else len(levels) for v, levels in pairs], dtype=np.int64)

    @property
    def ordered(self) -> NDArray[np.int64]:
        """1 for numeric columns."""
        return np.array([levels is not None for levels in self.levels], dtype=np.int64)

    def table(self, source: Source) -> CodedTable:
        """Read a table: a missing cell has the code ``size``, an unknown value ``size + 1``.

        A number that was not seen in fit takes the rank of the nearest one: thresholds lie half-way between two ranks.
        """
        codes = np.empty((len(self.schema), source.n_rows), dtype=np.uint32)
        sizes = self.sizes
        columns = encode(source, self.schema)
        for j, (variable, column, levels) in enumerate(zip(self.schema, columns, self.levels, strict=True)):
            if levels is not None:
                refuse_infinite(column, variable.name)
                numbers = column.astype(np.float64, copy=False)
                rank = np.searchsorted(_middles(levels), numbers, side="right")
                codes[j] = np.where(np.isnan(numbers), sizes[j], rank)
            else:
                # In the schema's codes the two largest numbers are missing and unseen; every other code is a value.
                missing = missing_code(column.dtype)
                codes[j] = np.minimum(column, np.uint32(sizes[j] + 1))
                codes[j][column == missing] = sizes[j]
        return CodedTable(codes, sizes, self.ordered)

    def threshold(self, j: int, rank: int) -> float:
        """Return the threshold that follows a rank."""
        levels = self.levels[j]
        assert levels is not None
        return float(_middles(levels)[rank])

    def value(self, j: int, code: int) -> str:
        """Return the name of a value of a discrete column."""
        values = self.schema[j].values
        return str(values[code]) if code < len(values) else "missing"

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return the numbers of all numeric columns, one after the other, and how many each has."""
        numbers = [np.empty(0) if levels is None else levels for levels in self.levels]
        n = np.array([-1 if levels is None else len(levels) for levels in self.levels], dtype=np.int64)
        return {"levels": np.concatenate(numbers), "n_levels": n}

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: dict[str, NDArray[Any]]) -> Coding:
        """Read what :meth:`to_arrays` gave."""
        n = expect_array(arrays, "n_levels", np.int64, (len(schema),))
        numbers = expect_array(arrays, "levels", np.float64, (None,))
        if int(np.maximum(n, 0).sum()) != len(numbers) or (n < -1).any():
            raise ValueError("the numbers of the columns do not add up")
        levels: list[NDArray[np.float64] | None] = []
        for variable, n_numbers in zip(schema, n.tolist(), strict=True):
            if (n_numbers >= 0) != variable.is_numeric:
                raise ValueError(f"column '{variable.name}' is categorical but has a list of numbers")
            part = None if n_numbers < 0 else numbers[:n_numbers]
            if part is not None and not (np.isfinite(part).all() and (np.diff(part) > 0).all()):
                raise ValueError(f"the numbers of column '{variable.name}' are not in increasing order")
            levels.append(part)
            numbers = numbers[max(n_numbers, 0) :]
        return cls(schema, tuple(levels))


def _middles(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the numbers half-way between neighbours, or the upper one where the half is rounded off."""
    low, high = levels[:-1], levels[1:]
    middle = low / 2 + high / 2  # the sum of two large numbers may overflow
    return np.where((low < middle) & (middle < high), middle, high)
