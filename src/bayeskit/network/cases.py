"""A table of cases in terms of a network: one column of state codes per variable."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import recode
from bayeskit.errors import TableError, UnseenValueError
from bayeskit.network.states import find_state, states_as_numbers
from bayeskit.network.variable_names import did_you_mean
from bayeskit.table.column import Coded, Column, code_bytes, unseen_code
from bayeskit.table.encode import encode_column
from bayeskit.table.read import read_converted, read_table
from bayeskit.table.schema import Schema, Value, Variable

# A variable with more has a table that is not made.
MOST_STATES = 1 << 27


@dataclass(frozen=True)
class Cases:
    """Cases as state codes.

    Attributes
    ----------
    n_rows : int
        The number of cases.
    columns : list of unsigned integer arrays of shape (n_rows,), or None
        One per variable: the state's position, or the reserved codes for missing and unseen; None for a variable that
        the table has no column for.
    """

    n_rows: int
    columns: list[NDArray[Any] | None]

    def complete(self) -> list[NDArray[Any]]:
        """Return the columns of a table in which every variable has one."""
        return [column for column in self.columns if column is not None]


def read_cases(
    schema: Schema,
    states: Sequence[Sequence[str]],
    table: Any,
    *,
    variables: Collection[int] | None = None,
    absent: Literal["error", "none"] = "error",
    unseen: Literal["error", "keep"] = "error",
) -> Cases:
    """Read any table as state codes.

    Parameters
    ----------
    schema, states : the variables and their states
    table : any table
        Columns are found by name and read as the schema says: numbers fall into bins, values are looked up. Values are
        compared with the states as text where their types differ, so 1, 1.0 and "1" are the state "1"; other columns
        are ignored. An array without names, or a list of arrays, holds state codes, one column per variable in the
        order of the names; where the network was learned from an array without names, such an array holds values.
    variables : positions of variables, optional
        The variables to read; by default all.
    absent : {"error", "none"}
        What to do when a variable has no column.
    unseen : {"error", "keep"}
        What to do with a value that is not a state: raise an error, or keep it as the reserved code.
    """
    if _is_list_of_codes(table):
        return Cases(len(table[0]) if table[0].ndim else 0, _coded(schema, states, table))
    source = read_table(table, min_rows=0) if schema.conversions is None else read_converted(table, schema)
    if not source.named and schema.named:
        codes = [_whole(source.column(j), j) for j in range(len(source.names))]
        return Cases(source.n_rows, _coded(schema, states, codes))
    if source.names and not set(source.names) & set(schema.names):
        raise TableError(
            f"the table has none of the network's variables; its columns are {_some(source.names)}, the variables "
            f"{_some(schema.names)}."
        )
    read = {v.name: (v, states[i]) for i, v in enumerate(schema) if variables is None or i in variables}
    lacking = [name for name in read if name not in source.names]
    if absent == "error" and lacking:
        raise TableError(f"the table has no column {lacking[0]!r}; {did_you_mean(lacking[0], source.names)}")
    columns = {
        name: _encode(source.column(j), *read[name], unseen) for j, name in enumerate(source.names) if name in read
    }
    return Cases(source.n_rows, [columns.get(name) for name in schema.names])


def _is_list_of_codes(table: Any) -> bool:
    return isinstance(table, list) and bool(table) and all(isinstance(column, np.ndarray) for column in table)


def _some(names: Sequence[str], most: int = 5) -> str:
    shown = ", ".join(map(repr, names[:most]))
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def _coded(
    schema: Schema, states: Sequence[Sequence[str]], columns: Sequence[NDArray[Any]]
) -> list[NDArray[Any] | None]:
    if len(columns) != len(schema):
        raise TableError(
            f"a table of codes needs one column per variable, {len(schema)} in the order of the names; got "
            f"{len(columns)}."
        )
    for variable, card, column in zip(schema, map(len, states), columns, strict=True):
        if column.ndim != 1 or len(column) != len(columns[0]) or column.dtype not in (np.uint8, np.uint16, np.uint32):
            raise TableError(
                f"the codes of {variable.name!r} must be a column of uint8, uint16 or uint32, as long as the others; "
                f"got {column.dtype} of shape {column.shape}."
            )
        beyond = (column >= card) & (column < unseen_code(column.dtype))
        if beyond.any():
            row = int(beyond.argmax())
            raise TableError(
                f"row {row}: code {column[row]} of {variable.name!r} is not a state; codes go from 0 to {card - 1}."
            )
    return list(columns)


def _whole(column: Column, j: int) -> NDArray[Any]:
    if isinstance(column, Coded):
        raise TableError(f"column {j} holds text but the table has no names; give a frame or a dict of columns.")
    values = column.values
    if values.dtype in (np.uint8, np.uint16, np.uint32):
        return values
    codes = np.where(column.missing(), -1, values)
    if not (codes == np.floor(codes)).all() or codes.max(initial=0) > MOST_STATES or codes.min(initial=0) < -1:
        raise TableError(f"column {j} holds numbers that are not state codes; give a frame or a dict of columns.")
    width = np.uint16 if codes.max(initial=0) <= 65_000 else np.uint32
    return codes.astype(np.int64).astype(width)  # -1 becomes the code for missing


def _encode(column: Column, variable: Variable, states: Sequence[str], unseen: str) -> NDArray[Any]:
    if not len(column):
        return np.empty(0, dtype=f"u{code_bytes(len(states))}")
    values = _values_in(column, variable, states)
    if values is None:  # as the schema has them
        codes, places = encode_column(column, variable), np.arange(variable.n_values)
    else:
        codes = encode_column(column, Variable(variable.name, "categorical", tuple(values)))
        places = np.array(list(values.values()), dtype=np.int64)
    codes = _placed(codes, places, len(states), open_ended=len(states) > variable.n_values)
    if unseen == "error":
        _refuse_unseen(codes, column, variable.name, states)
    return codes


def _values_in(column: Column, variable: Variable, states: Sequence[str]) -> dict[Value, int] | None:
    """Return the states' positions by value of the column, or None where the schema can encode it."""
    if isinstance(column, Coded):
        if not column.levels:
            return None
        text, boolean = isinstance(column.levels[0], str), isinstance(column.levels[0], bool)
    else:
        text, boolean = False, column.values.dtype.kind == "b"
    if text:
        values: dict[Value, int] = {v: code for v, code in variable.code_of.items() if isinstance(v, str)}
        return {**{state: k for k, state in enumerate(states)}, **values}
    if variable.is_binned or not any(isinstance(value, str) for value in variable.values):
        return None
    if boolean:
        places = {state: k for k, state in enumerate(states)}
        state_places = {value: find_state(value, places) for value in (False, True)}
        return {value: k for value, k in state_places.items() if k is not None}
    return states_as_numbers(states)


def _placed(codes: NDArray[Any], places: NDArray[np.int64], n_states: int, *, open_ended: bool) -> NDArray[Any]:
    """Return codes of values as codes of states; with an open end, an unseen value is the last state."""
    width = code_bytes(n_states)
    as_it_is = not open_ended and codes.dtype.itemsize == width and np.array_equal(places, np.arange(len(places)))
    if as_it_is:
        return codes
    placed = recode(codes, 0, places, width, True)
    if open_ended:
        placed[codes == unseen_code(codes.dtype)] = n_states - 1
    return placed


def _refuse_unseen(codes: NDArray[Any], column: Column, name: str, states: Sequence[str]) -> None:
    rows = np.flatnonzero(codes == unseen_code(codes.dtype))
    if len(rows):
        row = int(rows[0])
        value = column.levels[column.codes[row]] if isinstance(column, Coded) else column.values[row].item()
        raise UnseenValueError(
            f"column {name!r}, row {row}: {value!r} is not a state of the variable; {did_you_mean(value, states)} "
            "Make the network with these states (states=…), or pass unseen='ignore' where the call takes it."
        )
