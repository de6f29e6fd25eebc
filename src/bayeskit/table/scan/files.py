"""Paths, URLs, globs and folders as scans; folders named key=value are columns."""

from __future__ import annotations

import glob
import os
import posixpath
import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from bayeskit.errors import BrokenFileError, TableError, warn_caller
from bayeskit.table.formats import feather as feather_format
from bayeskit.table.formats import parquet as parquet_format
from bayeskit.table.scan import parquet, text_files
from bayeskit.table.scan.evolution import unify
from bayeskit.table.scan.pieces import Piece, Scan
from bayeskit.table.scan.storage import MAGIC, FileAt, Storage, is_url, local_path, resolve, unreadable
from bayeskit.table.scan.table_formats import refuse_table_formats

_TEXTS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson")
# Name, value and Arrow type of a column that the name of a folder holds.
FolderValue = tuple[str, Any, Any]
_ENDINGS = (*parquet_format.EXTENSIONS, *feather_format.EXTENSIONS, *_TEXTS, *(f"{ending}.gz" for ending in _TEXTS))


def open_scan(source: Any, storage: Storage | None = None, *, skip_broken: bool = False, **options: Any) -> Scan:
    """Describe a file, the files that match a glob, those of a folder, or a list of these.

    With ``storage`` the paths are those of its filesystem. With ``skip_broken`` a file whose footer cannot be read is
    left out.
    """
    files = _files_at(source, storage)
    refuse_table_formats(files)
    described: list[tuple[str, Any, list[Piece]]] = []
    types: dict[str, Any] | None = None
    skipped: list[str] = []
    keys = folder_columns(files)
    for file, folders in zip(files, keys, strict=True):
        try:
            if _is_parquet(file):
                schema, more = parquet.open_file(file, folders, tuple(options.get("missing", ())))
                pieces: list[Piece] = list(more)
            else:
                _refuse_folders(file, folders)
                schema, piece, types = text_files.open_file(file, types, options)
                pieces = [piece]
        except BrokenFileError as error:
            if not skip_broken:
                raise
            skipped.append(str(error))
            continue
        described.append((file.shown, schema, pieces))
    if not described:
        raise TableError(f"none of {len(files):,} files can be read; the first: {skipped[0]}")
    return replace_skipped(_joined(described), skipped)


def replace_skipped(scan: Scan, skipped: list[str]) -> Scan:
    """Note the files that were left out, and warn of them."""
    if skipped:
        warn_caller(f"{len(skipped):,} broken file{'s' * (len(skipped) != 1)} left out; the first: {skipped[0]}")
        scan.skipped.extend(skipped)
    return scan


def _joined(described: Sequence[tuple[str, Any, list[Piece]]]) -> Scan:
    """Return the table of files, whose columns may differ."""
    schema, fills = unify([(shown, schema) for shown, schema, _ in described])
    pieces: list[Piece] = []
    for (_, _, more), fill in zip(described, fills, strict=True):
        pieces += [piece.filled(fill) for piece in more] if fill else more  # type: ignore[attr-defined]
    shown = f"'{described[0][0]}'" if len(described) == 1 else f"{len(described):,} files"
    return Scan(shown, schema, tuple(pieces))


def list_files(source: Any) -> list[Path]:
    """Return the files that a path, a glob, a folder or a list of these names, in order and each once."""
    return [Path(file.path) for file in _files_at(source, None)]


def _files_at(source: Any, storage: Storage | None) -> list[FileAt]:
    """Return the files, in order and each once, with the folders between what was scanned and each of them."""
    items = [local_path(item) for item in ([source] if isinstance(source, str | os.PathLike) else source)]
    listed: dict[Any, FileAt] = {}
    local = [item for item in items if storage is None and not is_url(item)]
    top = _top_folder(local) if local else Path()
    for item in items:
        if storage is not None:
            more = _stored(storage, os.fspath(item), items, os.fspath)
        elif is_url(item):
            more = _stored(*resolve(item), [each for each in items if is_url(each)], lambda url: resolve(url)[1])
        else:
            more = [FileAt(str(path), None, _below(path, top)) for path in _files_of(item)]
        for file in more:
            key = os.path.realpath(file.path) if file.storage is None else file.shown
            listed.setdefault(key, file)
    return list(listed.values())


def _below(path: Path, top: Path) -> tuple[str, ...]:
    return Path(os.path.abspath(path)).relative_to(top).parts[:-1]


def _files_of(source: str | os.PathLike[str]) -> list[Path]:
    path = Path(source)
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file() and p.name.lower().endswith(_ENDINGS))
        files = [p for p in files if not _is_hidden(p.relative_to(path).parts)]
        if not files:
            raise _no_files(str(path))
        return files
    if path.exists():
        return [path]
    files = sorted(Path(name) for name in glob.glob(str(source), recursive=True) if os.path.isfile(name))
    if not files:
        raise TableError(f"there is no file '{source}', and no file matches it.")
    return files


def _is_hidden(parts: Sequence[str]) -> bool:
    """Return whether a file is one that Spark and others leave beside a table, such as _SUCCESS and .crc."""
    return any(part.startswith(("_", ".")) for part in parts)


