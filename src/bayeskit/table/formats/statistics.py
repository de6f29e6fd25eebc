"""Files of SAS, SPSS and Stata, through pyreadstat: labels of values become categories, missing codes missing cells."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Self

import numpy as np

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.formats.interface import TableWriter, TextOptions
from bayeskit.table.formats.typed import ROWS_AT_ONCE, TypedReader
from bayeskit.table.raw_file import RawFile

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
_SAS = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is one of SAS, SPSS or Stata."""
    return _function(head) is not None


def _function(head: bytes) -> str | None:
    """Return the function of pyreadstat that reads such a file."""
    if head[:4] in (b"$FL2", b"$FL3"):
        return "read_sav"
    old_stata = head[:1] in (b"\x69", b"\x6c", b"\x6e", b"\x6f", b"\x71", b"\x72", b"\x73")
    if head.startswith(b"<stata_dta>") or (old_stata and head[1:2] in (b"\x01", b"\x02") and head[2:4] == b"\x01\x00"):
        return "read_dta"
    if head.startswith(_SAS):
        return "read_sas7bdat"
    return "read_xport" if head.startswith(b"HEADER RECORD*******LIB") else None


@dataclass(frozen=True)
class StatisticsReader(TypedReader):
    """A file of a statistics program, read whole."""

    format = "SAS, SPSS or Stata"

    table: Any = None
    said: tuple[str, ...] = ()

    @classmethod
    def open(cls, raw: RawFile, options: TextOptions) -> Self:
        """Read a file; what is not a plain file is written to one first, since the library takes no other."""
        function = getattr(_pyreadstat(), str(_function(raw.head)))
        with tempfile.TemporaryDirectory() as folder:
            path = str(raw.path)
            if raw.path is None:
                path = os.path.join(folder, "table")
                with raw.open() as stream, Path(path).open("wb") as copy:
                    shutil.copyfileobj(stream, copy)
            try:
                columns, meta = function(path, output_format="dict")
            except Exception as error:  # the library's own errors have no common class
                raise TableError(f"{raw.shown} is a damaged file of SAS, SPSS or Stata: {error}.") from error
        table, labelled = _table_of(columns, meta)
        shown = ", ".join(labelled[:5]) + (" and others" if len(labelled) > 5 else "")
        said = (f"values are read by their labels in {shown}",) if labelled else ()
        types = {field.name: field.type for field in table.schema}
        return replace(cls(raw, options.missing), types=types, table=table, said=said)

    def n_batches(self) -> int:
        """Return how many batches there are."""
        return int(-(-self.table.num_rows // ROWS_AT_ONCE))

    def _schema(self) -> pa.Schema:
        return self.table.schema

    def _table(self) -> pa.Table:
        return self.table

    def _batches(self, columns: list[str]) -> Iterable[pa.RecordBatch]:
        return self.table.to_batches(max_chunksize=ROWS_AT_ONCE)  # type: ignore[no-any-return]


open_reader = StatisticsReader.open


def open_writer(file: IO[bytes]) -> TableWriter:
    """Refuse to write."""
    raise TableError("files of SAS, SPSS and Stata are read, not written; write a CSV or a Parquet file.")


def _table_of(columns: dict[str, Any], meta: Any) -> tuple[pa.Table, list[str]]:
    """Return the table, and the columns whose values are read by their labels."""
    import pyarrow as pa

    made, labelled = {}, []
    measures = getattr(meta, "variable_measure", None) or {}
    for name, cells in columns.items():
        array = _array(cells)
        labels = (getattr(meta, "variable_value_labels", None) or {}).get(name, {})
        if labels and (texts := _labelled(array, labels, ordered=measures.get(name) == "ordinal")) is not None:
            array = texts
            labelled.append(name)
        made[name] = array
    return pa.table(made), labelled


def _array(cells: Any) -> Any:
    import pyarrow as pa

    cells = [None if cell is None or cell != cell or cell == "" else cell for cell in list(cells)]
    known: list[Any] = [cell for cell in cells if cell is not None]
    # These programs know no whole numbers: 1 is stored as 1.0.
    if known and all(
        isinstance(cell, float | np.floating) and float(cell).is_integer() and abs(float(cell)) < 2**53
        for cell in known
    ):
        return pa.array([None if cell is None else int(cell) for cell in cells], pa.int64())
    return pa.array([cell.item() if isinstance(cell, np.generic) else cell for cell in cells])


def _labelled(array: Any, labels: dict[Any, str], *, ordered: bool) -> Any:
    """Return the labels of cells; None where some cell has none, since then only special values are labelled."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = [code for code in pc.unique(array).to_pylist() if code is not None]
    if not all(code in labels for code in codes) or len(set(labels.values())) < len(labels):
        return None
    texts = [None if code is None else labels[code] for code in array.to_pylist()]
    if not ordered:
        return pa.array(texts, pa.string())
    levels = [labels[code] for code in sorted(labels) if code in set(codes)]
    places = pa.array([None if text is None else levels.index(text) for text in texts], pa.int32())
    return pa.DictionaryArray.from_arrays(places, pa.array(levels), ordered=True)


def _pyreadstat() -> Any:
    try:
        import pyreadstat
    except ImportError:
        raise BayeskitError(
            "files of SAS, SPSS and Stata need pyreadstat: pip install 'bayeskit[statistics]'; or use CSV."
        ) from None
    return pyreadstat
