"""Which format a path means, and the text behind it, packed by gzip or not."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path

from bayeskit.errors import NetworkError, NetworkFileError
from bayeskit.io.container import beside
from bayeskit.network.formats.parts import Source, refuse
from bayeskit.network.names import nearest

FORMATS = {
    ".bif": "bif",
    ".xmlbif": "xmlbif",
    ".bifxml": "xmlbif",
    ".xml": "xmlbif",
    ".net": "net",
    ".uai": "uai",
    ".dot": "dot",
    ".gv": "dot",
}

# A packed file can unpack to any size; the largest public network has 6 MB of text.
MAX_BYTES = 1 << 28


def format_of(path: str | os.PathLike[str]) -> tuple[str, bool]:
    """Return the format that a path's extension means, and whether it is packed.

    Examples
    --------
    >>> format_of("net.bif.gz")
    ('bif', True)
    """
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    packed = bool(suffixes) and suffixes[-1] == ".gz"
    suffix = suffixes[-2] if packed and len(suffixes) > 1 else suffixes[-1] if suffixes and not packed else ""
    if suffix not in FORMATS:
        raise NetworkError(
            f"{os.fspath(path)}: the extension {suffix!r} is no network format; {nearest(suffix, list(FORMATS))}"
        )
    return FORMATS[suffix], packed


def load(path: str | os.PathLike[str], packed: bool) -> Source:
    """Read a file's text; it must be UTF-8."""
    name = os.fspath(path)
    data = _unpack(path, name) if packed else _whole(path, name)
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
    return Source(name, text.replace("\r\n", "\n"))


def _whole(path: str | os.PathLike[str], name: str) -> bytes:
    with open(path, "rb") as file:
        data = file.read(MAX_BYTES + 1)
    return _bounded(data, name)


def _unpack(path: str | os.PathLike[str], name: str) -> bytes:
    try:
        with gzip.open(path, "rb") as file:
            return _bounded(file.read(MAX_BYTES + 1), name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise NetworkFileError(f"{name} is no whole gzip file: {error}; pack it again.") from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MAX_BYTES:
        raise NetworkFileError(
            f"{name} holds more than {MAX_BYTES >> 20} MiB of text, which no network needs; it is not read."
        )
    return data


def save(text: str, path: str | os.PathLike[str], packed: bool) -> None:
    """Write a file's text; a packed file carries no time, so that the same network gives the same bytes."""
    data = text.encode()
    with beside(Path(path)) as file:
        file.write(gzip.compress(data, mtime=0) if packed else data)
