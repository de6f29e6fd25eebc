"""Anything that holds a table → a scan."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

from bayeskit.errors import TableError
from bayeskit.table.files import require_pyarrow
from bayeskit.table.scan import database, files, lakes, storage, streams
from bayeskit.table.scan.checkpoint import Checkpoint
from bayeskit.table.scan.local import Here
from bayeskit.table.scan.pieces import Scan
from bayeskit.table.scan.storage import is_url, local_path, resolve
from bayeskit.table.scan.table_formats import format_of

# The package that an object comes from → the module and function here that describe it; imported only when one comes.
_SOURCES = {
    "pyarrow": ("arrow", "open_scan"),
    "polars": ("frames", "open_polars"),
    "pandas": ("frames", "open_pandas"),
    "duckdb": ("duckdb", "open_scan"),
    "_duckdb": ("duckdb", "open_scan"),
}
_LAKES = {"deltalake": lakes.open_delta, "pyiceberg": lakes.open_iceberg}


def scan(
    source: Any,
    query: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
    version: lakes.Version = None,
    filesystem: Any = None,
    n_jobs: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    skip_broken: bool = False,
) -> Scan:
    """Describe a table that lies in files, in a database or in this process; see :func:`bayeskit.scan`."""
    require_pyarrow("scan")
    if n_jobs is not None and n_jobs < 1:
        raise TableError(f"n_jobs must be at least 1; got {n_jobs}.")
    if isinstance(source, Scan):
        table = source
    else:
        table = _open(source, _Asked(query, encoding, version, filesystem, skip_broken))
    if n_jobs is not None:
        table = replace(table, engine=Here(n_jobs))
    if checkpoint is not None:
        table = replace(table, checkpoint=Checkpoint(Path(checkpoint)))
    table = replace(table, skip_broken=skip_broken or table.skip_broken)
    return table if columns is None else table.select(columns)


@dataclass(frozen=True)
class _Asked:
    """What was asked for beside the source."""

    query: str | None
    encoding: str | None
    version: lakes.Version
    filesystem: Any
    skip_broken: bool

    def refuse(self, source: Any, *names: str) -> None:
        """Raise an error for options that this source does not have."""
        takers = {
            "query": "database connections",
            "version": "tables in Delta or Iceberg format",
            "filesystem": "paths",
        }
        for name in names:
            if getattr(self, name) is not None:
                raise TableError(f"{name} is only for {takers[name]}; got a {type(source).__name__}.")


def _open(source: Any, asked: _Asked) -> Scan:
    if isinstance(source, str | os.PathLike) or _is_list_of_paths(source):
        asked.refuse(source, "query")
        return open_paths(
            source,
            asked.version,
            asked.filesystem,
            skip_broken=asked.skip_broken,
            **({} if asked.encoding is None else {"encoding": asked.encoding}),
        )
    asked.refuse(source, "filesystem")
    kind = database.kind_of(source)
    if kind is not None:
        asked.refuse(source, "version")
        if asked.query is None:
            raise TableError("a database connection needs the name of a table or a query: scan(connection, 'days').")
        return database.open_scan(source, asked.query, kind)
    asked.refuse(source, "query")
    for base in type(source).__mro__:
        package = base.__module__.split(".")[0]
        if package in _LAKES:
            table = _LAKES[package](source, asked.version)
        elif package in _SOURCES:
            asked.refuse(source, "version")
            module, function = _SOURCES[package]
            table = getattr(import_module(f"bayeskit.table.scan.{module}"), function)(source)
        else:
            continue
        if table is not None:
            return table
    asked.refuse(source, "version")
    if hasattr(source, "__arrow_c_stream__"):
        return streams.open_capsule(source)
    if isinstance(source, Iterator) or (callable(source) and not isinstance(source, type)):
        return streams.open_batches(source, scan)
    raise TableError(
        "scan takes a path, a URL, a glob, a folder, a list of these, a pyarrow, polars or pandas frame, a DuckDB "
        "relation, a Dask or Spark frame, a Delta or Iceberg table, a generator of batches, or a database connection "
        f"with a query; got {type(source).__name__} {source!r:.60}."
    )


def open_paths(
    source: Any, version: lakes.Version = None, filesystem: Any = None, *, skip_broken: bool = False, **options: Any
) -> Scan:
    """Describe files; a folder whose own log says which files hold rows is read by that log.

    ``options`` are those of :meth:`TableFile.open` for files of text.
    """
    source = local_path(source)
    stored = None if filesystem is None else storage.given(filesystem)
    kind = _lake_format(source, stored) if isinstance(source, str | os.PathLike) else None
    if kind is not None:
        if stored is not None:
            raise TableError(f"a table in {kind} format has a filesystem of its own; pass its URL, or the table.")
        table = lakes.open_folder(kind, os.fspath(source), version)
        assert table is not None
        return table
    if version is not None:
        raise TableError(f"version is only for tables in Delta or Iceberg format; got {source!r}.")
    return files.open_scan(source, stored, skip_broken=skip_broken, **options)


def _lake_format(source: Any, place: storage.Storage | None) -> str | None:
    """Return the format of the table whose folder a path or URL is, if it is one."""
    path = os.fspath(source)
    if place is None and is_url(path):
        place, path = resolve(path)
    if storage.MAGIC.search(path) or (place is not None and place.prefix.startswith("http")):
        return None
    with storage.in_words(str(source)):
        return format_of(path, place)


def _is_list_of_paths(source: Any) -> bool:
    is_list = isinstance(source, Sequence) and not isinstance(source, Mapping) and len(source) > 0
    return is_list and all(isinstance(item, str | os.PathLike) for item in source)
