"""Several tables with the same columns as one table, its rows one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.column import Coded, Column, Numbers, missing_code
from bayeskit.table.read import Source
from bayeskit.table.schema import Value


def concatenated(parts: Sequence[Source]) -> Source:
    """Return the rows of several tables with the same columns as one table.

    >>> from bayeskit.table.read import read_table
    >>> a, b = read_table({"sky": ["sun", "rain"]}), read_table({"sky": ["fog"]})
    >>> concatenated([a, b]).column(0)
    Coded(codes=array([0, 1, 2], dtype=uint8), levels=('sun', 'rain', 'fog'), declared=False)
    """
    if len(parts) == 1:
        return parts[0]
    if all(part.array is not None for part in parts):
        array = np.concatenate([part.array for part in parts if part.array is not None])
        return Source(parts[0].names, parts[0].named, len(array), None, array)
    columns = tuple(_joined([part.column(j) for part in parts], name) for j, name in enumerate(parts[0].names))
    return Source(parts[0].names, parts[0].named, sum(part.n_rows for part in parts), columns)


def _joined(columns: Sequence[Column], name: str) -> Column:
    filled = [c for c in columns if not c.all_missing()]
    if all(isinstance(c, Numbers) for c in filled):
        return Numbers(
            np.concatenate([c.values if isinstance(c, Numbers) else np.full(len(c), np.nan) for c in columns])
        )
    if not all(isinstance(c, Coded) for c in filled):
        raise TableError(f"column '{name}' holds text in one sequence and numbers in another.")
    coded = [c for c in filled if isinstance(c, Coded)]
    levels = {level: None for c in coded for level in c.levels}
    code_of = {level: code for code, level in enumerate(levels)}
    codes = [_codes(c, code_of) for c in columns]
    width = max(c.dtype.itemsize for c in codes)
    wide = [_widened(c, np.dtype(f"u{width}")) for c in codes]
    return Coded(np.concatenate(wide), tuple(levels), all(c.declared for c in coded))


def _codes(column: Column, code_of: dict[Value, int]) -> NDArray[Any]:
    """Return a column as codes of the levels of all; one without any level is missing throughout."""
    if isinstance(column, Coded) and column.levels:
        return column.codes_for(code_of)
    dtype = np.dtype(np.uint8)
    return np.full(len(column), missing_code(dtype), dtype=dtype)


def _widened(codes: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if codes.dtype == dtype:
        return codes
    return np.where(codes == missing_code(codes.dtype), missing_code(dtype), codes).astype(dtype)
