"""Values → codes: learn which kind each column is, then read any table in those terms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import digitise, recode, whole_levels
from bayeskit.errors import TableError, UnseenValueError
from bayeskit.table.column import LOOKUP_UNSEEN, Coded, Column, Numbers, code_bytes, missing_code, unseen_code
from bayeskit.table.discretise import METHODS, learn_edges, learn_mdl_edges
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema, Value, Variable

# What a user may say of a column; "numeric" leaves the choice to the model's `numeric` setting.
KINDS = ("categorical", "bernoulli", "numeric", "gaussian", "poisson", *METHODS)
Kinds = Mapping[str, str] | Mapping[int, str] | str | None

# A column whose whole numbers span more than this is looked up by search, not in a table.
_WIDEST_LOOKUP = 1 << 22


def learn_schema(
    source: Source,
    kinds: Kinds = None,
    numeric: str = "gaussian",
    bins: int = 10,
    weight: NDArray[np.float64] | None = None,
    like: Schema | None = None,
    y: NDArray[Any] | None = None,
) -> Schema:
    """Say what each column is: text, categories and booleans are categorical, numbers are as ``numeric`` says.

    Parameters
    ----------
    source : Source
        The table that was read.
    kinds : dict of column name or position to kind, or one kind for all, optional
        Overrides the dtype: "categorical", "bernoulli", "numeric", "gaussian", "poisson", "equal-width",
        "equal-frequency" or "mdl".
    numeric : str
        What a column of numbers is unless ``kinds`` says otherwise: "gaussian", "poisson", or a way to cut bins.
    bins : int
        How many bins to cut at the most.
    weight : float64 array of shape (n_rows,), optional
        Row weights, for the cutting of bins.
    like : Schema, optional
        The schema of earlier rows: a column keeps the kind and the bins that it has there.
    y : array of shape (n_rows,), optional
        Class codes, which the cutting of bins by "mdl" needs.
    """
    wanted = _wanted_kinds(source, kinds)
    variables: list[Variable] = []
    by_class: list[int] = []
    for j, name in enumerate(source.names):
        column = source.column(j)
        known = like[j] if like is not None else None
        if known is not None and known.kind != "unknown":
            variables.append(
                known if known.kind == "binned" else _learn_variable(column, name, known.kind, bins, weight)
            )
            continue
        kind = wanted.get(name) or ("categorical" if _is_categorical(column) else "numeric")
        kind = numeric if kind == "numeric" else kind
        if kind == "mdl" and not column.missing().all():
            by_class.append(j)
        variables.append(_learn_variable(column, name, kind, bins, weight))
    if by_class:
        if y is None:
            raise TableError(f"column '{source.names[by_class[0]]}' cannot be cut by 'mdl' without class labels.")
        numbers = [_as_numbers(source.column(j), variables[j], "mdl") for j in by_class]
        edges = learn_mdl_edges(numbers, y, int(y.max()) + 1, weight)
        for j, cuts in zip(by_class, edges, strict=True):
            variables[j] = Variable(source.names[j], "binned", edges=cuts)
    return Schema(tuple(variables), source.named)


def encode(source: Source, schema: Schema, *, unseen_is_error: bool = False) -> list[NDArray[Any]]:
    """Return one array a column: codes for a discrete one, numbers for a numeric one.

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
    """Return one column as the codes or the numbers of its variable."""
    if variable.kind == "unknown":
        return np.full(len(column), missing_code(np.dtype(np.uint8)), dtype=np.uint8)
    if isinstance(column, Coded) and not column.levels:  # every cell is missing
        column = Numbers(np.full(len(column), np.nan))
    if variable.kind in ("gaussian", "poisson", "binned"):
        numbers = _as_numbers(column, variable)
        if variable.kind == "binned":
            refuse_infinite(numbers, variable.name)
            return digitise(numbers, np.array(variable.edges), code_bytes(variable.n_values))
        return numbers
    text = any(isinstance(value, str) for value in variable.values)
    if isinstance(column, Coded):
        if variable.values and text != isinstance(column.levels[0], str):
            raise _wrong_type(variable, column.levels[0])
        return column.codes_for(variable.code_of)
    if text and not column.all_missing():
        raise _wrong_type(variable, column.values[~column.missing()][0].item())
    refuse_infinite(column.values, variable.name)
    return _code_numbers(column.values, variable.values)


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
    if not values or variable.kind == "binned" or not all(type(value) is int for value in values):
        return None
    low = int(values[0])
    return low if values == tuple(range(low, low + len(values))) else None


