"""Paths, globs and folders as scans; folders named key=value are columns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bayeskit.errors import TableError
from bayeskit.table.formats import feather as feather_format
from bayeskit.table.formats import parquet as parquet_format
from bayeskit.table.scan import parquet, text_files
from bayeskit.table.scan.pieces import Piece, Scan, refuse_other_columns
from bayeskit.table.scan.table_formats import refuse_table_formats

_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_ENDINGS = (*parquet_format.EXTENSIONS, *feather_format.EXTENSIONS, *_TEXTS, *(f"{ending}.gz" for ending in _TEXTS))


def open_scan(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> Scan:
    """Describe a file, the files that match a glob, those of a folder, or a list of these."""
    import pyarrow as pa

    paths = list_files(source)
    top = _top_folder(source)
    refuse_table_formats(paths, top)
    first, pieces, types = None, list[Piece](), None
    more: Sequence[Piece]
    keys = _folder_columns(paths, top)
    for path in paths:
        if _is_parquet(path):
            schema, more = parquet.open_file(path, keys[path], tuple(options.get("missing", ())))
        else:
            if keys[path]:
                raise TableError(
                    f"'{path}' lies in folders named key=value, which become columns only for Parquet files."
                )
            schema, piece, types = text_files.open_file(path, types, options)
            more = [piece]
        if first is None:
            first = schema
        else:
            refuse_other_columns(first, f"'{paths[0]}'", schema, f"'{path}'")
            first = pa.schema([a if not pa.types.is_null(a.type) else schema.field(a.name) for a in first])
        pieces.extend(more)
    shown = f"'{paths[0]}'" if len(paths) == 1 else f"{len(paths):,} files"
    return Scan(shown, first, tuple(pieces))


def list_files(source: Any) -> list[Path]:
    """Return the files that a path, a glob, a folder or a list of these names, in order and each once."""
    items = [source] if isinstance(source, str | os.PathLike) else source
    files = {os.path.realpath(path): path for item in reversed(items) for path in reversed(_files_of(item))}
    return list(files.values())[::-1]


def _files_of(source: str | os.PathLike[str]) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and p.name.lower().endswith(_ENDINGS))
        # Spark and others leave files such as _SUCCESS and .crc, which are not the table's.
        files = [p for p in files if not any(part.startswith(("_", ".")) for part in p.relative_to(path).parts)]
        if not files:
            raise TableError(f"the folder '{path}' holds no file that ends in {', '.join(_ENDINGS[:6])} or so.")
        return files
    if path.exists():
        return [path]
    files = sorted(Path(name) for name in glob.glob(str(source), recursive=True) if os.path.isfile(name))
    if not files:
        raise TableError(f"there is no file '{source}', and no file matches it.")
    return files


def _top_folder(source: Any) -> Path:
    """Return the folder that holds all that is scanned; folders above it say nothing about the rows."""
    folders = []
    for item in [source] if isinstance(source, str | os.PathLike) else source:
        path = Path(os.path.abspath(item))
        if not path.exists():  # a glob: what comes before its first sign
            path = Path(*takewhile(lambda part: not glob.has_magic(part), path.parts))
        folders.append(path if path.is_dir() else path.parent)
    return Path(os.path.commonpath(folders))


def _is_parquet(path: Path) -> bool:
    if path.name.lower().endswith(parquet_format.EXTENSIONS):
        return True
    with path.open("rb") as file:
        return parquet_format.recognises(file.read(8))


def _folder_columns(paths: list[Path], top: Path) -> dict[Path, tuple[tuple[str, Any], ...]]:
    """Return name and value of each folder named key=value below ``top``; whole numbers become a numeric column.

    Signs that a folder's name cannot hold are written %3A and the like.
    """
    folders = {path: Path(os.path.abspath(path)).relative_to(top).parts[:-1] for path in paths}
    pairs_of: dict[Path, dict[str, str]] = {
        path: {unquote(key): unquote(value) for key, sign, value in (part.partition("=") for part in parts) if sign}
        for path, parts in folders.items()
    }
    names = list(dict.fromkeys(name for pairs in pairs_of.values() for name in pairs))
    values = {name: [pairs.get(name) for pairs in pairs_of.values()] for name in names}
    whole = {name for name in names if all(v is not None and v.isdecimal() and str(int(v)) == v for v in values[name])}

    def value(name: str, text: str | None) -> Any:
        return None if text in (None, "__HIVE_DEFAULT_PARTITION__") else int(text) if name in whole else text

    return {path: tuple((name, value(name, pairs.get(name))) for name in names) for path, pairs in pairs_of.items()}
