"""Values → codes: encode any table by a schema."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import digitise, recode, whole_levels
from bayeskit.errors import TableError, UnseenValueError
from bayeskit.table.column import LOOKUP_UNSEEN, Coded, Column, Numbers, code_bytes, missing_code, unseen_code
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema, Value, Variable

# A column whose whole numbers span more than this is looked up by search, not in a table.
_WIDEST_LOOKUP = 1 << 22
# A number of this size may be too far from all others for a density.
_FAR = 1e100


def encode(source: Source, schema: Schema, *, unseen_is_error: bool = False) -> list[NDArray[Any]]:
    """Return one array per column: codes for a discrete one, numbers for a numeric one, strings for one of text.

    Codes have the narrowest unsigned type that holds the values and the two reserved codes; a missing cell is the
    largest number of that type, a value that the schema does not know is the second largest.
    """
    columns = []
    for j, variable in enumerate(schema):
        column = encode_column(source.column(j), variable)
        if unseen_is_error and variable.is_discrete:
            refuse_unseen(column, source.column(j), variable)
        columns.append(column)
    return columns


def encode_column(column: Column, variable: Variable) -> NDArray[Any]:
    """Return one column as the codes, the numbers or the texts of its variable."""
    if variable.kind == "unknown":
        return np.full(len(column), missing_code(np.dtype(np.uint8)), dtype=np.uint8)
    if variable.is_text:
        return as_texts(column, variable.name)
    if isinstance(column, Coded) and not column.levels:  # every cell is missing
        column = Numbers(np.full(len(column), np.nan))
    if variable.is_numeric:
        return _as_numbers(column, variable)
    if variable.is_binned:
        numbers = _as_numbers(column, variable)
        refuse_infinite(numbers, variable.name)
        return digitise(numbers, np.array(variable.edges), code_bytes(variable.n_values))
    text = any(isinstance(value, str) for value in variable.values)
    if isinstance(column, Coded):
        if variable.values and text != isinstance(column.levels[0], str):
            raise _wrong_type(variable, column.levels[0])
        return column.codes_for(variable.code_of)
    if text and not column.all_missing():
        raise _wrong_type(variable, column.values[~column.missing()][0].item())
    refuse_infinite(column.values, variable.name)
    return _code_numbers(column.values, variable.values)


def missing_column(variable: Variable, n_rows: int) -> NDArray[Any]:
    """Return a column of missing cells, encoded as :func:`encode_column` does.

    >>> missing_column(Variable("wind", "categorical", ("strong", "weak")), 2)
    array([255, 255], dtype=uint8)
    """
    if variable.is_numeric:
        return np.full(n_rows, np.nan)
    if variable.is_text:
        return np.full(n_rows, None, dtype=object)
    dtype = np.dtype(f"u{code_bytes(variable.n_values)}")
    return np.full(n_rows, missing_code(dtype), dtype=dtype)


def as_codes(column: Column, variable: Variable) -> NDArray[Any]:
    """Return one column as :func:`encode_column` does, or as it is where its numbers are their own codes.

    Codes may then be wider than they need be, which the counting kernels read as well.
    """
    as_it_is = (
        isinstance(column, Numbers)
        and column.values.dtype.kind == "u"
        and column.values.dtype.isnative
        and code_bytes(variable.n_values) <= column.values.dtype.itemsize <= 4
        and contiguous_low(variable) == 0
    )
    return column.values if as_it_is else encode_column(column, variable)  # type: ignore[union-attr]


def refuse_unseen(codes: NDArray[Any], column: Column, variable: Variable) -> None:
    """Raise the error that names the first cell whose value the variable does not know."""
    rows = np.flatnonzero(codes == unseen_code(codes.dtype))
    if len(rows):
        row = int(rows[0])
        value = column.levels[column.codes[row]] if isinstance(column, Coded) else column.values[row].item()
        known = ", ".join(repr(value) for value in variable.values[:10]) + (", …" if variable.n_values > 10 else "")
        raise UnseenValueError(
            f"feature '{variable.name}', row {row}: value {value!r} was not seen in fit; seen: {known}. "
            "Pass unseen='ignore' (the default) to leave this feature out for such rows."
        )


def contiguous_low(variable: Variable) -> int | None:
    """Return the lowest value when the values are whole numbers without a gap, in order; such columns need no codes."""
    values = variable.values
    if not values or variable.is_binned or not all(type(value) is int for value in values):
        return None
    if not _in_int64(values):  # the kernels look numbers up by their distance from the first
        return None
    low = int(values[0])
    return low if values == tuple(range(low, low + len(values))) else None


def _in_int64(levels: tuple[Value, ...]) -> bool:
    return bool(min(levels) >= -(2**63) and max(levels) < 2**63)  # type: ignore[operator]


def refuse_infinite(numbers: NDArray[Any], name: str) -> None:
    """Raise the error that names the first infinite number of a column."""
    if numbers.dtype.kind == "f":
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(infinite.argmax())
            raise TableError(
                f"Input X contains infinity or a value too large for dtype('{numbers.dtype}'): "
                f"column '{name}', row {row}. Leave the cell missing (NaN) or put a finite number there."
            )


def farthest_number(source: Source, row: int) -> str:
    """Return where the largest number of a row stands, as the end of a message; "" where it is of ordinary size."""
    far = []
    for j, name in enumerate(source.names):
        values = getattr(source.column(j), "values", None)
        if values is not None and values.dtype.kind == "f" and abs(values[row]) >= _FAR:
            far.append((abs(float(values[row])), name, float(values[row])))
    return f" Column '{max(far)[1]}' holds {max(far)[2]:g}." if far else ""


def distinct(column: Column, name: str) -> tuple[Value, ...]:
    """Return the values that a column has, in increasing order; declared levels as they were declared."""
    if isinstance(column, Coded):
        return column.present()
    values = column.values
    if values.dtype.kind == "b":
        return tuple(bool(value) for value in np.unique(values))
    whole = whole_levels(values)
    if whole is not None:
        return tuple(whole.tolist())
    refuse_infinite(values, name)
    numbers = np.unique(values)
    numbers = numbers[~np.isnan(numbers)] if values.dtype.kind == "f" else numbers
    return tuple(value if value != int(value) else int(value) for value in numbers.tolist())


def as_numbers(column: Column, name: str, kind: str) -> NDArray[Any]:
    """Return the cells of a column as numbers; text is an error that names the requested kind."""
    if isinstance(column, Coded) and column.levels and isinstance(column.levels[0], str):
        raise TableError(f"column '{name}' cannot be {kind}: it holds text such as {column.levels[0]!r}.")
    return _numbers(column)


def as_texts(column: Column, name: str) -> NDArray[Any]:
    """Return the cells of a column of text as strings, None where they are missing; other cells are an error."""
    if isinstance(column, Numbers) and column.all_missing():
        return np.full(len(column), None, dtype=object)
    values = column.levels if isinstance(column, Coded) else column.values[~column.missing()][:1].tolist()
    strange = next((value for value in values if not isinstance(value, str)), None)
    if strange is not None or not isinstance(column, Coded):
        raise TableError(f"column '{name}' cannot be text: it holds {strange!r}; its cells must be strings.")
    texts = np.full(len(column.levels) + 1, None, dtype=object)
    texts[:-1] = column.levels
    return np.asarray(texts[np.minimum(column.codes, len(column.levels))])  # the code of a missing cell is the largest


def _as_numbers(column: Column, variable: Variable) -> NDArray[Any]:
    if isinstance(column, Coded) and column.levels and isinstance(column.levels[0], str):
        raise _wrong_type(variable, column.levels[0])
    return _numbers(column)


def _numbers(column: Column) -> NDArray[Any]:
    if isinstance(column, Numbers):
        return column.values
    lookup = np.array([*column.levels, np.nan], dtype=np.float64)
    return np.asarray(lookup[np.minimum(column.codes, len(column.levels))])


def _wrong_type(variable: Variable, example: Any) -> TableError:
    # The values of a binned column are the names of its bins; what it held were numbers.
    discrete = variable.is_discrete and not variable.is_binned
    was = "text" if discrete and isinstance(variable.values[0], str) else "numbers"
    now = "text" if isinstance(example, str) else "numbers"
    return TableError(f"column '{variable.name}' held {was} in fit; {now} came, such as {example!r}.")


def _code_numbers(values: NDArray[Any], levels: tuple[Value, ...]) -> NDArray[Any]:
    width = code_bytes(len(levels))
    whole = bool(levels) and all(isinstance(level, int) for level in levels)
    if whole and _in_int64(levels) and max(levels) - min(levels) < _WIDEST_LOOKUP:  # type: ignore[operator]
        low = int(min(levels))
        as_they_are = values.dtype == np.dtype(f"u{width}") and levels == tuple(range(len(levels)))
        if as_they_are and len(values) and values.max() < len(levels):
            return values  # numbers that are their own codes are read in place
        lookup = np.full(int(max(levels)) - low + 1, LOOKUP_UNSEEN, dtype=np.int64)
        lookup[np.array([int(level) for level in levels]) - low] = np.arange(len(levels))
        return recode(values, low, lookup, width, False)
    order = np.argsort(np.array(levels)) if levels else np.empty(0, dtype=np.intp)
    ranked = np.array(levels)[order] if levels else np.empty(0)
    position = np.minimum(np.searchsorted(ranked, values), max(len(ranked) - 1, 0))
    codes = np.full(len(values), unseen_code(np.dtype(f"u{width}")), dtype=f"u{width}")
    if levels:
        seen = ranked[position] == values
        codes[seen] = order[position[seen]]
    if values.dtype.kind == "f":
        codes[np.isnan(values)] = missing_code(codes.dtype)
    return codes
