"""Parquet files as scans: a piece is a range of row groups; text is read as dictionary columns."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BrokenFileError, TableError
from bayeskit.table.missing_words import USUAL, without_words
from bayeskit.table.scan.arrow import ROWS_AT_ONCE
from bayeskit.table.scan.evolution import Fills, filled
from bayeskit.table.scan.pieces import iterate, sort_of
from bayeskit.table.scan.storage import FileAt, Storage, first_line

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

# A piece is worth a worker's while from about this many rows on.
_ROWS_OF_A_PIECE = 1 << 20


@dataclass(frozen=True)
class ParquetPiece:
    """Some row groups of a file: a small description, from which any worker with access to the file can read them."""

    path: str
    row_groups: tuple[int, ...]
    n_rows: int
    # Columns that the folders' names hold, as in year=2024/: name, value and type.
    folders: tuple[tuple[str, Any, Any], ...] = ()
    missing: tuple[str, ...] = ()  # words for a missing cell
    footer: str = ""  # a digest of what the footer said when the file was described
    storage: Storage | None = None  # None is this machine's disk
    fills: Fills = ()  # columns that the file lacks or holds in another type than the table
    n_bytes: int = 0  # the size of the file

    @property
    def name(self) -> str:
        """The file and its row groups."""
        first, last = self.row_groups[0], self.row_groups[-1]
        return f"'{self.shown}', row group{f' {first}' if first == last else f's {first} to {last}'}"

    @property
    def shown(self) -> str:
        """The file, as the user wrote it."""
        return self._file.shown

    @property
    def identity(self) -> tuple[Any, ...]:
        """What must be the same where counts of this piece are used again: file, row groups, size and footer."""
        return (self.shown, self.row_groups, self.n_rows, self.n_bytes, self.footer)

    def filled(self, fills: Fills) -> ParquetPiece:
        """Return the same piece with columns that the file lacks or holds in another type."""
        return replace(self, fills=fills)

    @property
    def _file(self) -> FileAt:
        return FileAt(self.path, self.storage)

    @cached_property
    def _values(self) -> dict[str, tuple[Any, Any]]:
        return {name: (value, kind) for name, value, kind in self.folders}

    def _inside(self, columns: Sequence[str], schema: pa.Schema) -> list[str]:
        """Return the columns to be read from the file; others stand in folders' names, or are lacking."""
        lacking = {name for name, _ in self.fills if name not in schema.names}
        return [name for name in columns if name not in self._values and name not in lacking]

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the row groups, with text as dictionary columns: each value is decoded once, not each cell."""
        try:
            yield from iterate(self._read(columns), self.name)
        except TableError as error:
            raise self._with_group(columns, error) from error

    def _with_group(self, columns: Sequence[str], error: TableError) -> TableError:
        """Return the error with the row group that cannot be read, where the piece has several."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        for group in self.row_groups if len(self.row_groups) > 1 else ():
            try:
                with self._file.open() as opened:
                    file = pq.ParquetFile(opened)
                    file.read_row_group(group, self._inside(columns, file.schema_arrow), use_threads=False)
            except (OSError, pa.ArrowException):
                return type(error)(error.args[0].replace(self.name, f"'{self.shown}', row group {group}"))
        return error

    def _read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        n_read, fills = 0, dict(self.fills)
        # One open file for footer and rows: where another takes its place meanwhile, this one stays as it was.
        with self._file.open() as opened:
            described = pq.ParquetFile(opened)
            inside = self._inside(columns, described.schema_arrow)
            self.refuse_change(described, inside)
            texts = [name for name in inside if sort_of(described.schema_arrow.field(name).type) == "text"]
            declared = [name for name in texts if pa.types.is_dictionary(described.schema_arrow.field(name).type)]
            # A store is asked for few large ranges; a disk is read as the rows are.
            file = pq.ParquetFile(
                opened, metadata=described.metadata, read_dictionary=texts, pre_buffer=self.storage is not None
            )
            for batch in file.iter_batches(ROWS_AT_ONCE, list(self.row_groups), inside, use_threads=False):
                n_read += batch.num_rows
                arrays = [self._column(batch, name, fills, declared) for name in columns]
                yield pa.record_batch(arrays, names=list(columns))
        if n_read != self.n_rows:
            raise self.changed(f"row groups that held {self.n_rows:,} rows gave {n_read:,}")

    def _column(self, batch: pa.RecordBatch, name: str, fills: Mapping[str, Any], declared: Collection[str]) -> Any:
        if name in self._values:
            return _repeated(*self._values[name], batch.num_rows)
        at = batch.schema.get_field_index(name)
        known = None if at < 0 else self._known(batch.column(at), declared=name in declared)
        return filled(known, fills.get(name), batch.num_rows)

    def refuse_change(self, file: pq.ParquetFile, columns: Sequence[str]) -> None:
        """Raise an error for a file that was written again after it was described: rows would be lost or read twice."""
        if digest(file.metadata) == self.footer:
            return
        said = "its row groups or the types of its columns are others now"
        absent = [name for name in columns if name not in file.schema_arrow.names]
        groups = [g for g in self.row_groups if g < file.metadata.num_row_groups]
        n_rows = sum(file.metadata.row_group(g).num_rows for g in groups)
        if absent:
            said = f"it has no column {absent[0]!r} now"
        elif n_rows != self.n_rows:
            said = f"row groups that held {self.n_rows:,} rows hold {n_rows:,} now"
        raise self.changed(said)

    def changed(self, said: str) -> TableError:
        """Return the error for a file that is not what it was."""
        return TableError(f"'{self.shown}' was changed after it was scanned: {said}. Scan it again.")

    def _known(self, column: Any, *, declared: bool) -> Any:
        if not self.missing or sort_of(column.type) != "text":
            return column
        if not hasattr(column, "dictionary"):
            return without_words(column, self.missing)
        # A declared category may be called as the usual words are.
        words = [word for word in self.missing if not (declared and word in USUAL)]
        if without_words(column.dictionary, words).null_count == column.dictionary.null_count:
            return column
        return without_words(column.dictionary_decode(), words).dictionary_encode()


