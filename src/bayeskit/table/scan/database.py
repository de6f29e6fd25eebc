"""A table or query of a database as a scan, streamed through an ADBC connection."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.scan.duckdb import open_relation
from bayeskit.table.scan.grouping import group_counts, quote
from bayeskit.table.scan.pieces import Scan, iterate
from bayeskit.table.scan.streams import open_sqlite

if TYPE_CHECKING:
    import pyarrow as pa

# What a query begins with, and no table's name.
_QUERY = re.compile(r"\s*(?:\(|--|/\*|(?:select|with|values|table)[\s(*\"'])", re.IGNORECASE)


def kind_of(source: Any) -> str | None:
    """Return whether this is a connection: "adbc", "duckdb", "sqlite", or None."""
    if callable(getattr(source, "adbc_get_info", None)) and callable(getattr(source, "cursor", None)):
        return "adbc"
    package, name = type(source).__module__.split(".")[0], type(source).__name__
    known = {("duckdb", "DuckDBPyConnection"), ("_duckdb", "DuckDBPyConnection")}
    return "duckdb" if (package, name) in known else "sqlite" if isinstance(source, sqlite3.Connection) else None


def open_scan(connection: Any, what: str, kind: str = "adbc") -> Scan:
    """Describe a table by its name, or a query: text that begins with SELECT or WITH, a bracket or a comment."""
    is_query = _QUERY.match(what.rstrip()) is not None
    # The line end after it closes a comment in its last line.
    query = f"{what.rstrip().rstrip(';')}\n" if is_query else f"SELECT * FROM {'.'.join(map(quote, what.split('.')))}"
    name = "the query" if is_query else f"the table {what!r}"
    if kind == "sqlite":
        return open_sqlite(connection, query)
    if kind == "duckdb":
        try:
            return open_relation(connection.sql(query))
        except Exception as error:
            raise _refusal(name, error) from error
    piece = QueryPiece(connection, query, name)
    schema = _schema_of(piece)
    if any(map(_is_numeric, schema)):
        columns = ", ".join(_as_double(field) if _is_numeric(field) else quote(field.name) for field in schema)
        piece = QueryPiece(connection, f"SELECT {columns} FROM ({query}) AS t", piece.name)
        schema = _schema_of(piece)
    return Scan(f"{piece.name} of a database", schema, (piece,))


def _schema_of(piece: QueryPiece) -> pa.Schema:
    try:
        with piece.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM ({piece.query}) AS t LIMIT 0")
            return cursor.fetch_record_batch().schema
    except Exception as error:
        raise _refusal(piece.name, error) from error


def _is_numeric(field: pa.Field) -> bool:
    """Return whether this is a numeric of PostgreSQL, which its driver sends as text, since it has any precision."""
    return (field.metadata or {}).get(b"ADBC:postgresql:typname") == b"numeric"


def _as_double(field: pa.Field) -> str:
    return f"CAST({quote(field.name)} AS double precision) AS {quote(field.name)}"


@dataclass(frozen=True)
class QueryPiece:
    """A query, run again for each pass; the database sends only the requested columns."""

    connection: Any
    query: str
    name: str
    n_rows: int | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Run the query and read the rows as they come."""
        try:
            with self.connection.cursor() as cursor:
                cursor.execute(f"SELECT {', '.join(map(quote, columns))} FROM ({self.query}) AS t")
                yield from iterate(cursor.fetch_record_batch(), self.name)
        except TableError:
            raise
        except Exception as error:  # each driver has its own
            raise _refusal(self.name, error) from error

    def group_counts(self, columns: Sequence[str], target: str) -> dict[str, pa.Table]:
        """Let the database count the values of some columns, those that it counts quickly; see :mod:`.grouping`."""
        try:
            return group_counts(self.connection, self.query, columns, target)
        except Exception as error:
            raise _refusal(self.name, error) from error

    def __reduce__(self) -> Any:
        raise TableError("a database connection cannot be sent to another process; count in this process.")


def _refusal(name: str, error: Exception) -> TableError:
    said = str(error).strip() or type(error).__name__  # some drivers fail without a word
    return TableError(f"{name}: the database says: {said.splitlines()[0]}")
