"""A table → its counts: discrete columns value by value, numeric columns as their kinds read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_bytes, count_classes, count_values, n_threads
from bayeskit.counts.memory import refuse_too_wide
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.table import TableCounts, class_codes
from bayeskit.counts.text_columns import count_texts
from bayeskit.counts.values import ValueCounts, ragged
from bayeskit.defaults import BINS
from bayeskit.errors import TableError
from bayeskit.kinds import kinds
from bayeskit.learn.column_kinds import Kinds, grow_schema, learn_schema
from bayeskit.table.column import Coded
from bayeskit.table.encode import as_codes, encode_column, refuse_infinite
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema, Variable

# A table of 256 cells a feature and class must stay near the second-level cache to be worth trying.
_MOST_BYTE_CELLS = 1 << 21
# Bytes of codes made for each thread before they are counted.
_CODES_AT_ONCE = 1 << 20
# A dictionary of more levels than this may be far longer than the list of those in use.
_MOST_RAW_LEVELS = 1 << 16


def count_table(
    source: Source,
    schema: Schema,
    y: NDArray[Any] | None = None,
    classes: NDArray[Any] | None = None,
    weight: NDArray[np.float64] | None = None,
    columns: Sequence[NDArray[Any] | None] | None = None,
) -> TableCounts:
    """Count a table whose schema is known; without ``y`` and ``classes``, all rows together.

    ``columns`` are those of the source in the terms of this schema, where they have been encoded already.
    """
    y, n_classes = class_codes(y, source.n_rows), 1 if classes is None else len(classes)

    def encoded(j: int) -> NDArray[Any]:
        done = None if columns is None else columns[j]
        return encode_column(source.column(j), schema[j]) if done is None else done

    raw = {
        j: column
        for j in schema.discrete
        if schema[j].kind == "categorical"
        and (columns is None or columns[j] is None)
        and isinstance(column := source.column(j), Coded)
        and len(column.levels) <= _MOST_RAW_LEVELS
    }
    values = _count_discrete(source, schema, y, n_classes, weight, encoded, raw)
    moments, numbers = _count_numeric(source, schema, y, n_classes, weight, encoded)
    texts = tuple(count_texts(encoded(j), y, classes, weight) for j in schema.texts)
    return TableCounts(schema, classes, values, moments, numbers, texts=texts)


def learn_counts(
    source: Source,
    y: NDArray[Any] | None = None,
    classes: NDArray[Any] | None = None,
    weight: NDArray[np.float64] | None = None,
    kinds: Kinds = None,
    numeric: str = "gaussian",
    bins: int = BINS,
    like: Schema | None = None,
    limit: float | None = None,
    *,
    texts: bool = False,
) -> TableCounts:
    """Count a table whose schema is learned from it.

    With ``like``, the schema that earlier rows are counted under, kinds, bins and levels are its own, and levels that
    it lacks are added to it. ``limit`` bytes are the most that the tables may take, with what is made of them; more is
    refused before any counting. With ``texts``, columns may be free text.

    Examples
    --------
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"wind": ["weak", "strong", "weak"]})
    >>> learn_counts(table, np.array([0, 0, 1]), np.array(["no", "yes"])).column(0)
    array([[1, 0],
           [1, 1]])
    """
    if kinds == "categorical" and (quick := _count_small_integers(source, y, classes, weight, like)) is not None:
        return quick
    columns: Sequence[NDArray[Any] | None] | None = None
    if like is None:
        schema = learn_schema(source, kinds, numeric, bins, weight, y, texts=texts)
    else:
        schema, columns = grow_schema(source, like, kinds, numeric, bins, weight, y, texts=texts)
    if limit is not None:
        refuse_too_wide(schema, 1 if classes is None else len(classes), limit)
    return count_table(source, schema, y, classes, weight, columns)


def learn_coded_counts(
    source: Source,
    y: NDArray[Any] | None = None,
    classes: NDArray[Any] | None = None,
    weight: NDArray[np.float64] | None = None,
    kinds: Kinds = None,
    numeric: str = "mdl",
    bins: int = BINS,
    like: Schema | None = None,
) -> tuple[TableCounts, list[NDArray[Any]]]:
    """Count as :func:`learn_counts` does, and return the encoded columns too, which tables of several columns need."""
    if kinds == "categorical" and (quick := _count_small_integers(source, y, classes, weight, like)) is not None:
        return quick, [as_codes(source.column(j), variable) for j, variable in enumerate(quick.schema)]
    if like is None:
        schema = learn_schema(source, kinds, numeric, bins, weight, y)
        columns = [as_codes(source.column(j), variable) for j, variable in enumerate(schema)]
    else:
        schema, grown = grow_schema(source, like, kinds, numeric, bins, weight, y)
        columns = [
            encode_column(source.column(j), schema[j]) if column is None else column for j, column in enumerate(grown)
        ]
    return count_table(source, schema, y, classes, weight, columns), columns


def _count_small_integers(
    source: Source,
    y: NDArray[Any] | None,
    classes: NDArray[Any] | None,
    weight: NDArray[np.float64] | None,
    like: Schema | None,
) -> TableCounts | None:
    # One reading gives both the levels and their counts, when all values are in 0 .. 255.
    if like is not None and any(variable.kind != "categorical" for variable in like):
        return None
    array, n_classes = source.array, 1 if classes is None else len(classes)
    if array is None or array.dtype.kind not in "iu" or n_classes * array.shape[1] * 256 > _MOST_BYTE_CELLS:
        return None
    y = class_codes(y, source.n_rows)
    cells = count_bytes(array, y, weight, n_classes, n_threads(array.size))
    if cells is None:
        return None
    present = np.asarray(cells.any(axis=2))  # (n_features, 256)
    variables = tuple(
        Variable(name, "categorical", tuple(np.flatnonzero(present[j]).tolist())) for j, name in enumerate(source.names)
    )
    values = ValueCounts(
        count_classes(y, weight, n_classes), cells[present], ragged([variable.n_values for variable in variables])
    )
    none = NumberCounts.none(0, n_classes, values.n_value.dtype)
    schema = Schema(variables, source.named, source.conversions)
    counts = TableCounts(schema, classes, values, Moments.of([], y, n_classes), none)
    return counts if like is None else counts.widen(like.union(counts.schema), classes)


def _count_numeric(
    source: Source,
    schema: Schema,
    y: NDArray[Any],
    n_classes: int,
    weight: NDArray[np.float64] | None,
    encoded: Callable[[int], NDArray[Any]],
) -> tuple[Moments, NumberCounts]:
    kind_named, n_numeric = kinds(), len(schema.numeric)
    whole = len(schema) == n_numeric and all(kind_named[kind].any_number for kind in {v.kind for v in schema})
    if whole and source.array is not None:  # read in place
        moments = _moments(source.array, schema, schema.numeric, y, n_classes, weight, encoded)
        return moments, NumberCounts.none(n_numeric, n_classes, np.int64 if weight is None else np.float64)
    counted = [kind_named[schema[j].kind].counts_numbers for j in schema.numeric]
    columns = [_numbers(schema[j], encoded(j)) for j in schema.numeric]
    kept = [column if one_by_one else None for column, one_by_one in zip(columns, counted, strict=True)]
    numbers = NumberCounts.of(kept, y, n_classes, weight)
    summed = [k for k, one_by_one in enumerate(counted) if not one_by_one]
    places = tuple(schema.numeric[k] for k in summed)
    moments = _moments([columns[k] for k in summed], schema, places, y, n_classes, weight, encoded)
    if len(summed) < n_numeric:
        moments = moments.remap(n_numeric, np.array(summed, dtype=np.int64), n_classes, np.arange(n_classes))
    return moments, numbers


def _moments(
    table: list[NDArray[Any]] | NDArray[Any],
    schema: Schema,
    places: tuple[int, ...],
    y: NDArray[Any],
    n_classes: int,
    weight: NDArray[np.float64] | None,
    encoded: Callable[[int], NDArray[Any]],
) -> Moments:
    try:
        return Moments.of(table, y, n_classes, weight)
    except OverflowError as error:
        for j in places:
            refuse_infinite(encoded(j), schema[j].name)
        column, size = error.args
        what, unit = ("overflow", "larger") if size == "large" else ("vanish", "smaller")
        raise TableError(
            f"column '{schema[places[column]].name}' holds numbers so {size} that the squares of their differences "
            f"{what}; give it in a {unit} unit."
        ) from None


def _numbers(variable: Variable, numbers: NDArray[Any]) -> NDArray[Any]:
    kind = kinds()[variable.kind]
    return numbers if kind.any_number else kind.read(variable, numbers)


def _count_discrete(
    source: Source,
    schema: Schema,
    y: NDArray[Any],
    n_classes: int,
    weight: NDArray[np.float64] | None,
    encoded: Callable[[int], NDArray[Any]],
    raw: dict[int, Coded],
) -> ValueCounts:
    # Counted whenever enough codes have been made, so that those of a large table never stand in memory all at once;
    # a column that came as codes is counted where it lies, and its table is put in the order of the schema.
    tables = [np.empty((0, n_classes), dtype=np.int64 if weight is None else np.float64)]
    columns: list[NDArray[Any]] = []
    sizes: list[int] = []
    made = 0
    for position, j in enumerate(schema.discrete):
        given = source.column(j)
        columns.append(raw[j].codes if j in raw else encoded(j))
        sizes.append(len(raw[j].levels) if j in raw else schema[j].n_values)
        if not np.may_share_memory(columns[-1], given.codes if isinstance(given, Coded) else given.values):
            made += columns[-1].nbytes
        if made > n_threads() * _CODES_AT_ONCE or position == len(schema.discrete) - 1:
            counted = count_values(columns, y, weight, n_classes, sizes, n_threads(len(y) * len(columns)))
            parts = np.split(counted, np.cumsum(sizes)[:-1])
            places = schema.discrete[position + 1 - len(sizes) : position + 1]
            for k, part in zip(places, parts, strict=True):
                tables.append(_in_order(part, raw[k], schema[k]) if k in raw else part)
            columns, sizes, made = [], [], 0
    offsets = ragged([schema[j].n_values for j in schema.discrete])
    return ValueCounts(count_classes(y, weight, n_classes), np.concatenate(tables), offsets)


def _in_order(table: NDArray[Any], column: Coded, variable: Variable) -> NDArray[Any]:
    """Return the counts of a column's own levels, of shape (n_levels, n_classes), as those of the variable's values."""
    if column.levels == variable.values:
        return table
    out = np.zeros((variable.n_values, table.shape[1]), dtype=table.dtype)
    known = [(k, variable.code_of[level]) for k, level in enumerate(column.levels) if level in variable.code_of]
    if known:
        here, there = np.array(known).T
        out[there] = table[here]
    return out
