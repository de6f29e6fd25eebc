"""Which format a file has: by its first bytes when it is read, by its extension when it is written."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import PurePath
from typing import IO, Any, cast

from bayeskit.errors import TableError
from bayeskit.table.formats.interface import Format, TableWriter, TextOptions
from bayeskit.table.raw_file import RawFile

# The modules of this folder, in the order in which they are asked; CSV comes last, since any text may be one.
FORMATS = ("parquet", "feather", "ods", "xlsx", "statistics", "jsonl", "csv")
_BINARY = ("parquet", "feather", "ods", "xlsx", "statistics")
_TABLES = "a CSV, JSON Lines, Parquet, Feather or Excel file"

_GZIP = ".gz"

# First bytes of files that people give by mistake, and what they are.
_OTHERS = (
    (b"PK\x03\x04", "a zip archive or a model file"),
    (b"\xd0\xcf\x11\xe0", "an old Excel workbook; save the sheet as CSV"),
    (b"%PDF", "a PDF document"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"SQLite format 3", "a database; export the table as CSV"),
    (b"FEA1", "a Feather file of version 1; write it again by a newer pyarrow or pandas"),
    (b"<!DOCTYPE", "a web page"),
    (b"<html", "a web page"),
    (b"<?xml", "an XML document"),
    (b"[{", "a JSON array; write one JSON object per line"),
)


def recognise(raw: RawFile, options: TextOptions) -> Format:
    """Return the format of a file; refuse what is not a table."""
    head = raw.head
    if not head.strip():
        raise TableError(f"{raw.shown} is empty; a table has a line of column names and one line per row.")
    is_table = any(_module(name).recognises(head) for name in _BINARY)
    for begin, what in () if is_table else _OTHERS:
        if head.lstrip()[: len(begin)].lower() == begin.lower():
            raise TableError(f"{raw.shown} is not {_TABLES}: it looks like {what}.")
    name = next(name for name in FORMATS if _module(name).recognises(head))
    if name not in _BINARY:
        _refuse_binary(raw, options.encoding)
    return cast(Format, _module(name))


def is_binary(head: bytes) -> bool:
    """Return whether a file that begins with these bytes holds no text."""
    return any(_module(name).recognises(head) for name in _BINARY) or any(
        head.lstrip()[: len(begin)].lower() == begin.lower() for begin, _ in _OTHERS
    )


def format_named(path: PurePath) -> Format:
    """Return the format of a file to write, by its extension; an unknown one is an error.

    >>> format_named(PurePath("days.csv.gz")).__name__
    'bayeskit.table.formats.csv'
    """
    name = path.name.lower().removesuffix(_GZIP)
    modules = list(map(_module, FORMATS))
    for module in modules:
        if name.endswith(module.EXTENSIONS):
            return cast(Format, module)
    known = sorted(extension for module in modules for extension in module.EXTENSIONS)
    raise TableError(
        f"{path.name!r} does not say which format to write; its name must end in {', '.join(known)}, or in one of them "
        f"and {_GZIP}."
    )


@contextmanager
def open_writer(path: PurePath, file: IO[bytes]) -> Iterator[TableWriter]:
    """Open a table to write in the format that the file's name ends in; a name that ends in .gz is compressed.

    Examples
    --------
    >>> import gzip, io, pyarrow as pa
    >>> file = io.BytesIO()
    >>> with open_writer(PurePath("days.csv.gz"), file) as writer:
    ...     writer.write(pa.table({"wind": [1, 2]}))
    >>> gzip.decompress(file.getvalue())
    b'wind\\n1\\n2\\n'
    """
    written = format_named(path)
    if not path.name.lower().endswith(_GZIP):
        writer = written.open_writer(file)
        yield writer
        writer.close()
        return
    # Without name and time the same table gives the same bytes.
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0) as packed:
        writer = written.open_writer(cast(IO[bytes], packed))
        yield writer
        writer.close()


def _module(name: str) -> Any:
    return import_module(f"bayeskit.table.formats.{name}")


def _refuse_binary(raw: RawFile, encoding: str) -> None:
    wide = encoding.lower().startswith(("utf-16", "utf-32"))
    if raw.head[:2] in (b"\xff\xfe", b"\xfe\xff") and not wide:
        raise TableError(f"{raw.shown} looks like UTF-16 text; its encoding must be given as 'utf-16'.", "encoding")
    if b"\0" in raw.head and not wide:
        place, n_zero = raw.head.index(b"\0"), raw.head.count(b"\0")
        if n_zero <= 3 and b"\n" in raw.head[:place]:
            line = raw.head.count(b"\n", 0, place) + 1
            raise TableError(
                f"{raw.shown}, line {line}, byte {place}: a zero byte, which no text has; delete it, or give the "
                "encoding if this is not UTF-8 text.",
                "encoding",
            )
        raise TableError(f"{raw.shown} is not {_TABLES}: it holds zero bytes, which no text has.")
