"""Excel workbooks, through openpyxl: one sheet, its column names after any title rows."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import IO, TYPE_CHECKING, Any, ClassVar

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.formats.interface import TextOptions, Types
from bayeskit.table.formats.sheets import (
    MOST_CELLS,
    Row,
    SheetParts,
    fill_merged,
    refuse_long_sheets,
    refuse_zip_bomb,
    split_head,
    without_totals,
)
from bayeskit.table.missing_words import without_usual, without_words
from bayeskit.table.names import not_found
from bayeskit.table.raw_file import RawFile

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".xlsx",)
OPTIONS = ("sheet", "skip")
# Excel's own limit.
MOST_ROWS = 1_048_576
_ROWS_AT_ONCE = 1 << 14


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is a workbook: a zip archive in the form of Office files."""
    return head[:4] == b"PK\x03\x04" and (b"[Content_Types].xml" in head[:4096] or b"xl/" in head)


# What a sheet can have before its rows is looked at in turn: other sheets, formulas, merged cells, a title, totals.
def open_reader(raw: RawFile, options: TextOptions) -> XlsxReader:
    """Read a sheet of a workbook; it is read whole, since its cells are compressed."""
    openpyxl = _openpyxl()
    data = raw.path if raw.path is not None else io.BytesIO(raw.open().read())
    refuse_zip_bomb(data, raw.shown)
    refuse_long_sheets(data, raw.shown, MOST_ROWS)
    try:
        book = openpyxl.load_workbook(data, read_only=True, data_only=True)
        names = book.sheetnames
        name = sheet_named(raw, names, options.sheet)
        sheet = book[name]
        path = getattr(sheet, "_worksheet_path", "")
        sheet.reset_dimensions()  # some programs write a size that is wrong
        numbered = bounded_rows(sheet.iter_rows(values_only=True))
        book.close()
    except TableError:
        raise
    except Exception as error:  # a damaged archive fails in the zip, XML or number parser
        raise TableError(f"{raw.shown} is a damaged Excel workbook: {type(error).__name__}: {error}.") from error
    parts = SheetParts.of(data, path)
    if parts.formulas:
        raise TableError(
            f"{raw.shown}, cell {parts.formulas[0]}: a formula whose value is not stored"
            + (f" ({len(parts.formulas)} cells in all)" if len(parts.formulas) > 1 else "")
            + "; open the file in Excel or LibreOffice and save it, or put the values there."
        )
    return reader_of_rows(raw, names, name, numbered, parts.merged, options)


def bounded_rows(rows: Iterable[Sequence[Any]]) -> list[Row]:
    """Return the rows of a sheet with their numbers; more than memory holds are refused as soon as they come.

    One cell far to the right makes a row of thousands, so that a small file can hold more cells than it has bytes.
    """
    numbered: list[Row] = []
    n_cells = 0
    for number, row in enumerate(rows, 1):
        n_cells += len(row)
        if number > MOST_ROWS or n_cells > MOST_CELLS:
            raise TableError(f"the sheet has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells; save it as CSV.")
        numbered.append((number, list(row)))
    return numbered


def reader_of_rows(
    raw: RawFile,
    names: list[str],
    name: str,
    numbered: list[Row],
    merged: tuple[tuple[int, int, int, int], ...],
    options: TextOptions,
) -> XlsxReader:
    """Return the table of a sheet ``name`` among others: without titles and totals, and merged cells filled."""
    said: list[str] = []
    if len(names) > 1:
        others = ", ".join(repr(other) for other in names if other != name)
        said.append(f"the sheet {name!r} is read; there are others: {others} (sheet=)")
    fill_merged(numbered, merged, said)
    head, rows = split_head(numbered, options.skip, raw.shown, name, said)
    width = max(j for j, cell in enumerate(head[1]) if cell is not None) + 1
    titles = tuple(f"column {j + 1}" if cell is None else str(cell) for j, cell in enumerate(head[1][:width]))
    for number, row in rows:
        if any(cell is not None for cell in row[width:]):
            raise TableError(f"{raw.shown}, row {number}: a cell is to the right of the last column name.")
    rows = without_totals(rows, said)
    places = [number for number, _ in rows]
    return XlsxReader(raw, titles, [row for _, row in rows], options.missing, places, tuple(said))


def sheet_named(raw: RawFile, names: list[str], wanted: str | int | None) -> str:
    """Return the name of the sheet that is asked for, by its name or its number; the first by default."""
    if wanted is None:
        return names[0]
    if str(wanted) in names:
        return str(wanted)
    if str(wanted).isdigit() and 1 <= int(wanted) <= len(names):
        return names[int(wanted) - 1]
    raise TableError(f"{raw.shown}: {not_found('sheet', str(wanted), names)}", "sheet")


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
    places: list[int] = field(default_factory=list)  # the row of the sheet of each row, as Excel shows it
    said: tuple[str, ...] = ()

    def n_batches(self) -> int:
        """Return how many batches the rows of the sheet are."""
        return -(-len(self.rows) // _ROWS_AT_ONCE)

    def line_of(self, row: int) -> int | None:
        """Return the row of the sheet, as Excel shows it."""
        return self.places[row]

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
            array = _texts(cells)
        else:
            array = pa.array(cells)
        # People type NA into a sheet as they do into a CSV file; a Parquet file has a missing cell of its own.
        array = without_words(without_usual(array), self.missing)
        if kind is None:
            return array
        if pa.types.is_string(kind) and sorts != {"text"}:
            return pc.cast(_texts(cells), kind)
        try:
            return pc.cast(array, kind)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            row = next(i for i, cell in enumerate(cells) if isinstance(cell, str))
            wanted = "true or false" if pa.types.is_boolean(kind) else "a number"
            at = f", row {self.places[row]}" if rows is self.rows else ""
            raise TableError(
                f"{self.raw.shown}{at}: column {self.names[j]!r} must hold {wanted}; got {cells[row]!r}."
            ) from None


def _texts(cells: list[Any]) -> Any:
    import pyarrow as pa

    return pa.array([None if cell is None else _text(cell) for cell in cells], type=pa.string())


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
