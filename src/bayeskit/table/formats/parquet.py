"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING

from bayeskit.table.formats.typed import ROWS_AT_ONCE, TypedReader, TypedWriter

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".parquet", ".pq")


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is Parquet."""
    return head[:4] == b"PAR1"


@dataclass(frozen=True)
class ParquetReader(TypedReader):
    """A Parquet file whose schema was read."""

    format = "Parquet"

    def n_batches(self) -> int:
        """Return how many batches the rows of the file are, by its directory."""
        import pyarrow.parquet as pq

        return -(-int(pq.read_metadata(self._source()).num_rows) // ROWS_AT_ONCE)

    def _schema(self) -> pa.Schema:
        import pyarrow.parquet as pq

        return pq.read_schema(self._source())

    def _table(self) -> pa.Table:
        import pyarrow.parquet as pq

        return pq.read_table(self._source())

    def _batches(self, columns: list[str]) -> Iterable[pa.RecordBatch]:
        import pyarrow.parquet as pq

        return pq.ParquetFile(self._source()).iter_batches(ROWS_AT_ONCE, columns=columns)  # type: ignore[no-any-return]


open_reader = ParquetReader.open


def open_writer(file: IO[bytes]) -> TypedWriter:
    """Open a Parquet file to write; each part is a row group."""
    import pyarrow.parquet as pq

    return TypedWriter(file, pq.ParquetWriter)