def _no_files(folder: str) -> TableError:
    return TableError(f"the folder '{folder}' holds no file that ends in {', '.join(_ENDINGS[:6])} or so.")


def _stored(storage: Storage, path: str, items: Sequence[Any], path_of: Any) -> list[FileAt]:
    """Return the files of a storage that a path, a glob or a folder names."""
    import pyarrow as pa

    try:
        paths = _paths_of(storage, path.rstrip("/"))
        top = posixpath.commonpath([_stored_top(storage, path_of(item).rstrip("/")) for item in items])
    except (OSError, pa.ArrowException) as error:
        raise unreadable(storage.shown(path), error) from error
    return [FileAt(each, storage, tuple(posixpath.relpath(each, top or ".").split("/")[:-1])) for each in paths]


def _paths_of(storage: Storage, path: str) -> list[str]:
    if MAGIC.search(path):
        folder = path[: path.rindex("/", 0, MAGIC.search(path).start())] if "/" in path else ""  # type: ignore[union-attr]
        fits = re.compile(_as_regex(path))
        paths = [each for each in storage.files(folder) if fits.fullmatch(each)]
        if not paths:
            raise TableError(f"no file matches '{storage.shown(path)}'.")
        return paths
    if storage.is_folder(path):
        paths = [each for each in storage.files(path) if each.lower().endswith(_ENDINGS)]
        paths = [each for each in paths if not _is_hidden(posixpath.relpath(each, path).split("/"))]
        if not paths:
            raise _no_files(storage.shown(path))
        return paths
    if storage.is_file(path):
        return [path]
    raise TableError(f"there is no file '{storage.shown(path)}'.")


def _as_regex(path: str) -> str:
    """Return the pattern of a glob; ``*`` stays within a folder and ``**`` does not.

    >>> bool(re.fullmatch(_as_regex("a/**/b[0-9].*"), "a/x/y/b1.csv"))
    True
    """
    signs = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*/|\*\*|\[!?[^]]+\]|.", path, re.DOTALL)
    return "".join(
        signs.get(part) or (part.replace("[!", "[^") if len(part) > 1 else re.escape(part)) for part in parts
    )


def _stored_top(storage: Storage, path: str) -> str:
    sign = MAGIC.search(path)
    if sign is not None:
        return path[: path.rindex("/", 0, sign.start())] if "/" in path else ""
    return path if storage.is_folder(path) else posixpath.dirname(path)


def _top_folder(items: Sequence[Any]) -> Path:
    """Return the folder that holds all that is scanned; folders above it say nothing about the rows."""
    folders = []
    for item in items:
        path = Path(os.path.abspath(item))
        if not path.exists():  # a glob: what comes before its first sign
            path = Path(*takewhile(lambda part: not glob.has_magic(part), path.parts))
        folders.append(path if path.is_dir() else path.parent)
    return Path(os.path.commonpath(folders))


def _is_parquet(file: FileAt) -> bool:
    if file.path.lower().endswith(parquet_format.EXTENSIONS):
        return True
    try:
        return bool(parquet_format.recognises(file.start()))
    except OSError as error:
        raise unreadable(file.shown, error) from error


def _refuse_folders(file: FileAt, folders: Any) -> None:
    if folders:
        raise TableError(
            f"'{file.shown}' lies in folders named key=value, which become columns only for Parquet files."
        )


def folder_columns(files: Sequence[FileAt]) -> list[tuple[FolderValue, ...]]:
    """Return name, value and type of each folder named key=value; a column of numbers or truth values is one.

    Signs that a folder's name cannot hold are written %3A and the like.

    >>> folder_columns([FileAt("a", None, ("day=1", "wet=true")), FileAt("b", None, ("day=-2", "wet=false"))])[1]
    (('day', -2, DataType(int64)), ('wet', False, DataType(bool)))
    """
    pairs = [
        {unquote(key): unquote(value) for key, sign, value in (part.partition("=") for part in file.folders) if sign}
        for file in files
    ]
    names = list(dict.fromkeys(name for each in pairs for name in each))
    columns: dict[str, list[FolderValue]] = {}
    for name in names:
        texts = [None if each.get(name) == "__HIVE_DEFAULT_PARTITION__" else each.get(name) for each in pairs]
        read, kind = _reader_of([text for text in texts if text is not None])
        columns[name] = [(name, None if text is None else read(text), kind) for text in texts]
    return [tuple(columns[name][k] for name in names) for k in range(len(files))]


def _reader_of(texts: Sequence[str]) -> tuple[Callable[[str], Any], Any]:
    """Return what reads all these values and loses nothing, and its type: numbers, truth values, or text."""
    import pyarrow as pa

    # Codes such as 007, and numbers with more digits than fit, are names.
    readers: tuple[tuple[str, Callable[[str], Any], Any], ...] = (
        (r"-?(0|[1-9][0-9]{0,17})", int, pa.int64()),
        (r"-?(0|[1-9][0-9]{0,8})(\.[0-9]{1,6})?", float, pa.float64()),
        (r"true|false", lambda text: text == "true", pa.bool_()),
    )
    for pattern, read, kind in readers:
        if texts and all(re.fullmatch(pattern, text) for text in texts):
            return read, kind
    return str, pa.string()
