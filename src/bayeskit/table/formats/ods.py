"""OpenDocument sheets, as LibreOffice writes them: a zip archive with XML, which is read element by element."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, time
from typing import IO, Any
from xml.etree import ElementTree

from bayeskit.errors import TableError
from bayeskit.table.formats.interface import TableWriter, TextOptions
from bayeskit.table.formats.sheets import MOST_CELLS, Row, refuse_zip_bomb
from bayeskit.table.formats.xlsx import XlsxReader, reader_of_rows, sheet_named
from bayeskit.table.raw_file import RawFile

EXTENSIONS = (".ods",)
OPTIONS = ("sheet", "skip")
_KIND = b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet"
# The most cells of a row: an element can say of itself that it is there a million times.
MOST_COLUMNS = 1 << 17
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_CLOCK = re.compile(r"^PT(\d+)H(\d+)M(\d+)(?:[.,]\d+)?S$")


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes is an OpenDocument spreadsheet, which says so at its start."""
    return head[:4] == b"PK\x03\x04" and _KIND in head[:200]


def open_reader(raw: RawFile, options: TextOptions) -> XlsxReader:
    """Read a sheet; it is read whole, since its cells are compressed."""
    data = raw.path if raw.path is not None else io.BytesIO(raw.open().read())
    refuse_zip_bomb(data, raw.shown)
    try:
        with zipfile.ZipFile(data) as archive:
            with archive.open("content.xml") as content:
                names = [name for name, _ in _sheets(content, ())]
            if not names:
                raise TableError(f"{raw.shown} has no sheet.")
            name = sheet_named(raw, names, options.sheet)
            with archive.open("content.xml") as content:
                found = next(sheet for known, sheet in _sheets(content, (name,)) if known == name)
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, ValueError, OSError) as error:
        raise TableError(f"{raw.shown} is a damaged OpenDocument sheet: {error}.") from error
    assert found is not None
    if found.formula is not None:
        raise TableError(
            f"{raw.shown}, row {found.formula}: a formula whose value is not stored; open the file in LibreOffice and "
            "save it, or put the values there."
        )
    return reader_of_rows(raw, names, name, found.rows, tuple(found.merged), options)


def open_writer(file: IO[bytes]) -> TableWriter:
    """Refuse to write."""
    raise TableError("OpenDocument sheets are read, not written; write a CSV, Parquet or Excel file.")


class _Sheet:
    """The rows of a sheet while it is read; rows and cells at the end that are empty are left out."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.merged: list[tuple[int, int, int, int]] = []
        self.formula: int | None = None  # the first row with a formula that has no value
        self._number = self._n_cells = 0

    def add(self, row: Any) -> None:
        """Add a row, as often as it says that it is there."""
        number = self._number + 1
        cells: list[Any] = []
        waiting = 0  # empty cells, which count only where another comes after them
        for cell in row:
            if cell.tag not in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                continue
            times = _times(cell, "columns")
            value = _value(cell)
            if value is None:
                if cell.get(f"{_TABLE}formula") and not cell.get(f"{_OFFICE}value-type"):
                    self.formula = self.formula or number
                waiting += times
                continue
            self._refuse_wide(len(cells) + waiting + times)
            cells += [None] * waiting + [value] * times
            waiting = 0
            down, right = (int(cell.get(f"{_TABLE}number-{side}-spanned", 1)) for side in ("rows", "columns"))
            if down > 1:
                self.merged.append((number, len(cells), number + down - 1, len(cells) + right - 1))
        times = _times(row, "rows")
        self._number += times
        if not cells:
            return
        n_empty = number - 1 - len(self.rows)
        self._n_cells += times * len(cells) + n_empty
        if self._n_cells > MOST_CELLS:
            raise TableError(f"the sheet has more than {MOST_CELLS:,} cells; save it as CSV.")
        self.rows += [(number - n_empty + k, []) for k in range(n_empty)]
        self.rows += [(number + k, list(cells)) for k in range(times)]

    def _refuse_wide(self, n: int) -> None:
        if n > MOST_COLUMNS:
            raise TableError(f"a row of the sheet has more than {MOST_COLUMNS:,} cells; save it as CSV.")


def _times(element: Any, side: str) -> int:
    return max(1, int(element.get(f"{_TABLE}number-{side}-repeated", 1)))


def _sheets(content: IO[bytes], wanted: tuple[str, ...]) -> Iterator[tuple[str, _Sheet | None]]:
    """Yield each sheet and its name; the rows of sheets that are not wanted are thrown away as they come."""
    if b"<!DOCTYPE" in content.peek(4096)[:4096]:  # type: ignore[attr-defined]
        raise ValueError("it has a document type, which no program writes into a sheet")
    sheet: _Sheet | None = None
    open_elements: list[Any] = []
    for event, element in ElementTree.iterparse(content, events=("start", "end")):
        if event == "start":
            open_elements.append(element)
            if element.tag == f"{_TABLE}table":
                sheet = _Sheet() if element.get(f"{_TABLE}name") in wanted else None
            continue
        open_elements.pop()
        if element.tag == f"{_TABLE}table-row":
            if sheet is not None:
                sheet.add(element)
            element.clear()
            if open_elements:  # what was read is let go, so that memory does not grow with the file
                open_elements[-1].remove(element)
        elif element.tag == f"{_TABLE}table":
            yield str(element.get(f"{_TABLE}name")), sheet


def _value(cell: Any) -> Any:
    kind = cell.get(f"{_OFFICE}value-type")
    if kind in ("float", "percentage", "currency"):
        number = float(cell.get(f"{_OFFICE}value"))
        return int(number) if number.is_integer() and abs(number) < 2**53 else number
    if kind == "boolean":
        return cell.get(f"{_OFFICE}boolean-value") == "true"
    if kind == "date":
        return datetime.fromisoformat(cell.get(f"{_OFFICE}date-value")[:19])
    if kind == "time":
        written = cell.get(f"{_OFFICE}time-value")
        clock = _CLOCK.match(written)
        return time(int(clock[1]), int(clock[2]), int(clock[3])) if clock and int(clock[1]) < 24 else written
    if kind is None and cell.tag.endswith("covered-table-cell"):
        return None
    text = cell.get(f"{_OFFICE}string-value") or "\n".join(_words(p) for p in cell.findall(f"{_TEXT}p"))
    return text or None


def _words(paragraph: Any) -> str:
    """Return the text of a paragraph; several blanks are an element of their own."""
    words = [paragraph.text or ""]
    for part in paragraph:
        if part.tag == f"{_TEXT}s":
            words.append(" " * min(int(part.get(f"{_TEXT}c", 1)), 1000))
        elif part.tag == f"{_TEXT}tab":
            words.append("\t")
        else:
            words.append(_words(part))
        words.append(part.tail or "")
    return "".join(words)
