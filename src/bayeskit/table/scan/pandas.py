"""pandas frames as scans; a categorical column declares its values."""

from __future__ import annotations

from typing import Any

from bayeskit.table.scan.arrow import TablePiece
from bayeskit.table.scan.pieces import Scan


def open_scan(source: Any) -> Scan | None:
    """Describe a frame that is in memory already."""
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
