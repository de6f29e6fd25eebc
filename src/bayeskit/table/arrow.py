"""Arrow arrays → columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import recode
from bayeskit.errors import TableError
from bayeskit.table.column import LOOKUP_MISSING, Coded, Column, Numbers, code_bytes, missing_code
from bayeskit.table.schema import Value
from bayeskit.table.strings import read_arrow

# With more levels than this in a batch, reading and merging them costs more than counting its rows.
_MANY_LEVELS = 1 << 12
# Rows of the batches that are then joined, and cells where the table is wide.
_ROWS_JOINED = 1 << 22
_CELLS_JOINED = 1 << 26


class BatchReader:
    """Reads the columns of batch after batch; the values of a dictionary are read once where batches share it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Any, tuple[Value, ...], NDArray[np.int64] | None]] = {}
        self._many = False  # whether a column with many levels was met

    def joined(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches, joined to larger ones once a column with many levels came."""
        waiting, n_rows = [], 0
        for batch in batches:
            self._many = self._many or any(len(getattr(c, "dictionary", ())) > _MANY_LEVELS for c in batch.columns)
            if not self._many:
                yield batch
                continue
            waiting.append(batch)
            n_rows += batch.num_rows
            if n_rows >= min(_ROWS_JOINED, _CELLS_JOINED // batch.num_columns):
                yield from _join(waiting)
                waiting, n_rows = [], 0
        if waiting:
            yield from _join(waiting)

    def column(self, array: Any, name: str) -> Column:
        """Read one Arrow array."""
        column = self._column(array, name)
        self._many = self._many or (isinstance(column, Coded) and len(column.levels) > _MANY_LEVELS)
        return column

    def _column(self, array: Any, name: str) -> Column:
        import pyarrow as pa

        types, kind = pa.types, array.type
        if types.is_dictionary(kind):
            return self._dictionary(array, name)
        if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
            return read_arrow(pa.chunked_array([array]).__arrow_c_stream__())
        if types.is_boolean(kind):
            if array.null_count == 0:
                return Numbers(array.to_numpy(zero_copy_only=False))
            codes = array.cast(pa.uint8()).fill_null(missing_code(np.dtype(np.uint8))).to_numpy()
            return Coded(codes, (False, True))
        if types.is_null(kind):
            return Numbers(np.full(len(array), np.nan))
        if types.is_integer(kind) and array.null_count == 0:
            return Numbers(array.to_numpy())
        if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
            wide = array if types.is_floating(kind) and kind.bit_width >= 32 else array.cast(pa.float64(), safe=False)
            return Numbers(wide.to_numpy(zero_copy_only=False))
        hint = " Split a date into the parts that matter (year, month, weekday)." if types.is_temporal(kind) else ""
        raise TableError(f"column '{name}': a column is text, numbers or truth values; got Arrow's {kind}.{hint}")

    def _dictionary(self, array: Any, name: str) -> Coded:
        levels, lookup = self._levels(array.dictionary, name)
        codes = _unsigned(array.indices)
        if lookup is not None:
            codes = recode(codes, 0, lookup, code_bytes(len(levels)), True)
        # Only a real categorical declares its values; a dictionary made from text is a way to store text.
        return Coded(codes, levels, declared=bool(array.type.ordered))

    def _levels(self, dictionary: Any, name: str) -> tuple[tuple[Value, ...], NDArray[np.int64] | None]:
        known = self._known.get(name)
        if known is None or not (known[0] is dictionary or known[0].equals(dictionary)):
            entries = dictionary.to_pylist()
            if isinstance(entries[0] if entries else None, str) and len(dictionary.unique()) == len(entries):
                levels = tuple(entry for entry in entries if entry is not None)
            else:
                levels = tuple(dict.fromkeys(as_level(entry) for entry in entries if entry is not None))
            lookup = None
            if len(levels) < len(entries):  # it may hold null, or one value twice
                code_of = {level: code for code, level in enumerate(levels)}
                places = [LOOKUP_MISSING if entry is None else code_of[as_level(entry)] for entry in entries]
                lookup = np.array(places, dtype=np.int64)
            known = self._known[name] = dictionary, levels, lookup
        return known[1], known[2]


def missing_cells(batch: Any, name: str) -> NDArray[np.bool_]:
    """Return which cells of one column of a batch are missing, of shape (n_rows,)."""
    import pyarrow as pa

    array = batch.column(batch.schema.get_field_index(name))
    coded = pa.types.is_dictionary(array.type)
    if not array.null_count and not pa.types.is_floating(array.type) and not (coded and array.dictionary.null_count):
        return np.zeros(len(array), dtype=bool)
    return BatchReader().column(array, name).missing()


def _join(batches: list[Any]) -> Iterator[Any]:
    import pyarrow as pa

    table = pa.Table.from_batches([batch for batch in batches if batch.num_rows] or batches[:1])
    yield from table.unify_dictionaries().combine_chunks().to_batches()


def _unsigned(indices: Any) -> NDArray[Any]:
    import pyarrow as pa

    width = indices.type.bit_width // 8
    if width > 4:
        indices, width = indices.cast(pa.uint32()), 4
    dtype = np.dtype(f"u{width}")
    if indices.null_count:
        if pa.types.is_signed_integer(indices.type):
            # −1 is the largest number once the bits are read without a sign, which is the code of a missing cell.
            return np.asarray(indices.fill_null(-1).to_numpy().view(dtype))
        return np.asarray(indices.cast(pa.uint32()).fill_null(missing_code(np.dtype(np.uint32))).to_numpy())
    return np.asarray(indices.to_numpy().view(dtype))


def as_level(value: Any) -> Value:
    """Return a category as a value; intervals, dates and other objects are represented by their text."""
    return value if isinstance(value, str | bool | int | float) else str(value)
