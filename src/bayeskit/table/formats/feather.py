"""Feather files, which are Arrow's own file format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from bayeskit.table.formats.typed import ROWS_AT_ONCE, TypedReader, TypedWriter

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".feather", ".arrow")


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is Feather."""
    return head.startswith(b"ARROW1\0\0")


@dataclass(frozen=True)
class FeatherReader(TypedReader):
    """A Feather file whose schema was read."""

    format = "Feather"

    def n_batches(self) -> int:
        """Return 0: how many rows there are is not known."""
        return 0

    def _schema(self) -> pa.Schema:
        with self._open() as file:
            return file.schema

    def _table(self) -> pa.Table:
        with self._open() as file:
            return file.read_all()

    def _batches(self, columns: list[str]) -> Iterable[pa.RecordBatch]:
        with self._open() as file:
            for number in range(file.num_record_batches):
                batch = file.get_batch(number)
                yield from (batch.slice(first, ROWS_AT_ONCE) for first in range(0, batch.num_rows, ROWS_AT_ONCE))

    def _open(self) -> Any:
        import pyarrow as pa

        source = self._source()
        return pa.ipc.open_file(pa.memory_map(source) if isinstance(source, str) else source)


open_reader = FeatherReader.open


def open_writer(file: IO[bytes]) -> TypedWriter:
    """Open a Feather file to write."""
    import pyarrow as pa

    return TypedWriter(file, pa.ipc.new_file)
