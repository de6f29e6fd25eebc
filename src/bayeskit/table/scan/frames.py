"""pandas and polars frames, lazy ones too, as scans; a categorical column or an Enum declares its values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeskit.table.scan.arrow import ROWS_AT_ONCE, TablePiece
from bayeskit.table.scan.pieces import Scan

if TYPE_CHECKING:
    import pyarrow as pa


def open_polars(source: Any) -> Scan | None:
    """Describe a polars frame; for a lazy one, only the names and types of its columns are computed."""
    import polars as pl

    if isinstance(source, pl.DataFrame):
        table = _as_arrow(source)
        return Scan("a polars frame", table.schema, (TablePiece(table),))
    if isinstance(source, pl.LazyFrame):
        empty = pl.DataFrame(schema=source.collect_schema())
        return Scan("a polars LazyFrame", _as_arrow(empty).schema, (LazyPiece(source),))
    return None


def open_pandas(source: Any) -> Scan | None:
    """Describe a pandas frame; a categorical column declares its values."""
    import pandas as pd
    import pyarrow as pa

    if not isinstance(source, pd.DataFrame):
        return None
    table = pa.Table.from_pandas(source, preserve_index=False).replace_schema_metadata(None)
    for j, name in enumerate(source.columns):
        column = table.column(j)
        if isinstance(source.dtypes.iloc[j], pd.CategoricalDtype) and not column.type.ordered:
            parts = [pa.DictionaryArray.from_arrays(c.indices, c.dictionary, ordered=True) for c in column.chunks]
            table = table.set_column(j, str(name), pa.chunked_array(parts))
    return Scan("a pandas frame", table.schema, (TablePiece(table),))


@dataclass(frozen=True)
class LazyPiece:
    """A lazy frame, run by polars' streaming engine; only the requested columns are computed."""

    frame: Any
    name: str = "the LazyFrame"
    n_rows: int | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Run the frame and read the result batch by batch."""
        for part in self.frame.select(columns).collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True):
            yield from _as_arrow(part).to_batches()


def _as_arrow(frame: Any) -> Any:
    # An Enum declares its values: an ordered dictionary says so in Arrow.
    import polars as pl
    import pyarrow as pa

    table = frame.to_arrow()
    for j, (name, kind) in enumerate(frame.schema.items()):
        if isinstance(kind, pl.Enum):
            codes = frame[name].to_physical().cast(pl.Int32).to_arrow()
            categories = pa.array(kind.categories.to_list(), pa.string())
            column = pa.DictionaryArray.from_arrays(codes, categories, ordered=True)
            table = table.set_column(j, name, column)
    return table
