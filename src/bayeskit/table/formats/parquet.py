"""Parquet files."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.formats.encodings import without_words
from bayeskit.table.formats.interface import TextOptions, Types
from bayeskit.table.raw_file import RawFile

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".parquet", ".pq")
_ROWS_AT_ONCE = 1 << 16


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is Parquet."""
    return head[:4] == b"PAR1"


def open_reader(raw: RawFile, options: TextOptions) -> ParquetReader:
    """Open a Parquet file; from standard input it is read into memory first, since its directory comes last."""
    import pyarrow.parquet as pq

    if not raw.reopenable:
        data = raw.open().read()
        raw = replace(raw, open=lambda: io.BytesIO(data), reopenable=True)
    try:
        return ParquetReader(raw, tuple(pq.read_schema(_source(raw)).names), options.missing)
    except (OSError, ValueError) as error:
        raise TableError(f"{raw.shown} is a damaged Parquet file: {error}.") from error


def open_writer(file: IO[bytes]) -> ParquetWriter:
    """Open a Parquet file to write."""
    return ParquetWriter(file)


@dataclass(frozen=True)
class ParquetReader:
    """A Parquet file whose schema was read."""

    raw: RawFile
    names: tuple[str, ...]
    missing: tuple[str, ...] = ()

    def n_batches(self) -> int:
        """Return how many batches the rows of the file are, by its directory."""
        import pyarrow.parquet as pq

        return -(-int(pq.read_metadata(_source(self.raw)).num_rows) // _ROWS_AT_ONCE)

    def line_of(self, row: int) -> int | None:
        """Return None: the format has no lines."""
        return None

    def read(self, types: Types) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            table = pq.read_table(_source(self.raw))
        except (OSError, pa.ArrowInvalid) as error:
            raise self._damaged(error) from error
        for j, name in enumerate(self.names):
            column = without_words(cast_column(table[name], types.get(name), name), self.missing)
            table = table.set_column(j, name, column)
        return table

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in its type."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            for batch in pq.ParquetFile(_source(self.raw)).iter_batches(_ROWS_AT_ONCE, columns=list(types)):
                columns = [
                    without_words(cast_column(batch[name], kind, name), self.missing) for name, kind in types.items()
                ]
                yield pa.record_batch(columns, names=list(types))
        except (OSError, pa.ArrowInvalid) as error:
            raise self._damaged(error) from error

    def _damaged(self, error: Exception) -> TableError:
        return TableError(f"{self.raw.shown} cannot be read as Parquet: {str(error).splitlines()[0]}.")


class ParquetWriter:
    """A Parquet file, written row group by row group."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        import pyarrow.parquet as pq

        if self._writer is None:
            self._writer = pq.ParquetWriter(self._file, table.schema)
        # The parts of a table may hold one column in types of several widths; the first is that of all.
        self._writer.write_table(table.cast(self._writer.schema))

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            self._writer.close()


def _source(raw: RawFile) -> Any:
    import pyarrow as pa

    return str(raw.path) if raw.path is not None else pa.PythonFile(raw.open(), mode="r")


def cast_column(column: Any, kind: pa.DataType | None, name: str) -> Any:
    """Return a column in the type that it must have; None leaves it as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind is None:
        return column

    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    try:
        return pc.cast(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} of type {column.type} cannot be read as {kind}: {error}.") from error
