"""Rows that come as they are asked for: generators of batches, Arrow streams of other packages, SQLite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.table.scan.arrow import ROWS_AT_ONCE, StreamPiece, TablePiece
from bayeskit.table.scan.grouping import quote
from bayeskit.table.scan.pieces import Scan, iterate

if TYPE_CHECKING:
    import pyarrow as pa


# -- generators -------------------------------------------------------------------------------------------------------


def open_batches(source: Any, table_of: Callable[[Any], Scan]) -> Scan:
    """Describe what gives batches: an iterator, which is read once, or a function that returns a new one each time."""
    make: Callable[[], Iterable[Any]] = source if callable(source) else (lambda: source)
    what = "the function of batches" if callable(source) else "the generator of batches"
    batches = iter(make())
    first = next(batches, None)
    if first is None:
        raise TableError(f"{what} gave no batch, so that its columns are not known.")
    schema = _tables([first], table_of, None)[0].schema
    if callable(source):
        return Scan(what, schema, (FunctionPiece(source, table_of, schema),))
    tables = (batch for table in _lazily(chain([first], batches), table_of, schema) for batch in table.to_batches())
    return Scan(what, schema, (StreamPiece(tables, what),), once=True)


def _tables(parts: Sequence[Any], table_of: Callable[[Any], Scan], schema: Any) -> list[Any]:
    return list(_lazily(parts, table_of, schema))


def _lazily(parts: Iterable[Any], table_of: Callable[[Any], Scan], schema: Any) -> Iterator[Any]:
    """Return each part as an Arrow table with the columns of the first."""
    import pyarrow as pa

    for number, part in enumerate(parts):
        if isinstance(part, dict):
            part = pa.table(part)
        piece = table_of(part).pieces[0]
        if not isinstance(piece, TablePiece):
            raise TableError(f"a batch must be a frame, a table or a dict of columns; got {type(part).__name__}.")
        table = piece.table
        if schema is not None and table.column_names != schema.names:
            raise TableError(
                f"batch {number + 1} has the columns {', '.join(map(repr, table.column_names[:10]))}, and the first "
                f"has {', '.join(map(repr, schema.names[:10]))}."
            )
        yield table


@dataclass(frozen=True)
class FunctionPiece:
    """A function that returns batches, called again for each pass."""

    function: Callable[[], Iterable[Any]]
    table_of: Callable[[Any], Scan]
    schema: pa.Schema
    name: str = "the function of batches"
    n_rows: int | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Call the function and read what it returns."""
        for table in _lazily(self.function(), self.table_of, self.schema):
            yield from iterate(table.select(list(columns)).to_batches(ROWS_AT_ONCE), self.name)


# -- Arrow streams of other packages ----------------------------------------------------------------------------------


def open_capsule(source: Any) -> Scan:
    """Describe anything that exports an Arrow stream (``__arrow_c_stream__``)."""
    import pyarrow as pa

    if hasattr(source, "__arrow_c_schema__"):
        schema = pa.schema(source)
        first = None
    else:
        first = pa.RecordBatchReader.from_stream(source)
        schema = first.schema
    kind = type(source)
    piece = CapsulePiece(source, f"the Arrow stream of {kind.__module__.split('.')[0]}.{kind.__qualname__}")
    if first is not None:
        piece.waiting.append(first)
    return Scan(piece.name, schema, (piece,))


@dataclass(frozen=True)
class CapsulePiece:
    """A stream, exported again for each pass; one that gives other rows then is refused."""

    source: Any
    name: str
    n_rows: int | None = None
    waiting: list[Any] = field(default_factory=list)  # the stream that told the columns, still to be read
    n_before: list[int] = field(default_factory=list)  # rows of an earlier pass

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read the stream."""
        import pyarrow as pa

        n_read = 0
        try:
            reader = self.waiting.pop() if self.waiting else pa.RecordBatchReader.from_stream(self.source)
        except Exception as error:  # whatever the package that exports it raises
            raise self._once() from error
        for batch in iterate(reader, self.name):
            n_read += batch.num_rows
            yield batch.select(list(columns))
        if self.n_before and self.n_before[0] != n_read:
            raise self._once()
        self.n_before[:] = [n_read]

    def _once(self) -> TableError:
        return TableError(f"{self.name} can be read only once, and more than one pass over it was needed.")

    def __reduce__(self) -> Any:
        raise TableError(f"{self.name} cannot be sent to another process; pass files, or count in this process.")


# -- SQLite -----------------------------------------------------------------------------------------------------------


def open_sqlite(connection: Any, query: str) -> Scan:
    """Describe a table or query of SQLite; what its cells are, SQLite itself says by a pass over them."""
    import sqlite3

    import pyarrow as pa

    try:
        cursor = connection.execute(f"SELECT * FROM ({query}) LIMIT 0")
        names = [described[0] for described in cursor.description]
        sorts = _sorts_of(connection, query, names)
    except sqlite3.Error as error:
        raise TableError(f"SQLite says: {error}") from error
    schema = pa.schema([(name, _type_of(name, sorts[name])) for name in names])
    return Scan("a query of SQLite", schema, (SqlitePiece(connection, query, schema),))


def _sorts_of(connection: Any, query: str, names: Sequence[str]) -> dict[str, set[str]]:
    """Return the types that the cells of each column have, by one pass over the rows."""
    sorts = ("integer", "real", "text", "blob")
    asked = ", ".join(f"max(typeof({quote(name)}) = '{sort}')" for name in names for sort in sorts)
    seen = iter(connection.execute(f"SELECT {asked} FROM ({query})").fetchone())
    return {name: {sort for sort in sorts if next(seen)} for name in names}


def _type_of(name: str, sorts: set[str]) -> Any:
    """Return the Arrow type of a column by what its cells are; text beside numbers is an error."""
    import pyarrow as pa

    if sorts <= {"integer"} and sorts:
        return pa.int64()
    if sorts <= {"integer", "real"} and sorts:
        return pa.float64()
    if sorts <= {"text"}:
        return pa.string()
    raise TableError(
        f"column {name!r} of SQLite holds cells of the types {', '.join(sorted(sorts))}; a column is text or numbers: "
        f"write CAST({quote(name)} AS TEXT) or AS REAL in the query."
    )


@dataclass(frozen=True)
class SqlitePiece:
    """A query, run again for each pass."""

    connection: Any
    query: str
    schema: pa.Schema
    name: str = "the query of SQLite"
    n_rows: int | None = None

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Run the query and read the rows as they come."""
        import sqlite3

        import pyarrow as pa

        schema = pa.schema([self.schema.field(name) for name in columns])
        try:
            cursor = self.connection.execute(f"SELECT {', '.join(map(quote, columns))} FROM ({self.query})")
            while rows := cursor.fetchmany(ROWS_AT_ONCE):
                cells = zip(*rows, strict=True)
                yield pa.record_batch([pa.array(c, f.type) for c, f in zip(cells, schema, strict=True)], schema=schema)
        except (sqlite3.Error, pa.ArrowException) as error:
            raise TableError(f"{self.name}: {error}") from error

    def __reduce__(self) -> Any:
        raise TableError("a connection to SQLite cannot be sent to another process; count in this process.")
