"""The bytes of a file or of standard input: opened, decompressed, and their first bytes read."""

from __future__ import annotations

import gzip
import io
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bayeskit.errors import TableError
from bayeskit.table.names import nearest

HEAD = 1 << 16
STDIN = "-"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class RawFile:
    """Where the bytes of a table come from."""

    name: str
    head: bytes  # the first bytes, decompressed
    # Opens the decompressed bytes from their beginning.
    open: Callable[[], IO[bytes]]
    # Whether it can be opened again; standard input can be read once.
    reopenable: bool
    # The file itself where it is not compressed, which is read fastest.
    path: Path | None = None
    n_bytes: int = 0  # the size of the file, 0 where it is not known

    @property
    def shown(self) -> str:
        """The name as messages show it."""
        return repr(self.name) if self.name != "standard input" else self.name


def open_raw(path: str | os.PathLike[str], *, keep: bool = False) -> RawFile:
    """Open a file, or standard input when the path is ``-``; gzip is recognised by its first bytes.

    With ``keep`` standard input is read whole, so that it can be opened again.
    """
    if os.fspath(path) == STDIN:
        return _standard_input(keep)
    place = Path(path)
    try:
        with open(place, "rb") as file:
            start = file.read(HEAD)
    except FileNotFoundError:
        raise TableError(_no_file(place)) from None
    except IsADirectoryError:
        raise TableError(f"{str(place)!r} is a directory; give a file in it.") from None
    except PermissionError:
        raise TableError(f"{str(place)!r}: permission denied.") from None
    except OSError as error:
        raise TableError(f"{str(place)!r} cannot be read: {error.strerror or error}.") from error
    if start[:2] == _GZIP:
        return RawFile(place.name, _decompressed_head(place), lambda: _decompress(place), True)
    size = place.stat().st_size
    return RawFile(place.name, start, lambda: open(place, "rb"), True, place, size if place.is_file() else 0)


def _standard_input(keep: bool) -> RawFile:
    name, stream = "standard input", sys.stdin.buffer
    if keep:
        data = stream.read()
        if data[:2] == _GZIP:
            data = gzip.decompress(data)
        return RawFile(name, data[:HEAD], lambda: io.BytesIO(data), True)
    start = stream.read(HEAD)
    rest: Any = stream
    if start[:2] == _GZIP:
        rest = gzip.GzipFile(fileobj=_Chain(start, stream))
        start = rest.read(HEAD)
    chain = io.BufferedReader(_Chain(start, rest), buffer_size=1 << 20)
    return RawFile(name, start, lambda: chain, False)


def _decompress(path: Path) -> Any:
    return gzip.open(path, "rb")


def _decompressed_head(path: Path) -> bytes:
    try:
        with gzip.open(path, "rb") as file:
            return file.read(HEAD)
    except (OSError, EOFError) as error:
        raise TableError(f"{path.name!r} is a damaged gzip file: {error}.") from error


class _Chain(io.RawIOBase):
    """The bytes that were read already, then the rest of the stream."""

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


def _no_file(path: Path) -> str:
    folder = path.parent if path.parent != Path() else Path(".")
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}."
    like = nearest(path.name, (entry.name for entry in folder.iterdir()))
    return f"there is no file {str(path)!r}" + (f"; did you mean {' or '.join(map(repr, like))}?" if like else ".")
