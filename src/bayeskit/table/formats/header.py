"""The header of a CSV file: the delimiter and the column names, and what stands before and around them."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from bayeskit.errors import TableError
from bayeskit.table.formats.encodings import wrong_encoding
from bayeskit.table.number_cells import PLAIN
from bayeskit.table.raw_file import HEAD, RawFile

DELIMITERS = ",;\t|"
_LONGEST_HEADER = 16 << 20
# What Excel writes before the names, or reads there, where the delimiter is not that of its language.
_EXCEL_SAYS = re.compile(r'"?sep=([^\w"\r\n])"?(?:\r\n|\r|\n)+', re.IGNORECASE)
# Files whose name says what is between their cells.
_TABS = re.compile(r"\.(?:tsv|tab)(?:\.gz|\.zst)?$", re.IGNORECASE)
# Lines that are looked at for what separates their cells; with fewer, only a column of numbers shows that blanks do.
_MOST_LINES, _FEW_LINES = 100, 4


@dataclass(frozen=True)
class Header:
    """What the lines before the first row of a CSV file say."""

    delimiter: str
    names: tuple[str, ...]
    n_lines: int
    said: tuple[str, ...] = ()


def read_header(raw: RawFile, encoding: str, delimiter: str | None, skip: int = 0) -> Header:
    """Return the delimiter, the column names, and how many lines the header takes."""
    # A character may be cut at the end of the head; what comes before it is whole.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(_first_lines(raw)).removeprefix("\ufeff")
    skipped = "".join(text.splitlines(keepends=True)[:skip])
    first = text[len(skipped) :].lstrip("\r\n")
    told = _EXCEL_SAYS.match(first)
    if told is not None:
        delimiter, first = delimiter or told[1], first[told.end() :]
    if not first:
        raise TableError(f"{raw.shown} has no line after the {skip} that are skipped.", "skip")
    lines = first.splitlines()[:_MOST_LINES]
    n_before = len(text[: len(text) - len(first)].splitlines())
    _refuse_comments(raw, lines, delimiter, n_before)
    if delimiter is None:
        delimiter = _delimiter(raw, lines)
    reader = csv.reader(io.StringIO(first, newline=""), delimiter=delimiter)
    written = tuple(next(reader))
    if _ends_in_quotes(first, delimiter):
        raise open_quote(raw, 1)
    names = tuple(name.strip() or f"column {j + 1}" for j, name in enumerate(written))
    if not any(name.strip() for name in written):
        raise TableError(f"{raw.shown} has no column names in its first line (cell 1 is empty).")
    if "\ufffd" in lines[0]:
        raise wrong_encoding(raw, encoding, 1)
    return Header(delimiter, names, n_before + reader.line_num, tuple(_said(written, delimiter)))


def _said(written: Sequence[str], delimiter: str) -> list[str]:
    """Return what the user should know of the names as they are written."""
    said = []
    if delimiter == " ":
        said.append("the cells are separated by blanks (delimiter=)")
    blank = [name for name in written if name.strip() not in ("", name)]
    if blank:
        columns = "1 column" if len(blank) == 1 else f"{len(blank)} columns"
        said.append(f"blanks around the names of {columns} are left out, such as those of {blank[0]!r}")
    if written[0].lstrip().startswith("#"):
        said.append(
            f"the name of the first column begins with #, {written[0][:40]!r}: where that line is a comment, skip it "
            "(skip=1)"
        )
    return said


def _refuse_comments(raw: RawFile, lines: Sequence[str], delimiter: str | None, n_before: int) -> None:
    """Raise an error where the table begins after lines with #; one such line may be the names, if it fits the rows."""
    n = len(list(takewhile(lambda line: line.lstrip().startswith("#"), lines)))
    if not n or n == len(lines):
        return
    sign = delimiter or _most_frequent(lines[n])
    fits = lines[n - 1].count(sign) == lines[n].count(sign)
    if n == 1 and fits:
        return
    skip = n_before + n - (1 if fits and sign in lines[n] and not lines[n - 1].startswith("# ") else 0)
    raise TableError(
        f"{raw.shown} begins with a comment, {lines[0][:60]!r}, and not with the column names: skip {skip} "
        f"{'line' if skip == 1 else 'lines'}.",
        "skip",
    )


def _most_frequent(line: str) -> str:
    outside = re.sub(r'"[^"]*"', "", line)
    return max(DELIMITERS, key=outside.count)


def _delimiter(raw: RawFile, lines: Sequence[str]) -> str:
    """Return the sign that separates the names; a separator that is no single sign is an error that says what to do."""
    outside = re.sub(r'"[^"]*"', "", lines[0])
    if "\t" in outside and _TABS.search(raw.name):
        return "\t"
    if any(sign in outside for sign in DELIMITERS):
        return max(DELIMITERS, key=outside.count)
    rows = [line for line in lines if line.strip()]
    if len(raw.head) >= HEAD and len(rows) < _MOST_LINES:
        rows = rows[:-1]  # the head may cut the last one
    if len(rows) > 1 and "::" in outside and len({row.count("::") for row in rows}) == 1:
        raise _no_single_sign(raw, "'::'")
    if _are_cells([row.split(" ") for row in rows]):
        return " "
    if _are_cells([row.split() for row in rows]):
        raise _no_single_sign(raw, "several blanks")
    return ","


def _are_cells(rows: list[list[str]]) -> bool:
    """Return whether parts of lines are cells: as many in each, and numbers in a column or too many for chance."""
    n = len(rows[0]) if rows else 0
    if n < 2 or len(rows) < 2 or any(len(row) != n or "" in row for row in rows):
        return False
    if not any(re.search(r"[^\W\d]", name) for name in rows[0]):
        return False  # a line of numbers is no line of names
    numbers = any(all(re.fullmatch(PLAIN, row[j]) for row in rows[1:]) for j in range(n))
    return numbers or (n > 2 and len(rows) > _FEW_LINES)


def _no_single_sign(raw: RawFile, what: str) -> TableError:
    return TableError(
        f"{raw.shown}: its cells are separated by {what}, and a delimiter is one character; put a comma or a tab "
        "between the cells in the whole file.",
        "delimiter",
    )


def _first_lines(raw: RawFile) -> bytes:
    """Return the first bytes, with the whole header; one line without an end is an error, in bounded memory."""
    head = raw.head
    if len(head) < HEAD or b"\n" in head.lstrip(b"\r\n") or not raw.reopenable:
        return head
    with raw.open() as file:
        head = file.read(_LONGEST_HEADER)
    if b"\n" not in head.lstrip(b"\r\n") and len(head) == _LONGEST_HEADER:
        raise TableError(
            f"{raw.shown}, line 1: it is longer than {_LONGEST_HEADER >> 20} MiB, and holds no column names; is this a "
            "text file with lines?"
        )
    return head


def _ends_in_quotes(text: str, delimiter: str) -> bool:
    """Return whether the first row of a text has a quoted cell that is not closed."""
    try:
        next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True))
    except csv.Error as error:
        return "unexpected end" in str(error)
    return False


def open_quote(raw: RawFile, line: int | None) -> TableError:
    """Return the error for a quote that is never closed."""
    where = "" if line is None else f", line {line}"
    return TableError(
        f"{raw.shown}{where}: a double quote opens a cell here and none closes it before the end of the file. Close "
        "it; a quote that is part of a quoted cell is written twice."
    )
