"""A table of cases in terms of a network: one column of state codes a variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import recode, whole_levels
from bayeskit.errors import TableError, UnseenValueError
from bayeskit.network.names import find_state, nearest
from bayeskit.table.column import LOOKUP_UNSEEN, Coded, Column, code_bytes, missing_code, unseen_code
from bayeskit.table.read import read_table


def read_cases(
    names: Sequence[str],
    states: Sequence[Sequence[str]],
    table: Any,
    *,
    absent: Literal["error", "missing"] = "error",
    unseen: Literal["error", "keep"] = "error",
) -> list[NDArray[Any]]:
    """Return one column of codes a variable: the state's position, or the reserved codes for missing and unseen.

    Parameters
    ----------
    names, states : the variables and their states
    table : any table
        Columns are found by name and values are compared with the states as text, so 1, 1.0 and "1" are the state
        "1"; other columns are passed over. An array without names, or a list of arrays, holds state codes, one column
        a variable in the order of the names.
    absent : {"error", "missing"}
        What to do when a variable has no column.
    unseen : {"error", "keep"}
        What to do with a value that is no state: refuse it, or keep it as the reserved code.
    """
    if isinstance(table, list) and table and all(isinstance(column, np.ndarray) for column in table):
        return _coded(names, states, table)
    source = read_table(table, min_rows=0)
    if not source.named:
        return _coded(names, states, [_whole(source.column(j), j) for j in range(len(source.names))])
    place = {name: j for j, name in enumerate(source.names)}
    columns = []
    for name, own in zip(names, states, strict=True):
        if name in place:
            column = source.column(place[name])
            codes = _encode(column, own)
            if unseen == "error":
                _refuse_unseen(codes, column, name, own)
        elif absent == "error":
            raise TableError(f"the table has no column {name!r}; {nearest(name, source.names)}")
        else:
            codes = np.full(source.n_rows, missing_code(np.dtype(np.uint8)), dtype=np.uint8)
        columns.append(codes)
    return columns


def _coded(
    names: Sequence[str], states: Sequence[Sequence[str]], columns: Sequence[NDArray[Any]]
) -> list[NDArray[Any]]:
    if len(columns) != len(names):
        raise TableError(
            f"a table of codes needs one column a variable, {len(names)} in the order of the names; got {len(columns)}."
        )
    for name, own, column in zip(names, states, columns, strict=True):
        if column.ndim != 1 or len(column) != len(columns[0]) or column.dtype not in (np.uint8, np.uint16, np.uint32):
            raise TableError(
                f"the codes of {name!r} must be a column of uint8, uint16 or uint32, as long as the others; got "
                f"{column.dtype} of shape {column.shape}."
            )
        beyond = (column >= len(own)) & (column < unseen_code(column.dtype))
        if beyond.any():
            row = int(beyond.argmax())
            raise TableError(
                f"row {row}: code {column[row]} of {name!r} is no state; codes go from 0 to {len(own) - 1}."
            )
    return list(columns)


def _whole(column: Column, j: int) -> NDArray[Any]:
    if isinstance(column, Coded):
        raise TableError(f"column {j} holds text but the table has no names; give a frame or a dict of columns.")
    values = column.values
    if values.dtype in (np.uint8, np.uint16, np.uint32):
        return values
    codes = np.where(column.missing(), -1, values)
    if not (codes == np.floor(codes)).all() or codes.max(initial=0) > 65_000 or codes.min(initial=0) < -1:
        raise TableError(f"column {j} holds numbers that are no state codes; give a frame or a dict of columns.")
    return codes.astype(np.int64).astype(np.uint16)  # -1 becomes the code for missing


def _encode(column: Column, states: Sequence[str]) -> NDArray[Any]:
    place = {state: k for k, state in enumerate(states)}
    if isinstance(column, Coded):
        lookup = _lookup(column.levels, place)
        return recode(column.codes, 0, lookup, code_bytes(len(states)), True)
    values = column.values
    if values.dtype.kind == "b":
        lookup = _lookup((False, True), place)
        return recode(values.view(np.uint8), 0, lookup, code_bytes(len(states)), False)
    levels = whole_levels(values)
    if levels is not None and len(levels) and levels[-1] - levels[0] < 1 << 20:
        low = int(levels[0])
        lookup = np.full(int(levels[-1]) - low + 1, LOOKUP_UNSEEN, dtype=np.int64)
        for level in levels.tolist():
            lookup[level - low] = place.get(str(level), LOOKUP_UNSEEN)
        return recode(values, low, lookup, code_bytes(len(states)), False)
    width = np.dtype(f"u{code_bytes(len(states))}")
    codes = np.full(len(values), unseen_code(width), dtype=width)
    for state, k in place.items():
        codes[values == _number(state)] = k
    codes[column.missing()] = missing_code(width)
    return codes


def _lookup(values: Sequence[object], place: dict[str, int]) -> NDArray[np.int64]:
    found = [find_state(value, place) for value in values]
    return np.array([LOOKUP_UNSEEN if k is None else k for k in found], dtype=np.int64)


def _number(state: str) -> float:
    try:
        return float(state)
    except ValueError:
        return float("nan")  # equal to nothing


def _refuse_unseen(codes: NDArray[Any], column: Column, name: str, states: Sequence[str]) -> None:
    rows = np.flatnonzero(codes == unseen_code(codes.dtype))
    if len(rows):
        row = int(rows[0])
        value = column.levels[column.codes[row]] if isinstance(column, Coded) else column.values[row].item()
        raise UnseenValueError(
            f"column {name!r}, row {row}: {value!r} is no state of the variable; {nearest(value, states)}"
        )
