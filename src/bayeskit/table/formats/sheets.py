"""What people put into a sheet around a table: titles, merged cells, totals, formulas; and archives that are traps."""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from bayeskit.errors import TableError

Row = tuple[int, list[Any]]  # its number as Excel shows it, and its cells

# The most bytes that a workbook may unpack to; a sheet of a million rows has some hundred million.
MOST_UNPACKED = 2 << 30
# The most cells of a sheet, those that stand empty before another and those of merged blocks among them.
MOST_CELLS = 50_000_000
# A sheet of text shrinks to a tenth; an archive made to fill the memory shrinks to a thousandth.
_MOST_RATIO, _SMALL = 400, 64 << 20
_TOTALS = frozenset(
    (
        "total",
        "totals",
        "sum",
        "sums",
        "subtotal",
        "summe",
        "gesamt",
        "insgesamt",
        "somme",
        "totale",
        "合计",
        "总计",
        "小计",
    )
)
# What a sheet is looked through by; a tag of a row or a cell, with a prefix at most this long.
_PIECE, _LONGEST_TAG = 1 << 20, 256
_TAG = re.compile(rb"<(?:\w{1,99}:)?(row|c)[\s/>]")
_MERGED = re.compile(rb'<mergeCell [^>]*ref="([A-Z]+)(\d+):([A-Z]+)(\d+)"')
_UNSTORED = re.compile(rb'<c r="([A-Z]+\d+)"[^>]*>(?:<f[^>]*/>|<f[^>]*>[^<]*</f>)(?:<v\s*/>|<v></v>)?</c>')


def refuse_zip_bomb(data: Any, shown: str) -> None:
    """Raise an error, before anything is unpacked, for an archive that would fill the memory."""
    try:
        with zipfile.ZipFile(data) as archive:
            sizes = [(item.file_size, item.compress_size) for item in archive.infolist()]
    except (zipfile.BadZipFile, OSError, ValueError):
        return  # who reads it says what is wrong with it
    whole = sum(size for size, _ in sizes)
    bomb = any(size > _SMALL and size > _MOST_RATIO * max(packed, 1) for size, packed in sizes)
    if whole > MOST_UNPACKED or bomb:
        raise TableError(f"{shown} unpacks to {whole / 2**30:.1f} GiB, too much for a workbook; save the sheet as CSV.")


def refuse_long_sheets(data: Any, shown: str, most_rows: int) -> None:
    """Raise an error for a sheet with more rows or cells than fit, by counting tags in a stream: no cell is parsed.

    That comes before the workbook is opened: of a sheet that does not say its size the last row would be looked for.
    """
    try:
        with zipfile.ZipFile(data) as archive:
            for name in archive.namelist():
                if "worksheets/" in name and name.endswith(".xml"):
                    _refuse_many(_tags(archive, name), shown, most_rows)
    except TableError:
        raise
    except (zipfile.BadZipFile, zlib.error, OSError, ValueError, EOFError, NotImplementedError, RuntimeError):
        return  # who reads it says what is wrong with it


def _tags(archive: zipfile.ZipFile, name: str) -> Iterator[list[bytes]]:
    """Yield the tags of rows and cells of a sheet, piece by piece."""
    rest = b""
    with archive.open(name) as file:
        while piece := file.read(_PIECE):
            text = rest + piece.replace(b"\0", b"")  # of UTF-16
            last = text.rfind(b"<")
            end = last if 0 <= len(text) - last <= _LONGEST_TAG else len(text)
            yield _TAG.findall(text[:end])
            rest = text[end:]


def _refuse_many(tags: Iterable[list[bytes]], shown: str, most_rows: int) -> None:
    n_rows = n_cells = 0
    for some in tags:
        n = some.count(b"row")
        n_rows, n_cells = n_rows + n, n_cells + len(some) - n
        if n_rows > most_rows or n_cells > MOST_CELLS:
            raise TableError(
                f"{shown}: the sheet has more than {most_rows:,} rows or {MOST_CELLS:,} cells; save it as CSV."
            )


@dataclass(frozen=True)
class SheetParts:
    """What the cells of a sheet do not say: which are merged, and formulas without a stored value."""

    merged: tuple[tuple[int, int, int, int], ...] = ()  # first row and column, last row and column, from 1
    formulas: tuple[str, ...] = ()  # the cells

    @classmethod
    def of(cls, data: Any, path: str) -> SheetParts:
        """Look into the XML of a sheet."""
        if hasattr(data, "seek"):
            data.seek(0)
        with zipfile.ZipFile(data) as archive:
            names = {PurePath("/" + name): name for name in archive.namelist()}
            name = names.get(PurePath("/" + path.lstrip("/")))
            if name is None:
                return cls()
            text = archive.read(name)
        merged = tuple((int(a), _column(first), int(b), _column(last)) for first, a, last, b in _MERGED.findall(text))
        formulas = tuple(cell.decode() for cell in _UNSTORED.findall(text)) if b"<f" in text else ()
        return cls(merged, formulas)


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - 64
    return number


def fill_merged(rows: list[Row], merged: tuple[tuple[int, int, int, int], ...], said: list[str]) -> None:
    """Give every cell of a block that is merged over several rows the value of its first cell."""
    tall = [block for block in merged if block[2] > block[0]]
    n_cells = sum((min(bottom, len(rows)) - top + 1) * (right - left + 1) for top, left, bottom, right in tall)
    if n_cells > MOST_CELLS:
        raise TableError(
            f"the blocks of merged cells of the sheet have more than {MOST_CELLS:,} cells; save it as CSV."
        )
    for top, left, bottom, right in tall:
        value = _cell(rows, top, left)
        for row in rows[top - 1 : bottom]:
            cells = row[1]
            cells += [None] * (right - len(cells))
            cells[left - 1 : right] = [value] * (right - left + 1)
    if tall:
        blocks = "1 block of merged cells is" if len(tall) == 1 else f"{len(tall)} blocks of merged cells are"
        said.append(f"{blocks} read as if each cell held the value")


def _cell(rows: list[Row], row: int, column: int) -> Any:
    cells = rows[row - 1][1] if row <= len(rows) else []
    return cells[column - 1] if column <= len(cells) else None


def split_head(rows: list[Row], skip: int, shown: str, sheet: str, said: list[str]) -> tuple[Row, list[Row]]:
    """Return the row of column names and the rows after it; title rows before it are left out and said."""
    filled = [row for row in rows[skip:] if any(cell is not None for cell in row[1])]
    if not filled:
        raise TableError(f"{shown} has an empty sheet {sheet!r}; a table has a row of column names.", "sheet")
    widths = [sum(cell is not None for cell in cells) for _, cells in filled]
    first = 0
    if not skip and max(widths) > 1:
        # A title stands alone in its row, above names that stand side by side.
        while first < len(filled) - 1 and widths[first] == 1:
            first += 1
    if first:
        number, cells = filled[0]
        title = next(cell for cell in cells if cell is not None)
        said.append(
            f"the rows before row {filled[first][0]} are titles, such as {str(title)[:40]!r} in row {number}; they are "
            "left out (skip=)"
        )
    return filled[first], filled[first + 1 :]


def without_totals(rows: list[Row], said: list[str]) -> list[Row]:
    """Return the rows without a last one that adds up the others."""
    if len(rows) < 3:
        return rows
    number, cells = rows[-1]
    words = [cell for cell in cells if isinstance(cell, str)]
    if not words or words[0].strip().strip(":").casefold().split(" ")[-1] not in _TOTALS:
        return rows
    said.append(f"row {number} ({words[0]!r}) holds totals and is left out")
    return rows[:-1]
