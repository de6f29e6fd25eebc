"""Arrow tables, readers and datasets as scans."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.scan.pieces import Scan, iterate

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 1 << 17


def open_scan(source: Any) -> Scan | None:
    """Describe an Arrow table, record batch, reader or dataset; None for anything else of pyarrow."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return Scan("a pyarrow table", source.schema, (TablePiece(source),))
    if isinstance(source, pa.RecordBatchReader):
        return Scan("a RecordBatchReader", source.schema, (StreamPiece(source),), once=True)
    if isinstance(source, ds.Dataset):
        from bayeskit.table.scan.dataset import open_dataset

        return open_dataset(source)
    return None


@dataclass(frozen=True)
class TablePiece:
    """A table in memory."""

    table: pa.Table
    name: str = "the table"

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.table.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Yield the table's own batches; no cell is copied."""
        return iter(self.table.select(list(columns)).to_batches(ROWS_AT_ONCE))


@dataclass(frozen=True)
class StreamPiece:
    """A stream that can be read once."""

    reader: Any
    name: str = "the stream of batches"
    n_rows: int | None = None
    _read: list[bool] = field(default_factory=list)  # not empty once somebody has begun to read

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the stream; a second time it would seem to have no rows, and is refused."""
        if self._read:
            raise TableError(f"{self.name} was read already, and it can be read once; give it anew.")
        self._read.append(True)
        for batch in iterate(self.reader, self.name):
            yield batch.select(list(columns))

    def __reduce__(self) -> Any:
        raise TableError(
            f"{self.name} cannot be sent to another process; pass files instead, or count in this process."
        )
