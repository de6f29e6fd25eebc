"""Anything that holds a table → a scan."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from bayeskit.errors import TableError
from bayeskit.table.files import require_pyarrow
from bayeskit.table.scan import database, files
from bayeskit.table.scan.pieces import Scan

# The package that an object comes from → the module and function here that describe it; imported only when one comes.
_SOURCES = {
    "pyarrow": ("arrow", "open_scan"),
    "polars": ("frames", "open_polars"),
    "pandas": ("frames", "open_pandas"),
    "duckdb": ("duckdb", "open_scan"),
    "_duckdb": ("duckdb", "open_scan"),
}


def scan(
    source: Any, query: str | None = None, *, columns: Sequence[str] | None = None, encoding: str | None = None
) -> Scan:
    """Describe a table that lies in files, in a database or in this process; see :func:`bayeskit.scan`."""
    require_pyarrow("scan")
    table = source if isinstance(source, Scan) else _open(source, query, encoding)
    return table if columns is None else table.select(columns)


def _open(source: Any, query: str | None, encoding: str | None) -> Scan:
    if database.is_connection(source):
        if query is None:
            raise TableError("a database connection needs the name of a table or a query: scan(connection, 'days').")
        return database.open_scan(source, query)
    if query is not None:
        raise TableError(f"query is only for database connections; got a {type(source).__name__}.")
    if isinstance(source, str | os.PathLike) or _is_list_of_paths(source):
        return files.open_scan(source, **({} if encoding is None else {"encoding": encoding}))
    for kind in type(source).__mro__:
        package = kind.__module__.split(".")[0]
        if package in _SOURCES:
            module, function = _SOURCES[package]
            table: Scan | None = getattr(import_module(f"bayeskit.table.scan.{module}"), function)(source)
            if table is not None:
                return table
    raise TableError(
        "scan takes a path, a glob, a folder, a list of these, a pyarrow, polars or pandas frame, a DuckDB relation, a "
        f"Dask or Spark frame, or an ADBC connection with a query; got {type(source).__name__} {source!r:.60}."
    )


def _is_list_of_paths(source: Any) -> bool:
    is_list = isinstance(source, Sequence) and not isinstance(source, Mapping) and len(source) > 0
    return is_list and all(isinstance(item, str | os.PathLike) for item in source)
