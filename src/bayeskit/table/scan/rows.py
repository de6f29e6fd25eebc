"""A scan read like a file: some columns batch by batch, each in the type that a model needs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bayeskit.table.files import Rows
from bayeskit.table.formats.interface import Types
from bayeskit.table.formats.typed import cast_column
from bayeskit.table.scan.arrow import ROWS_AT_ONCE
from bayeskit.table.scan.pieces import Scan

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ScannedRows(Rows):
    """The rows of a scan, in the order of its pieces; memory does not grow with their number."""

    scan: Scan
    # The first row of each piece that was begun, and the name of the piece.
    _begun: list[tuple[int, str]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The name of the table."""
        return self.scan.shown.strip("'")

    @property
    def shown(self) -> str:
        """The table as messages show it."""
        return self.scan.shown

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.scan.names

    def n_batches(self) -> int:
        """Return about how many batches there are; 0 where that is not known."""
        return -(-(self.scan.n_rows or 0) // ROWS_AT_ONCE)

    def place(self, row: int) -> str:
        """Return the piece that holds a row and the row's number there, for messages; the first row is 0."""
        at = bisect_right([first for first, _ in self._begun], row) - 1
        if at < 0:
            return f"{self.shown}, row {row + 1}"
        first, name = self._begun[at]
        return f"{name}, row {row - first + 1}"

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns, each in its type; None keeps the table's own type."""
        import pyarrow as pa

        self._begun.clear()
        n_read = 0
        for piece in self.scan.with_types(types).pieces:
            self._begun.append((n_read, piece.name))
            for batch in piece.batches(list(types)):
                # Text in dictionary form is a way to store text.
                columns = [
                    cast_column(_plain(batch.column(j)), kind, name) for j, (name, kind) in enumerate(types.items())
                ]
                yield pa.record_batch(columns, names=list(types))
                n_read += batch.num_rows


def _plain(column: pa.Array) -> pa.Array:
    return column.dictionary_decode() if hasattr(column, "dictionary") else column
