"""Excel workbooks, through openpyxl: the first sheet, its first row the column names."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, time
from typing import IO, TYPE_CHECKING, Any, ClassVar

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.formats.interface import TextOptions, Types
from bayeskit.table.missing_words import without_words
from bayeskit.table.raw_file import RawFile

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".xlsx",)
# Excel's own limit.
MOST_ROWS = 1_048_576
_ROWS_AT_ONCE = 1 << 14


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is a workbook: a zip archive in the form of Office files."""
    return head[:4] == b"PK\x03\x04" and (b"[Content_Types].xml" in head[:4096] or b"xl/" in head)


def open_reader(raw: RawFile, options: TextOptions) -> XlsxReader:
    """Read the first sheet of a workbook; it is read whole, since its cells are compressed."""
    openpyxl = _openpyxl()
    data = raw.path if raw.path is not None else io.BytesIO(raw.open().read())
    try:
        book = openpyxl.load_workbook(data, read_only=True, data_only=True)
        rows = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        book.close()
    except Exception as error:  # a damaged archive fails in the zip, XML or number parser
        raise TableError(f"{raw.shown} is a damaged Excel workbook: {type(error).__name__}: {error}.") from error
    rows = [row for row in rows if any(cell is not None for cell in row)]
    if not rows:
        raise TableError(f"{raw.shown} has an empty first sheet; a table has a row of column names.")
    head = rows[0]
    width = max(j for j, name in enumerate(head) if name is not None) + 1
    names = tuple(f"column {j + 1}" if name is None else str(name) for j, name in enumerate(head[:width]))
    for number, row in enumerate(rows, 1):
        if any(cell is not None for cell in row[width:]):
            raise TableError(f"{raw.shown}, row {number}: a cell is to the right of the last column name.")
    return XlsxReader(raw, names, rows[1:], options.missing)


def open_writer(file: IO[bytes]) -> XlsxWriter:
    """Open a workbook to write."""
    return XlsxWriter(file)


@dataclass(frozen=True)
class XlsxReader:
    """The rows of the first sheet of a workbook."""

    types: ClassVar[Types | None] = None

    raw: RawFile
    names: tuple[str, ...]
    rows: list[list[Any]]
    missing: tuple[str, ...] = ()

    def n_batches(self) -> int:
        """Return how many batches the rows of the sheet are."""
        return -(-len(self.rows) // _ROWS_AT_ONCE)

    def line_of(self, row: int) -> int | None:
        """Return the row of the sheet, which begins with the names."""
        return row + 2

    def read(self, types: Types) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns."""
        import pyarrow as pa

        arrays = [self._column(j, types.get(name), self.rows) for j, name in enumerate(self.names)]
        return pa.table(arrays, names=list(self.names))

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in its type."""
        import pyarrow as pa

        places = {name: self.names.index(name) for name in types}
        for start in range(0, len(self.rows), _ROWS_AT_ONCE):
            rows = self.rows[start : start + _ROWS_AT_ONCE]
            arrays = [self._column(places[name], kind, rows) for name, kind in types.items()]
            yield pa.record_batch(arrays, names=list(types))

    def _column(self, j: int, kind: pa.DataType | None, rows: list[list[Any]]) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = [row[j] if j < len(row) else None for row in rows]
        sorts = {_sort(cell) for cell in cells if cell is not None}
        # A column of both numbers and text is text: what stands among the numbers may mark a missing cell.
        if len(sorts) > 1 or sorts == {"text"}:
            array = pa.array([None if cell is None else _text(cell) for cell in cells], type=pa.string())
        else:
            array = pa.array(cells)
        array = without_words(array, self.missing)
        if kind is None:
            return array
        if pa.types.is_string(kind) and sorts != {"text"}:
            return pa.array([None if cell is None else _text(cell) for cell in cells], type=kind)
        try:
            return pc.cast(array, kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            row = next(i for i, cell in enumerate(cells) if isinstance(cell, str))
            wanted = "true or false" if pa.types.is_boolean(kind) else "a number"
            raise TableError(
                f"{self.raw.shown}: column {self.names[j]!r} must hold {wanted}; got {cells[row]!r}."
            ) from None


class XlsxWriter:
    """A workbook of one sheet."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._book: Any = None
        self._n_rows = 0

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        if self._book is None:
            self._book = _openpyxl().Workbook(write_only=True)
            self._sheet = self._book.create_sheet("Sheet1")
            self._sheet.append(table.column_names)
            self._n_rows = 1
        self._n_rows += len(table)
        if self._n_rows > MOST_ROWS:
            raise TableError(f"a sheet of Excel holds {MOST_ROWS} rows; write a CSV or a Parquet file instead.")
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            self._sheet.append(row)

    def close(self) -> None:
        """Write the archive."""
        if self._book is not None:
            whole = io.BytesIO()  # an archive is written back and forth, which a stream such as gzip's cannot do
            self._book.save(whole)
            self._file.write(whole.getbuffer())


def _openpyxl() -> Any:
    try:
        import openpyxl
    except ImportError:
        raise BayeskitError("Excel workbooks need openpyxl: pip install 'bayeskit[excel]'; or use CSV.") from None
    return openpyxl


def _sort(cell: Any) -> str:
    if isinstance(cell, bool):
        return "truth"
    if isinstance(cell, int | float):
        return "number"
    return "date" if isinstance(cell, datetime | date) else "text"


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    return str(cell) if not isinstance(cell, datetime | date | time) else cell.isoformat()