def open_file(
    at: FileAt, folders: tuple[tuple[str, Any, Any], ...] = (), missing: tuple[str, ...] = ()
) -> tuple[pa.Schema, list[ParquetPiece]]:
    """Read the footer of a file: its columns, and its row groups joined to pieces."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with at.open() as opened:
            file, n_bytes = pq.ParquetFile(opened), opened.size()
            metadata, schema, footer = file.metadata, file.schema_arrow, digest(file.metadata)
    except (OSError, pa.ArrowException) as error:
        raise BrokenFileError(f"'{at.shown}' is not a complete Parquet file: {first_line(error)}") from error
    for name, _, kind in folders:
        if name not in schema.names:
            schema = schema.append(pa.field(name, kind))
    whole = ParquetPiece(at.path, (), 0, folders, missing, footer, at.storage, n_bytes=n_bytes)
    pieces: list[ParquetPiece] = []
    groups: list[int] = []
    n_rows = 0
    for group in range(metadata.num_row_groups):
        groups.append(group)
        n_rows += metadata.row_group(group).num_rows
        if n_rows >= _ROWS_OF_A_PIECE or group == metadata.num_row_groups - 1:
            pieces.append(replace(whole, row_groups=tuple(groups), n_rows=n_rows))
            groups, n_rows = [], 0
    return schema.remove_metadata(), pieces


def digest(metadata: pq.FileMetaData) -> str:
    """Return a digest of the columns and row groups of a file."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    schema = [(column.name, str(column.type)) for column in metadata.schema.to_arrow_schema()]
    return blake2b(repr((schema, sizes)).encode(), digest_size=8).hexdigest()


def _repeated(value: Any, kind: Any, n_rows: int) -> Any:
    import numpy as np
    import pyarrow as pa

    if sort_of(kind) == "text":
        codes = pa.array(np.zeros(n_rows, dtype=np.int32), mask=np.full(n_rows, value is None))
        return pa.DictionaryArray.from_arrays(codes, pa.array([value or ""], pa.string()))
    return pa.nulls(n_rows, kind) if value is None else pa.repeat(pa.scalar(value, kind), n_rows)
