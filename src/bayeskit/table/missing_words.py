"""Words and numbers that stand for a missing cell."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any

# What a file writes in an empty cell; in a column of text these are no values.
USUAL = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")
_BLANK = r"^\s+$"


def without_usual(column: Any, values: Collection[Any] = ()) -> Any:
    """Return a text column in which empty, blank and usual words for a missing cell are such, but for known values.

    >>> import pyarrow as pa
    >>> without_usual(pa.array(["", "NA", " ", "b"]), ["NA"]).to_pylist()
    [None, 'NA', None, 'b']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(column):
        return column
    column = without_words(column, [word for word in USUAL if word not in values])
    blank = pc.match_substring_regex(column, _BLANK)
    return pc.if_else(blank, pa.scalar(None, column.type), column) if pc.any(blank).as_py() else column


def usual_as_missing(table: Any) -> tuple[Any, tuple[str, ...]]:
    """Return a table in whose columns of text the usual words are missing, and what to say of it.

    Whatever holds the table, a file of text or of types or a frame: the same cells are missing. A declared category is
    no text, so that a word such as NA, the code of Namibia, can be one.

    >>> import pyarrow as pa
    >>> table, said = usual_as_missing(pa.table({"land": ["NA", "DE", ""], "n": [1, 2, 3]}))
    >>> table["land"].to_pylist()
    [None, 'DE', None]
    """
    columns, said = [], []
    for name, column in zip(table.column_names, table.columns, strict=True):
        read = without_usual(column)
        columns.append(read)
        if n := read.null_count - column.null_count:
            word = column.filter(_turned(column, read))[0].as_py()
            cells = "1 cell" if n == 1 else f"{n:,} cells"
            said.append(
                f"column {name!r}: {cells} such as {word!r} read as missing, as in a CSV file; where that is a value, "
                "make the column a category"
            )
    return table.from_arrays(columns, names=table.column_names), tuple(said)


def _turned(column: Any, read: Any) -> Any:
    import pyarrow.compute as pc

    return pc.and_(pc.is_valid(column), pc.is_null(read))


def without_words(column: Any, words: Collection[str]) -> Any:
    """Return a column in which cells that are one of the words are missing; a word such as -999 is a number, too.

    >>> import pyarrow as pa
    >>> without_words(pa.array([1.5, -999.0]), ["-999"]).to_pylist()
    [1.5, None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not words:
        return column
    if is_text(column):
        marks = pa.array(list(words), type=column.type)
    elif pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        numbers = numbers_among(words)
        if pa.types.is_integer(column.type):
            numbers = [int(number) for number in numbers if float(number).is_integer() and abs(number) < 2**63]
        if not numbers:
            return column
        marks = pa.array(numbers).cast(column.type, safe=False)
    else:
        return column
    return pc.if_else(pc.is_in(column, value_set=marks), pa.scalar(None, column.type), column)


def without_numbers(column: Any, words: Collection[str]) -> Any:
    """Return a column of numbers without those that are one of the words: -999.0 and -999 kg are -999, too."""
    return column if is_text(column) else without_words(column, words)


def numbers_among(words: Collection[str]) -> list[float]:
    """Return the numbers that some of the words are."""
    return [number for number in map(_number, words) if number is not None]


def _number(word: str) -> float | None:
    try:
        number = float(word)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def is_text(column: Any) -> bool:
    """Return whether an Arrow column holds text."""
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))
