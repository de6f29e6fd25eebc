"""The bytes of a file or of standard input: looked at, unpacked, and refused where they are no table."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal

from bayeskit.errors import TableError
from bayeskit.table.nearest import nearest

HEAD = 1 << 16
STDIN = "-"

# How files begin that people give by mistake, and what they are.
_OTHERS = (
    (b"PK\x03\x04", "a zip archive, an Excel workbook or a model file; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save the sheet as CSV"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3", "a database; export the table as CSV"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML document"),
    (b'{"', "JSON; turn it into CSV or Parquet"),
    (b"[{", "JSON; turn it into CSV or Parquet"),
)


@dataclass(frozen=True)
class Bytes:
    """Where a table's bytes come from."""

    name: str
    head: bytes  # the first bytes, unpacked
    format: Literal["csv", "parquet"]
    # Opens the unpacked bytes from their beginning; standard input can be opened once, so it is not `again`.
    open: Callable[[], IO[bytes]]
    again: bool
    # The file itself where it needs no unpacking, which is read fastest.
    path: Path | None = None


def look(path: str | os.PathLike[str], *, keep: bool = False, encoding: str = "utf-8") -> Bytes:
    """Look at a file, or at standard input when the path is ``-``; refuse what is no table.

    With ``keep`` standard input is read whole, so that it can be opened again.
    """
    if os.fspath(path) == STDIN:
        return _standard_input(keep, encoding)
    place = Path(path)
    try:
        with open(place, "rb") as file:
            start = file.read(HEAD)
    except FileNotFoundError:
        raise TableError(_no_file(place)) from None
    except IsADirectoryError:
        raise TableError(f"{str(place)!r} is a directory; give the CSV or Parquet file in it.") from None
    except PermissionError:
        raise TableError(f"{str(place)!r} may not be read by you; ask for permission to read it.") from None
    except OSError as error:
        raise TableError(f"{str(place)!r} cannot be read: {error.strerror or error}.") from error
    name = place.name
    if start[:2] == b"\x1f\x8b":
        return _checked(name, _unpacked_head(start, name, place), lambda: _unpack(place), True, encoding)
    return _checked(name, start, lambda: open(place, "rb"), True, encoding, place)


def _standard_input(keep: bool, encoding: str) -> Bytes:
    stream: Any = sys.stdin.buffer
    if keep:
        data = stream.read()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        return _checked("standard input", data[:HEAD], lambda: io.BytesIO(data), True, encoding)
    start = stream.read(HEAD)
    if start[:2] == b"\x1f\x8b":
        stream = gzip.GzipFile(fileobj=_Chain(start, stream))
        start = stream.read(HEAD)
    chain = io.BufferedReader(_Chain(start, stream), buffer_size=1 << 20)
    return _checked("standard input", start, lambda: chain, False, encoding)


def _unpack(path: Path) -> Any:
    return gzip.open(path, "rb")


def _unpacked_head(start: bytes, name: str, path: Path) -> bytes:
    try:
        with gzip.open(path, "rb") as file:
            return file.read(HEAD)
    except (OSError, EOFError) as error:
        raise TableError(f"{name!r} is a damaged gzip file: {error}.") from error


class _Chain(io.RawIOBase):
    """The bytes that were looked at, then the rest of the stream."""

    def __init__(self, start: bytes, rest: IO[bytes]) -> None:
        self._start, self._rest = memoryview(start), rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if len(self._start):
            n = min(len(buffer), len(self._start))
            buffer[:n] = self._start[:n]
            self._start = self._start[n:]
            return n
        piece = self._rest.read(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


def _checked(
    name: str, head: bytes, opener: Callable[[], IO[bytes]], again: bool, encoding: str, path: Path | None = None
) -> Bytes:
    shown = repr(name) if name != "standard input" else name
    if head[:4] == b"PAR1":
        return Bytes(name, head, "parquet", opener, again, path)
    if not head.strip():
        raise TableError(f"{shown} is empty; a table has a line of column names and a line a row.")
    for begin, what in _OTHERS:
        if head.lstrip()[: len(begin)].lower() == begin.lower():
            raise TableError(f"{shown} is no CSV or Parquet file: it begins as {what}.")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") and not encoding.lower().startswith("utf-16"):
        raise TableError(f"{shown} begins as UTF-16 text does; say --encoding utf-16.")
    if b"\0" in head and not encoding.lower().startswith(("utf-16", "utf-32")):
        raise TableError(f"{shown} is no CSV or Parquet file: it holds zero bytes, which no text has.")
    return Bytes(name, head, "csv", opener, again, path)


def _no_file(path: Path) -> str:
    folder = path.parent if path.parent != Path() else Path(".")
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}."
    like = nearest(path.name, (entry.name for entry in folder.iterdir()))
    return f"there is no file {str(path)!r}" + (f"; did you mean {' or '.join(map(repr, like))}?" if like else ".")
