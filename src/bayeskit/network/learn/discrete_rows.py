"""Rows to learn a network from: coded columns, the schema that the codes are under, and weights."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.defaults import NETWORK_BINS
from bayeskit.errors import BayeskitWarning, TableError, warn_caller
from bayeskit.learn.column_kinds import Kinds, learn_schema
from bayeskit.network.states import state_names
from bayeskit.table.discretize import METHODS
from bayeskit.table.encode import as_codes
from bayeskit.table.labels import read_weight
from bayeskit.table.read import Source, read_table
from bayeskit.table.schema import Schema

# Beyond this many states a column is more likely a name or a number of its row than a variable.
_MANY_STATES = 1000
# So many columns that are copies of others are named.
_MOST_COPIES = 5
# In fewer rows two columns may be the same by chance.
_FEW_ROWS = 30


@dataclass(frozen=True, eq=False)
class DiscreteRows:
    """Coded columns of discrete variables.

    Attributes
    ----------
    schema : Schema
        The columns; all are discrete, and all values are declared.
    columns : list of unsigned integer arrays of shape (n_rows,)
        Codes; a code that is not a value is a missing cell.
    weight : float64 array of shape (n_rows,), or None
        How often each row counts.
    """

    schema: Schema
    columns: list[NDArray[Any]]
    weight: NDArray[np.float64] | None

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.schema.names

    @cached_property
    def states(self) -> list[tuple[str, ...]]:
        """The states of each variable, as text."""
        return [state_names(variable) for variable in self.schema]

    @cached_property
    def cards(self) -> list[int]:
        """The number of states of each variable."""
        return [variable.n_values for variable in self.schema]

    def missing(self) -> NDArray[np.bool_]:
        """Say of each cell whether it is missing, (n_rows, n_columns)."""
        return np.stack([column >= card for column, card in zip(self.columns, self.cards, strict=True)], axis=1)

    def take(self, rows: NDArray[Any]) -> DiscreteRows:
        """Return some of the rows, also several times."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, columns=[column[rows] for column in self.columns], weight=weight)

    def complete_rows(self) -> DiscreteRows:
        """Return the rows without a missing cell; refuse a table that has none."""
        whole = np.ones(self.n_rows, dtype=bool)
        for column, card in zip(self.columns, self.cards, strict=True):
            whole &= column < card
        if not whole.any():
            raise TableError(
                "every row has a missing cell, so there is no complete row to learn from; pass missing='node-average' "
                "or missing='em', or leave out the columns with most missing cells.",
                "missing",
            )
        return self if whole.all() else self.take(np.flatnonzero(whole))


def read_rows(
    table: Any, sample_weight: Any = None, *, kinds: Kinds = None, numeric: str | None = None, bins: int = NETWORK_BINS
) -> DiscreteRows:
    """Read any table as rows of discrete variables.

    Parameters
    ----------
    table : any table, or Rows
    sample_weight : array of shape (n_rows,), optional
        A row of weight 0 is ignored.
    kinds : mapping of column name to kind, or one kind for all, optional
        Overrides the dtype: "categorical" for a numeric column that are names of states.
    numeric : {"equal-width", "equal-frequency"}, optional
        How numeric columns are binned; without it they are an error.
    bins : int, default 5
        The largest number of bins.

    Examples
    --------
    >>> rows = read_rows({"wind": ["weak", None, "strong"], "wet": [True, False, True]})
    >>> rows.cards, rows.columns[0]
    ([2, 2], array([  1, 255,   0], dtype=uint8))
    """
    if isinstance(table, DiscreteRows):
        return table
    if numeric is not None and numeric not in METHODS[:2]:
        also = "; 'mdl' looks at the neighbours in a network, so only learn_structure takes it" * (numeric == "mdl")
        raise TableError(f"numeric must be 'equal-width' or 'equal-frequency'; got {numeric!r}{also}.", "numeric")
    source = read_table(table)
    weight = read_weight(sample_weight, source.n_rows)
    if weight is not None and not weight.all():
        kept = np.flatnonzero(weight)
        source, weight = source.take(kept), np.ascontiguousarray(weight[kept])
    schema = learn_schema(source, kinds, numeric or "gaussian", bins, weight)
    _refuse_numbers(source, schema)
    _refuse_empty(schema)
    columns = [as_codes(source.column(j), variable) for j, variable in enumerate(schema)]
    variables = tuple(replace(variable, declared=True) for variable in schema)
    _warn_of_odd_columns(schema.with_variables(variables), source.n_rows)
    return DiscreteRows(schema.with_variables(variables), columns, weight)


