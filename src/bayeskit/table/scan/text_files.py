"""Files that are read from their beginning as scans: a piece is a file. Types of text are those of the first rows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.files import TableFile
from bayeskit.table.scan.evolution import Fills, filled
from bayeskit.table.scan.pieces import iterate, sort_of
from bayeskit.table.scan.storage import FileAt, Storage

if TYPE_CHECKING:
    import pyarrow as pa

# Types are inferred from this many batches.
_LOOKED_AT = 2


@dataclass(frozen=True)
class FilePiece:
    """A file, with the type of each column; None is the type in which the file holds it."""

    path: str
    types: tuple[tuple[str, Any], ...]
    options: tuple[tuple[str, Any], ...] = ()
    n_rows: int | None = None
    storage: Storage | None = None  # None is this machine's disk
    n_bytes: int = 0  # the size of the file
    fills: Fills = ()  # columns that the file lacks or holds in another type than the table

    @property
    def name(self) -> str:
        """The file."""
        return f"'{self.shown}'"

    @property
    def shown(self) -> str:
        """The file, as the user wrote it."""
        return FileAt(self.path, self.storage).shown

    @property
    def identity(self) -> tuple[Any, ...]:
        """What must be the same where counts of this file are used again: name, size, time and how it is read."""
        if self.storage is None:
            changed = os.stat(self.path).st_mtime_ns
        else:
            changed = self.storage.filesystem.get_file_info(self.path).mtime_ns
        return (self.shown, self.n_bytes, changed, repr(self.types), repr(self.options))

    def filled(self, fills: Fills) -> FilePiece:
        """Return the same file with columns that it lacks or holds in another type."""
        return replace(self, fills=fills)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the file batch by batch; a cell that does not fit the type of its column is an error with its line."""
        import pyarrow as pa

        types, fills = dict(self.types), dict(self.fills)
        file = _open(FileAt(self.path, self.storage), dict(self.options))
        inside = set(file.names)
        read = {name: types.get(name) for name in columns if name in inside or name not in fills}
        for batch in iterate(file.batches(read), self.name):
            arrays = (batch.column(name) if name in inside else None for name in columns)
            kinds = (None if name in inside and name in types else fills.get(name) for name in columns)
            filled_in = [filled(array, kind, batch.num_rows) for array, kind in zip(arrays, kinds, strict=True)]
            yield pa.record_batch(filled_in, names=list(columns))

    def with_types(self, types: Mapping[str, Any]) -> FilePiece:
        """Return the same file, read with other types; None keeps the file's own type (text for CSV)."""
        import pyarrow as pa

        fills = tuple((name, types.get(name, kind) or pa.string()) for name, kind in self.fills)
        return replace(self, types=tuple({**dict(self.types), **types}.items()), fills=fills)


def open_file(
    at: FileAt, types: dict[str, Any] | None, options: dict[str, Any]
) -> tuple[pa.Schema, FilePiece, dict[str, Any] | None]:
    """Open a file; ``types`` are those of earlier files of text, and are returned with those of new columns."""
    import pyarrow as pa

    file = _open(at, options)
    if file.reader.types is not None:
        read_as: dict[str, Any] = dict.fromkeys(file.names)
        schema = pa.schema(file.reader.types.items())
    else:
        known = types or {}
        types = known if set(file.names) <= set(known) else {**_infer(file), **known}
        read_as = {name: types[name] for name in file.names}
        schema = pa.schema(read_as.items())
    piece = FilePiece(at.path, tuple(read_as.items()), tuple(options.items()), None, at.storage, at.size())
    return schema, piece, types


def _open(at: FileAt, options: dict[str, Any]) -> TableFile:
    storage = at.storage
    if storage is None:
        return TableFile.open(at.path, detect=False, **options)
    return TableFile.open(at.shown, detect=False, opener=lambda: storage.stream(at.path), **options)


def _infer(file: TableFile) -> dict[str, Any]:
    """Return a type for each column from the first rows: doubles for numbers, since later ones may have decimals."""
    import pyarrow as pa

    text: dict[str, Any] = dict.fromkeys(file.names)
    batches = list(islice(file.batches(text), _LOOKED_AT))
    if not batches:
        raise TableError(f"{file.raw.shown} has a header and no rows.")
    head = pa.Table.from_batches(batches)
    return {name: _narrowest(head[name]) for name in file.names}


def _narrowest(column: Any) -> pa.DataType:
    import pyarrow as pa
    import pyarrow.compute as pc

    if sort_of(column.type) != "text":
        return pa.float64() if sort_of(column.type) == "number" else column.type
    if column.null_count == len(column):
        return pa.string()
    # Codes such as 007 are names, though they would pass for numbers.
    if pc.any(pc.match_substring_regex(column, r"^\s*[+-]?0[0-9]")).as_py():
        return pa.string()
    try:
        pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return pa.string()
    return pa.float64()
