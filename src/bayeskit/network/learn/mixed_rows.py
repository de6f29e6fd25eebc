"""Rows to learn a mixed network from: coded columns for discrete variables, numbers for real ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.learn.column_kinds import Kinds, learn_schema
from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.network.states import state_names
from bayeskit.table.encode import as_codes, as_numbers
from bayeskit.table.labels import read_weight
from bayeskit.table.read import read_table
from bayeskit.table.schema import Schema

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Columns of discrete and real variables.

    Attributes
    ----------
    schema : Schema
        All columns; numeric ones are real.
    codes : dict of column to unsigned integer array of shape (n_rows,)
        A code that is not a value is a missing cell.
    numbers : dict of column to float64 array of shape (n_rows,)
        NaN is a missing cell.
    weight : float64 array of shape (n_rows,), or None
    """

    schema: Schema
    codes: dict[int, NDArray[Any]]
    numbers: dict[int, Floats]
    weight: Floats | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(next(iter((*self.codes.values(), *self.numbers.values()))))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.schema.names

    @cached_property
    def states(self) -> list[tuple[str, ...]]:
        """The states of each variable; none of a real one."""
        return [() if j in self.numbers else state_names(variable) for j, variable in enumerate(self.schema)]

    def whole(self, columns: Sequence[int] | None = None) -> NDArray[np.bool_]:
        """Say of each row whether it has no missing cell in these columns; by default in any."""
        known = np.ones(self.n_rows, dtype=bool)
        for j in range(len(self.names)) if columns is None else columns:
            known &= ~np.isnan(self.numbers[j]) if j in self.numbers else self.codes[j] < self.schema[j].n_values
        return known

    def values(self, j: int) -> NDArray[Any]:
        """Return a column as a table has it: numbers, or states as text with None for a missing one."""
        if j in self.numbers:
            return self.numbers[j]
        words = np.array([*self.states[j], None], dtype=object)
        return np.asarray(words[np.minimum(self.codes[j], len(words) - 1)])

    def take(self, rows: NDArray[Any]) -> MixedRows:
        """Return some of the rows."""
        return replace(
            self,
            codes={j: column[rows] for j, column in self.codes.items()},
            numbers={j: column[rows] for j, column in self.numbers.items()},
            weight=None if self.weight is None else self.weight[rows],
        )

    def discrete(self) -> DiscreteRows | None:
        """Return the discrete columns, in their order; None where there is none."""
        if not self.codes:
            return None
        schema = self.schema.with_variables(tuple(self.schema[j] for j in self.codes))
        return DiscreteRows(schema, list(self.codes.values()), self.weight)


def read_mixed_rows(table: Any, sample_weight: Any, kinds: Kinds) -> MixedRows:
    """Read any table; columns of numbers are real, unless ``kinds`` says that they are categorical."""
    if isinstance(table, MixedRows):
        return table
    source = read_table(table)
    weight = read_weight(sample_weight, source.n_rows)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        source, weight = source.take(kept), np.ascontiguousarray(weight[kept])
    schema = learn_schema(source, kinds, "gaussian", 2, weight)
    variables = tuple(v if v.numeric else replace(v, declared=True) for v in schema)
    codes, numbers = {}, {}
    for j, variable in enumerate(variables):
        if variable.numeric:
            column = np.asarray(as_numbers(source.column(j), variable.name, "gaussian"), dtype=np.float64)
            if np.isinf(column).any():
                raise TableError(f"column {variable.name!r}, row {int(np.isinf(column).argmax())}: an infinite number.")
            known = column[~np.isnan(column)]
            if not len(known) or known.min() == known.max():
                raise TableError(
                    f"column {variable.name!r} has one number in all rows, so it has no density; leave it out."
                )
            numbers[j] = column
        else:
            if not variable.n_values:
                raise TableError(f"column {variable.name!r} has no value in any row; leave it out.")
            codes[j] = as_codes(source.column(j), variable)
    return MixedRows(schema.with_variables(variables), codes, numbers, weight)