def _refuse_numbers(source: Source, schema: Schema) -> None:
    numbers = [variable.name for variable in schema if variable.numeric]
    if numbers:
        shown = ", ".join(map(repr, numbers[:5])) + (" …" if len(numbers) > 5 else "")
        raise TableError(
            f"column{'s' if len(numbers) > 1 else ''} {shown} hold{'' if len(numbers) > 1 else 's'} numbers, and a "
            "network is learned over states: pass numeric='equal-frequency' (with bins=5) to cut them into bins, or "
            "kinds={name: 'categorical'} where the numbers are names of states.",
            "numeric",
        )


def _refuse_empty(schema: Schema) -> None:
    empty = [variable.name for variable in schema if not variable.n_values]
    if empty:
        raise TableError(f"column {empty[0]!r} has no value in any row; leave it out, or name it as a hidden variable.")


def _warn_of_odd_columns(schema: Schema, n_rows: int) -> None:
    constant = [variable.name for variable in schema if variable.n_values == 1]
    if constant:
        warnings.warn(
            f"column{'s' if len(constant) > 1 else ''} {', '.join(map(repr, constant[:5]))} "
            f"{'have' if len(constant) > 1 else 'has'} one value in all rows, so no arc can be found there.",
            BayeskitWarning,
            stacklevel=4,
        )
    wide = [variable for variable in schema if variable.n_values > max(n_rows / 2, 1) and variable.n_values > 50]
    wide += [variable for variable in schema if variable.n_values > _MANY_STATES and variable not in wide]
    if wide:
        shown = ", ".join(f"{variable.name!r} ({variable.n_values} values)" for variable in wide[:5])
        warnings.warn(
            f"{shown} in {n_rows} rows: such a column is mostly a name or a number of the row; leave it out, or group "
            "its values.",
            BayeskitWarning,
            stacklevel=4,
        )


def warn_of_copies(rows: DiscreteRows) -> None:
    """Warn of columns that are the same but for their values' names: given one, the other is independent of all."""
    if rows.n_rows < _FEW_ROWS:
        return
    first: dict[bytes, str] = {}
    copies = []
    for name, column, card in zip(rows.names, rows.columns, rows.cards, strict=True):
        before = first.setdefault(_in_order_of_appearance(column, card).tobytes(), name)
        if before != name and card > 1:
            copies.append((before, name))
    for before, name in copies[:_MOST_COPIES]:
        warn_caller(
            f"columns {before!r} and {name!r} are the same in all rows, so each hides what the other has to do "
            "with the rest; leave one of them out."
        )


def _in_order_of_appearance(column: NDArray[Any], card: int) -> NDArray[np.uint32]:
    """Return the codes numbered anew, in the order in which they come first; a missing cell stays the largest."""
    codes = np.minimum(column, card).astype(np.uint32)
    at = np.full(card + 1, len(codes))
    at[codes[::-1]] = np.arange(len(codes))[::-1]  # the last that is written, the first row, is kept
    number = np.empty(card + 1, dtype=np.uint32)
    number[np.argsort(at[:card], kind="stable")] = np.arange(card, dtype=np.uint32)
    number[card] = np.uint32(2**32 - 1)
    renumbered: NDArray[np.uint32] = number[codes]
    return renumbered
