"""Parquet files as scans: a piece is a range of row groups; text is read as dictionary columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.missing_words import without_words
from bayeskit.table.scan.arrow import ROWS_AT_ONCE
from bayeskit.table.scan.pieces import iterate, sort_of

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
    # Columns that the folders' names hold, as in year=2024/: name → value.
    folders: tuple[tuple[str, Any], ...] = ()
    missing: tuple[str, ...] = ()  # words for a missing cell
    footer: str = ""  # a digest of what the footer said when the file was described

    @property
    def name(self) -> str:
        """The file and its row groups."""
        first, last = self.row_groups[0], self.row_groups[-1]
        return f"'{self.path}', row group{f' {first}' if first == last else f's {first} to {last}'}"

    @cached_property
    def _values(self) -> dict[str, Any]:
        return dict(self.folders)

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

        inside = [name for name in columns if name not in self._values]
        for group in self.row_groups if len(self.row_groups) > 1 else ():
            try:
                with pq.ParquetFile(self.path) as file:
                    file.read_row_group(group, inside, use_threads=False)
            except (OSError, pa.ArrowException):
                return TableError(str(error).replace(self.name, f"'{self.path}', row group {group}"))
        return error

    def _read(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa
        import pyarrow.parquet as pq

        inside = [name for name in columns if name not in self._values]
        n_read = 0
        # One open file for footer and rows: where another takes its place meanwhile, this one stays as it was.
        with pa.OSFile(self.path) as opened:
            described = pq.ParquetFile(opened)
            self.refuse_change(described, inside)
            texts = [name for name in inside if sort_of(described.schema_arrow.field(name).type) == "text"]
            file = pq.ParquetFile(opened, metadata=described.metadata, read_dictionary=texts, pre_buffer=False)
            for batch in file.iter_batches(ROWS_AT_ONCE, list(self.row_groups), inside, use_threads=False):
                n_read += batch.num_rows
                arrays = [
                    self._known(batch[name])
                    if name not in self._values
                    else _repeated(self._values[name], batch.num_rows)
                    for name in columns
                ]
                yield pa.record_batch(arrays, names=list(columns))
        if n_read != self.n_rows:
            raise self.changed(f"row groups that held {self.n_rows:,} rows gave {n_read:,}")

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
        return TableError(f"'{self.path}' was changed after it was scanned: {said}. Scan it again.")

    def _known(self, column: Any) -> Any:
        if not self.missing or sort_of(column.type) != "text":
            return column
        return without_words(column.dictionary_decode() if hasattr(column, "dictionary") else column, self.missing)


def open_file(
    path: Path, folders: tuple[tuple[str, Any], ...], missing: tuple[str, ...] = ()
) -> tuple[pa.Schema, list[ParquetPiece]]:
    """Read the footer of a file: its columns, and its row groups joined to pieces."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            metadata, schema, footer = file.metadata, file.schema_arrow, digest(file.metadata)
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"'{path}' is not a complete Parquet file: {str(error).splitlines()[0]}") from error
    for name, value in folders:
        if name not in schema.names:
            schema = schema.append(pa.field(name, _repeated(value, 0).type))
    pieces: list[ParquetPiece] = []
    groups: list[int] = []
    n_rows = 0
    for group in range(metadata.num_row_groups):
        groups.append(group)
        n_rows += metadata.row_group(group).num_rows
        if n_rows >= _ROWS_OF_A_PIECE or group == metadata.num_row_groups - 1:
            pieces.append(ParquetPiece(str(path), tuple(groups), n_rows, folders, missing, footer))
            groups, n_rows = [], 0
    return schema.remove_metadata(), pieces


def digest(metadata: pq.FileMetaData) -> str:
    """Return a digest of the columns and row groups of a file."""
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    sizes = [(group.num_rows, group.total_byte_size) for group in groups]
    schema = [(column.name, str(column.type)) for column in metadata.schema.to_arrow_schema()]
    return blake2b(repr((schema, sizes)).encode(), digest_size=8).hexdigest()


def _repeated(value: Any, n_rows: int) -> Any:
    import numpy as np
    import pyarrow as pa

    if isinstance(value, str) or value is None:
        codes = pa.array(np.zeros(n_rows, dtype=np.int32), mask=np.full(n_rows, value is None))
        return pa.DictionaryArray.from_arrays(codes, pa.array([value or ""], pa.string()))
    return pa.array(np.full(n_rows, value))