def _wanted_kinds(source: Source, kinds: Kinds) -> dict[str, str]:
    if kinds is None:
        return {}
    if isinstance(kinds, str):
        wanted = dict.fromkeys(source.names, kinds)
    else:
        wanted = {}
        for key, kind in kinds.items():
            position = key if isinstance(key, int | np.integer) and 0 <= key < len(source.names) else None
            name = str(key) if position is None else source.names[position]
            if name not in source.names:
                raise TableError(
                    f"kinds names the column {key!r}, which is not there; the columns are {', '.join(source.names)}."
                )
            wanted[name] = kind
    for name, kind in wanted.items():
        if kind not in KINDS:
            raise TableError(f"kinds says '{kind}' for column '{name}'; it must be one of {', '.join(KINDS)}.")
    return wanted


def _is_categorical(column: Column) -> bool:
    return isinstance(column, Coded) or column.values.dtype.kind == "b"


def _learn_variable(column: Column, name: str, kind: str, bins: int, weight: NDArray[np.float64] | None) -> Variable:
    if isinstance(column, Coded) and column.declared and kind == "categorical":
        return Variable(name, "categorical", column.levels, declared=True)
    if column.all_missing():
        return Variable(name, "unknown")
    if kind == "categorical":
        values = column.present() if isinstance(column, Coded) else _distinct(column.values, name)
        return Variable(name, "categorical", values)
    if kind == "bernoulli":
        values = column.present() if isinstance(column, Coded) else _distinct(column.values, name)
        if not set(values) <= {0, 1}:
            odd = next(value for value in values if value not in (0, 1))
            raise TableError(
                f"column '{name}' cannot be bernoulli: it holds {odd!r}; its values must be 0 and 1, or False and True."
            )
        return Variable(name, "bernoulli", (0, 1), declared=True)
    numbers = _as_numbers(column, Variable(name, "gaussian"), kind)
    if kind == "gaussian":
        return Variable(name, "gaussian")
    if kind == "poisson":
        refuse_uncountable(numbers, name)
        return Variable(name, "poisson")
    refuse_infinite(numbers, name)
    if kind == "mdl":
        return Variable(name, "binned")  # all such columns are cut in one go, with the classes at hand
    return Variable(name, "binned", edges=learn_edges(numbers, kind, bins, weight))  # type: ignore[arg-type]


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


def refuse_uncountable(numbers: NDArray[Any], name: str) -> None:
    """Raise the error that names the first cell of a Poisson column that is no count."""
    refuse_infinite(numbers, name)
    odd = (numbers < 0) | (np.floor(numbers) < numbers)
    if odd.any():
        row = int(odd.argmax())
        raise TableError(
            f"column '{name}', row {row}: a poisson column holds counts 0, 1, 2, …; got {numbers[row].item()!r}."
        )


def _distinct(values: NDArray[Any], name: str) -> tuple[Value, ...]:
    if values.dtype.kind == "b":
        return tuple(bool(value) for value in np.unique(values))
    whole = whole_levels(values)
    if whole is not None:
        return tuple(whole.tolist())
    refuse_infinite(values, name)
    distinct = np.unique(values)
    distinct = distinct[~np.isnan(distinct)] if values.dtype.kind == "f" else distinct
    return tuple(value if value != int(value) else int(value) for value in distinct.tolist())


def _as_numbers(column: Column, variable: Variable, kind: str | None = None) -> NDArray[Any]:
    if isinstance(column, Numbers):
        return column.values
    example = column.levels[0]
    if isinstance(example, str):
        if kind is not None:
            raise TableError(f"column '{variable.name}' cannot be {kind}: it holds text such as {example!r}.")
        raise _wrong_type(variable, example)
    lookup = np.array([*column.levels, np.nan], dtype=np.float64)
    return np.asarray(lookup[np.minimum(column.codes, len(column.levels))])


def _wrong_type(variable: Variable, example: Any) -> TableError:
    # The values of a binned column are the names of its bins; what it held were numbers.
    discrete = variable.is_discrete and variable.kind != "binned"
    was = "text" if discrete and isinstance(variable.values[0], str) else "numbers"
    now = "text" if isinstance(example, str) else "numbers"
    return TableError(f"column '{variable.name}' held {was} in fit; {now} came, such as {example!r}.")


def _code_numbers(values: NDArray[Any], levels: tuple[Value, ...]) -> NDArray[Any]:
    width = code_bytes(len(levels))
    whole = bool(levels) and all(isinstance(level, int) for level in levels)
    if whole and max(levels) - min(levels) < _WIDEST_LOOKUP:  # type: ignore[operator]
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
        found = ranked[position] == values
        codes[found] = order[position[found]]
    if values.dtype.kind == "f":
        codes[np.isnan(values)] = missing_code(codes.dtype)
    return codes
