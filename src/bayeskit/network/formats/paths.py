"""Which format a path means, and the text behind it, packed by gzip or not."""

from __future__ import annotations

import gzip
import os
import re
import zlib
from pathlib import Path
from typing import IO

from bayeskit.errors import NetworkError, NetworkFileError
from bayeskit.io.container import atomic_write
from bayeskit.network.formats.network_format import NetworkFormat, known_extensions
from bayeskit.network.formats.network_parts import FileText, refuse
from bayeskit.network.variable_names import did_you_mean

# A packed file can unpack to any size; the largest public network has 6 MB of text.
MAX_BYTES = 1 << 28
PIECE = 1 << 20
_FROM_R = (
    "a file of R can run code when it is read, so it is not; bnlearn's write.net('net.net', fitted) "
    "or write.bif writes one that can be."
)
# What is not read, with the way round it.
_REFUSED = {
    ".rda": _FROM_R,
    ".rdata": _FROM_R,
    ".rds": _FROM_R,
    ".neta": "the binary files of Netica are not read; save the network as .dne there.",
    ".dsl": "the old files of GeNIe are not read; open it there and save it as .xdsl.",
    ".oobn": "object-oriented networks are not read; Hugin can unfold them into a .net file.",
    ".pkl": "a pickle can run code when it is read, so it is not; pyAgrum's saveBN writes .bifxml, which is read.",
}
# An XML file may say that it is not UTF-8.
_LATIN = re.compile(
    rb"<\?xml[^>]{0,200}encoding\s{0,9}=\s{0,9}[\"'](?:iso-8859-1|windows-1252|latin1)[\"']", re.IGNORECASE
)


def format_of(path: str | os.PathLike[str]) -> tuple[NetworkFormat, bool]:
    """Return the format that a path's extension means, and whether it is packed.

    Examples
    --------
    >>> form, packed = format_of("net.bif.gz")
    >>> form.name, packed
    ('bif', True)
    """
    suffix, packed = _suffix_of(path)
    known = known_extensions()
    if suffix in _REFUSED:
        raise NetworkError(f"{os.fspath(path)}: {_REFUSED[suffix]}")
    if suffix not in known:
        raise NetworkError(
            f"{os.fspath(path)}: the extension {suffix!r} is not a network format; "
            f"{did_you_mean(suffix, sorted(known))}"
        )
    return known[suffix](), packed


def is_network_file(path: str | os.PathLike[str]) -> bool:
    """Return whether a path's extension is that of a network format, packed or not."""
    return _suffix_of(path)[0] in known_extensions()


def _suffix_of(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the extension, without that of gzip, and whether that was there."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = bool(suffixes) and suffixes[-1] == ".gz"
    return (suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes and not packed else ""), packed


def load_text(path: str | os.PathLike[str], packed: bool) -> FileText:
    """Read a file's text; it must be UTF-8."""
    name = os.fspath(path)
    data = _unpack(path, name) if packed else _whole(path, name)
    if _LATIN.match(data):
        return FileText(name, data.decode("cp1252", "replace").replace("\r\n", "\n"))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        refuse(
            name,
            before.count(b"\n") + 1,
            column,
            f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8.",
        )
    # A sign that ends a line elsewhere must not move the line numbers.
    return FileText(name, text.replace("\r\n", "\n"))


def _whole(path: str | os.PathLike[str], name: str) -> bytes:
    with open(path, "rb") as file:
        return _bounded(file, name)


def _unpack(path: str | os.PathLike[str], name: str) -> bytes:
    try:
        with gzip.open(path, "rb") as file:
            return _bounded(file, name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NetworkFileError(f"{name} is not a complete gzip file: {error}; compress it again.") from None


def _bounded(file: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    # Piece by piece: room for the most that may come would be taken even for a small file.
    pieces, size = [], 0
    while piece := file.read(PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_BYTES:
            raise NetworkFileError(
                f"{name} holds more than {MAX_BYTES >> 20} MiB of text, which no network needs; it is not read."
            )
    return b"".join(pieces)


def save_text(text: str, path: str | os.PathLike[str], packed: bool) -> None:
    """Write a file's text; a packed file carries no time, so that the same network gives the same bytes."""
    data = text.encode()
    with atomic_write(Path(path)) as file:
        file.write(gzip.compress(data, mtime=0) if packed else data)
