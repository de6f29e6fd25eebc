"""The encodings of text files."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from typing import IO

from bayeskit.errors import TableError
from bayeskit.table.raw_file import RawFile


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that Python does not know."""
    try:
        codecs.lookup(encoding)
    except LookupError:
        raise TableError(
            f"there is no encoding {encoding!r}; common ones are utf-8, utf-16, gb18030, big5, shift_jis, cp1252 "
            "and latin-1.",
            "encoding",
        ) from None


def wrong_encoding(raw: RawFile, encoding: str, line: int | None = None) -> TableError:
    """Return the error that says which line, and which byte of the file, is not text in the encoding given."""
    where = "" if line is None else f", line {line}"
    if line is None and raw.reopenable and codecs.lookup(encoding).name == "utf-8":
        where = _first_bad_byte(raw)
    return TableError(
        f"{raw.shown}{where}: this is not {encoding} text; its encoding must be given, such as gb18030 for Chinese or "
        "cp1252 for Western Windows files.",
        "encoding",
    )


def _first_bad_byte(raw: RawFile) -> str:
    done = 0
    with raw.open() as file:
        for number, row in enumerate(file, 1):
            try:
                row.decode()
            except UnicodeDecodeError as error:
                return f", line {number}, byte {done + error.start}"
            done += len(row)
    return ""


def replaced(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    """Yield the bytes of a text file in UTF-8, with � in place of bytes that are not valid in its encoding."""
    decoder = codecs.getincrementaldecoder(encoding)("replace")
    with file:
        while piece := file.read(1 << 16):
            yield decoder.decode(piece).encode("utf-8", "surrogatepass")
        yield decoder.decode(b"", final=True).encode("utf-8", "surrogatepass")
