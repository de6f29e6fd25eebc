"""Datasets of pyarrow as scans: a piece is a fragment, mostly a file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.scan.arrow import ROWS_AT_ONCE
from bayeskit.table.scan.parquet import ParquetPiece, digest
from bayeskit.table.scan.pieces import Piece, Scan, iterate

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset as ds


def open_dataset(source: ds.Dataset) -> Scan:
    """Describe a dataset; the footers of its Parquet files are read."""
    try:
        fragments = list(source.get_fragments())
    except ValueError as error:
        raise TableError(
            "a filtered pyarrow dataset has no files of its own to scan; pass scan(dataset.scanner().to_reader()), "
            "which is read once."
        ) from error
    return Scan("a pyarrow dataset", source.schema, tuple(_piece(fragment, source.schema) for fragment in fragments))


def _piece(fragment: Any, schema: pa.Schema) -> Piece:
    import pyarrow as pa
    import pyarrow.dataset as ds

    if not isinstance(fragment, ds.ParquetFileFragment) or not fragment.path:
        return FragmentPiece(fragment, schema)
    try:
        # A fragment keeps the footer that it has read, so that this is the one by which rows will be read.
        groups = fragment.row_groups
        footer = digest(fragment.metadata)
    except (OSError, pa.ArrowException) as error:
        raise TableError(f"'{fragment.path}' is not a complete Parquet file: {str(error).splitlines()[0]}") from error
    n_rows = sum(group.num_rows for group in groups)
    described = ParquetPiece(fragment.path, tuple(group.id for group in groups), n_rows, footer=footer)
    return ParquetFragmentPiece(fragment, schema, described)


@dataclass(frozen=True)
class FragmentPiece:
    """A fragment of a dataset, mostly a file."""

    fragment: Any
    schema: pa.Schema

    @property
    def name(self) -> str:
        """The file."""
        return f"'{getattr(self.fragment, 'path', 'a fragment of the dataset')}'"

    @property
    def n_rows(self) -> int | None:
        """Not known: counting the rows of a fragment may read it."""
        return None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the fragment; at most two batches are read ahead."""
        batches = self.fragment.to_batches(
            schema=self.schema, columns=list(columns), batch_size=ROWS_AT_ONCE, batch_readahead=2, fragment_readahead=1
        )
        return iterate(batches, self.name)


@dataclass(frozen=True)
class ParquetFragmentPiece(FragmentPiece):
    """Row groups of a Parquet file, as they were when the dataset was scanned."""

    described: ParquetPiece

    @property
    def n_rows(self) -> int:
        """What the footer says."""
        return self.described.n_rows

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the fragment, unless its file was written again."""
        import pyarrow.parquet as pq

        inside = set(self.fragment.physical_schema.names)
        with self.fragment.open() as opened:
            self.described.refuse_change(pq.ParquetFile(opened), [name for name in columns if name in inside])
        n_read = 0
        for batch in super().batches(columns):
            n_read += batch.num_rows
            yield batch
        if n_read != self.n_rows:
            raise self.described.changed(f"row groups that held {self.n_rows:,} rows gave {n_read:,}")
