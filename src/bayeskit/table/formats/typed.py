"""Files whose columns have types: what Parquet and Feather share."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self

from bayeskit.errors import TableError
from bayeskit.table.formats.interface import TextOptions, Types
from bayeskit.table.missing_words import without_words
from bayeskit.table.raw_file import RawFile

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_AT_ONCE = 1 << 16


@dataclass(frozen=True)
class TypedReader(ABC):
    """A file of typed columns whose schema was read."""

    format: ClassVar[str]  # its name in messages

    raw: RawFile
    missing: tuple[str, ...] = ()
    types: Types | None = None  # of the columns, as the file holds them

    @classmethod
    def open(cls, raw: RawFile, options: TextOptions) -> Self:
        """Open a file; what is not a plain file is read into memory first, since its directory comes last."""
        if raw.path is None:
            with raw.open() as stream:
                data = stream.read()
            raw = replace(raw, open=lambda: io.BytesIO(data), reopenable=True)
        reader = cls(raw, options.missing)
        try:
            return replace(reader, types={field.name: field.type for field in reader._schema()})
        except (OSError, ValueError) as error:
            raise TableError(f"{raw.shown} is a damaged {cls.format} file: {error}.") from error

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in the order of the file."""
        return tuple(self.types or ())

    @abstractmethod
    def _schema(self) -> pa.Schema: ...

    @abstractmethod
    def _table(self) -> pa.Table: ...

    @abstractmethod
    def _batches(self, columns: list[str]) -> Iterable[pa.RecordBatch]:
        """Yield batches that hold these columns at least."""

    def line_of(self, row: int) -> int | None:
        """Return None: the format has no lines."""
        return None

    def read(self, types: Types) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns."""
        import pyarrow as pa

        try:
            table = self._table()
            return pa.table({name: self._column(table, name, types.get(name)) for name in self.names})
        except (OSError, KeyError, pa.ArrowInvalid) as error:
            raise self._unreadable(error) from error

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in its type."""
        import pyarrow as pa

        try:
            for batch in self._batches(list(types)):
                columns = [self._column(batch, name, kind) for name, kind in types.items()]
                yield pa.record_batch(columns, names=list(types))
        except (OSError, KeyError, pa.ArrowInvalid) as error:
            raise self._unreadable(error) from error

    def _column(self, rows: Any, name: str, kind: pa.DataType | None) -> Any:
        return without_words(cast_column(rows[name], kind, name), self.missing)

    def _unreadable(self, error: Exception) -> TableError:
        said = str(error).splitlines()[0].strip("'")
        return TableError(f"{self.raw.shown} cannot be read as {self.format}: {said}.")

    def _source(self) -> Any:
        import pyarrow as pa

        return str(self.raw.path) if self.raw.path is not None else pa.PythonFile(self.raw.open(), mode="r")


class TypedWriter:
    """Writes a file of typed columns, part by part."""

    def __init__(self, file: IO[bytes], new_file: Callable[[IO[bytes], pa.Schema], Any]) -> None:
        self._file, self._new_file = file, new_file
        self._writer: Any = None

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        if self._writer is None:
            self._writer, self._schema = self._new_file(self._file, table.schema), table.schema
        # The parts of a table may hold one column in types of several widths; the first is that of all.
        self._writer.write_table(table.cast(self._schema))

    def close(self) -> None:
        """Write the footer."""
        if self._writer is not None:
            self._writer.close()


def cast_column(column: Any, kind: pa.DataType | None, name: str) -> Any:
    """Return a column in the type that it must have; None leaves it as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if kind is None:
        return column
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    try:
        return pc.cast(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} of type {column.type} cannot be read as {kind}: {error}.") from error
