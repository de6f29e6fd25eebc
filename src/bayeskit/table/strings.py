"""Columns of strings and other Python objects, each cell read once by compiled code."""

from __future__ import annotations

import datetime
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import encode_arrow, encode_fixed, encode_objects, recode
from bayeskit.errors import TableError
from bayeskit.table.column import Coded, Column, Numbers, missing_code
from bayeskit.table.schema import Value


def read_objects(values: NDArray[Any], name: str) -> Column:
    """Read a 1-D object array: strings and booleans are levels, numbers are numbers."""
    try:
        codes, levels = encode_objects(values, _missing_objects())
    except TypeError as error:  # an unhashable cell
        raise _not_a_value(values, name) from error
    kinds = {_type_name(level) for level in levels}
    if "other" in kinds:
        raise _not_a_value(values, name)
    if kinds == {"number"}:
        return _read_numbers(codes, levels, name)
    if len(kinds) > 1:
        examples = {_type_name(level): level for level in levels}
        shown = " and ".join(f"{value!r}" for value in examples.values())
        raise TableError(
            f"column '{name}' mixes types, such as {shown}; turn all of its values into text or into numbers."
        )
    plain = [_plain(level) for level in levels]
    column = Coded(codes, tuple(dict.fromkeys(plain)))
    if len(column.levels) < len(plain):  # str and np.str_ of the same letters are one value
        code_of = {level: code for code, level in enumerate(column.levels)}
        lookup = np.array([code_of[level] for level in plain], dtype=np.int64)
        return Coded(recode(codes, 0, lookup, codes.itemsize, True), column.levels)
    return column


def _read_numbers(codes: NDArray[np.uint32], levels: list[Any], name: str) -> Numbers:
    whole = all(isinstance(level, int | np.integer) and -(2**63) <= level < 2**63 for level in levels)
    if whole and not (codes == missing_code(codes.dtype)).any():
        return Numbers(np.array([int(level) for level in levels], dtype=np.int64)[codes])
    numbers = np.full(len(levels) + 1, np.nan)
    try:
        numbers[:-1] = [float(level) for level in levels]
    except OverflowError:
        raise TableError(f"column '{name}' holds a whole number that is too large for a float.") from None
    large = [level for level in set(levels) if isinstance(level, int) and abs(level) >= 2**63]
    alike = {float(level): level for level in large}
    for level in large:
        if alike[float(level)] != level:
            raise TableError(
                f"column '{name}' holds {alike[float(level)]} and {level}, which are one number among floats; turn its "
                "values into text."
            )
    return Numbers(numbers[np.minimum(codes, len(levels))])


def read_fixed(values: NDArray[np.str_]) -> Coded:
    """Read a 1-D array of fixed-width text (dtype ``<U7``)."""
    width = values.dtype.itemsize
    if width == 0:
        return Coded(np.zeros(len(values), dtype=np.uint32), ("",) if len(values) else ())
    cells = np.ascontiguousarray(values)
    codes, first = encode_fixed(cells.view(np.uint8).reshape(len(cells), width), width)
    return Coded(codes, tuple(str(text) for text in cells[first]))


def read_arrow(stream: Any) -> Coded:
    """Read strings from an Arrow stream capsule: pyarrow, polars and pandas' Arrow strings give one without a copy."""
    codes, levels = encode_arrow(stream)
    return Coded(codes, tuple(levels))


def _missing_objects() -> list[object]:
    # Only a program that has imported pandas can hold these.
    pandas = sys.modules.get("pandas")
    return [pandas.NA, pandas.NaT] if pandas is not None else []


def _type_name(level: object) -> str:
    if isinstance(level, str):
        return "text"
    if isinstance(level, bool | np.bool_):
        return "bool"
    if isinstance(level, int | float | np.integer | np.floating):
        return "number"
    return "other"


def _plain(level: Any) -> Value:
    return bool(level) if isinstance(level, np.bool_) else str(level) if isinstance(level, str) else level


def _not_a_value(values: NDArray[Any], name: str) -> TypeError:
    for row, cell in enumerate(values):
        if cell is not None and _type_name(cell) == "other":
            hint = ""
            if isinstance(cell, datetime.date):
                hint = " Split a date into the parts that matter (year, month, weekday)."
            return TypeError(
                f"column '{name}', row {row}: argument must be a string or a number; "
                f"got {type(cell).__name__} {cell!r}.{hint}"
            )
    return TypeError(f"column '{name}': argument must be a string or a number.")
