"""Paths, globs and folders as scans; folders named key=value are columns."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayeskit.errors import TableError
from bayeskit.table.formats import parquet as parquet_format
from bayeskit.table.scan import parquet, text_files
from bayeskit.table.scan.pieces import Piece, Scan, refuse_other_columns

_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
_ENDINGS = (*parquet_format.EXTENSIONS, *_TEXTS, *(f"{ending}.gz" for ending in _TEXTS))


def open_scan(source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], **options: Any) -> Scan:
    """Describe a file, the files that match a glob, those of a folder, or a list of these."""
    import pyarrow as pa

    paths = list_files(source)
    first, pieces, types = None, list[Piece](), None
    keys = _folder_columns(paths)
    for path in paths:
        if _is_parquet(path):
            schema, more = parquet.open_file(path, keys[path], tuple(options.get("missing", ())))
        else:
            if keys[path]:
                raise TableError(
                    f"'{path}' lies in folders named key=value, which become columns only for Parquet files."
                )
            schema, piece = text_files.open_file(path, types, options)
            types, more = dict(piece.types), [piece]  # type: ignore[list-item]
        if first is None:
            first = schema
        else:
            refuse_other_columns(first, f"'{paths[0]}'", schema, f"'{path}'")
            first = pa.schema([a if not pa.types.is_null(a.type) else schema.field(a.name) for a in first])
        pieces.extend(more)
    shown = f"'{paths[0]}'" if len(paths) == 1 else f"{len(paths):,} files"
    return Scan(shown, first, tuple(pieces))


def list_files(source: Any) -> list[Path]:
    """Return the files that a path, a glob, a folder or a list of these names, in order."""
    if not isinstance(source, str | os.PathLike):
        return [path for item in source for path in list_files(item)]
    path = Path(source)
    if path.is_dir():
        found = sorted(p for p in path.rglob("*") if p.is_file() and p.name.lower().endswith(_ENDINGS))
        # Spark and others leave files such as _SUCCESS and .crc, which are not the table's.
        found = [p for p in found if not any(part.startswith(("_", ".")) for part in p.relative_to(path).parts)]
        if not found:
            raise TableError(f"the folder '{path}' holds no file that ends in {', '.join(_ENDINGS[:6])} or so.")
        return found
    if path.exists():
        return [path]
    found = sorted(Path(name) for name in glob.glob(str(source), recursive=True) if os.path.isfile(name))
    if not found:
        raise TableError(f"there is no file '{source}', and no file matches it.")
    return found


def _is_parquet(path: Path) -> bool:
    if path.name.lower().endswith(parquet_format.EXTENSIONS):
        return True
    with path.open("rb") as file:
        return parquet_format.recognises(file.read(8))


def _folder_columns(paths: list[Path]) -> dict[Path, tuple[tuple[str, Any], ...]]:
    """Return name and value of each folder named key=value above a file; whole numbers become a numeric column."""
    found = {path: dict(part.split("=", 1) for part in path.parts[:-1] if "=" in part) for path in paths}
    names = list(dict.fromkeys(name for pairs in found.values() for name in pairs))
    values = {name: [pairs.get(name) for pairs in found.values()] for name in names}
    whole = {name for name in names if all(v is not None and v.isdecimal() and str(int(v)) == v for v in values[name])}

    def value(name: str, text: str | None) -> Any:
        return None if text in (None, "__HIVE_DEFAULT_PARTITION__") else int(text) if name in whole else text

    return {path: tuple((name, value(name, pairs.get(name))) for name in names) for path, pairs in found.items()}
