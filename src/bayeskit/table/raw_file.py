"""The bytes of a file or of standard input: opened, decompressed, and their first bytes read."""

from __future__ import annotations

import gzip
import io
import os
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any

from bayeskit.errors import TableError
from bayeskit.table.names import nearest

HEAD = 1 << 16
STDIN = "-"
_GZIP = b"\x1f\x8b"
_PIECE = 1 << 18


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


def open_raw(
    path: str | os.PathLike[str], *, keep: bool = False, opener: Callable[[], IO[bytes]] | None = None
) -> RawFile:
    """Open a file, or standard input when the path is ``-``; gzip is recognised by its first bytes.

    With ``keep`` standard input is read whole, so that it can be opened again. ``opener`` opens a file that is stored
    elsewhere, and ``path`` is then its name in messages.
    """
    if opener is not None:
        return _stored_file(os.fspath(path), opener)
    if os.fspath(path) == STDIN:
        return _standard_input(keep)
    place = Path(path)
    try:
        with open(place, "rb") as plain:
            start = plain.read(HEAD)
    except FileNotFoundError:
        raise TableError(_no_file(place)) from None
    except IsADirectoryError:
        raise TableError(f"{str(place)!r} is a directory; give a file in it.") from None
    except PermissionError:
        raise TableError(f"{str(place)!r}: permission denied.") from None
    except OSError as error:
        raise TableError(f"{str(place)!r} cannot be read: {error.strerror or error}.") from error
    if start[:2] == _GZIP:

        def unpacked() -> IO[bytes]:
            return stream_of(_unzipped(lambda: open(place, "rb"), repr(place.name)))

        with unpacked() as file:
            return RawFile(place.name, file.read(HEAD), unpacked, True)
    size = place.stat().st_size
    return RawFile(place.name, start, lambda: open(place, "rb"), True, place, size if place.is_file() else 0)


def _stored_file(name: str, opener: Callable[[], IO[bytes]]) -> RawFile:
    def plain() -> IO[bytes]:
        return stream_of(_bytes_of(opener))

    def unpacked() -> IO[bytes]:
        return stream_of(_unzipped(opener, repr(name)))

    try:
        with plain() as file:
            start = file.read(HEAD)
    except OSError as error:
        raise TableError(f"{name!r} cannot be read: {error}") from error
    if start[:2] != _GZIP:
        return RawFile(name, start, plain, True)
    with unpacked() as file:
        return RawFile(name, file.read(HEAD), unpacked, True)


def _bytes_of(opener: Callable[[], IO[bytes]]) -> Iterator[bytes]:
    with opener() as file:
        yield from _pieces(file)


def _standard_input(keep: bool) -> RawFile:
    name, stdin = "standard input", sys.stdin.buffer
    start = stdin.read(HEAD)
    given = stream_of(chain([start], _pieces(stdin)))
    stream = stream_of(_unzipped(lambda: given, name)) if start[:2] == _GZIP else given
    head = stream.read() if keep else stream.read(HEAD)
    if keep:
        return RawFile(name, head[:HEAD], lambda: io.BytesIO(head), True)
    whole = stream_of(chain([head], _pieces(stream)))
    return RawFile(name, head, lambda: whole, False)


def stream_of(pieces: Iterator[bytes]) -> IO[bytes]:
    """Return a stream of the bytes that an iterator gives piece by piece.

    >>> stream_of(iter([b"a,b", b"\\n1,2"])).read()
    b'a,b\\n1,2'
    """
    return io.BufferedReader(_Pieces(pieces), buffer_size=_PIECE)


class _Pieces(io.RawIOBase):
    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not len(self._rest):
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        n = min(len(buffer), len(self._rest))
        buffer[:n], self._rest = self._rest[:n], self._rest[n:]
        return n

    def close(self) -> None:
        if hasattr(self._pieces, "close"):  # a generator, which closes its file
            self._pieces.close()
        super().close()


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    while piece := file.read(_PIECE):
        yield piece


def _unzipped(opened: Callable[[], IO[bytes]], shown: str) -> Iterator[bytes]:
    with opened() as file, gzip.GzipFile(fileobj=file) as unzipped:
        try:
            yield from _pieces(unzipped)  # type: ignore[arg-type]
        except (OSError, EOFError, zlib.error) as error:
            raise TableError(f"{shown} is a damaged gzip file: {error}.") from error


def _no_file(path: Path) -> str:
    folder = path.parent if path.parent != Path() else Path(".")
    if not folder.is_dir():
        return f"there is no folder {str(folder)!r}."
    like = nearest(path.name, (entry.name for entry in folder.iterdir()))
    return f"there is no file {str(path)!r}" + (f"; did you mean {' or '.join(map(repr, like))}?" if like else ".")
