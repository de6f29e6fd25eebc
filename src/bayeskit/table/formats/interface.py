"""The interface of every format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.raw_file import RawFile


@dataclass(frozen=True)
class TextOptions:
    """Options for reading a text file."""

    encoding: str = "utf-8"
    delimiter: str | None = None  # detected when None
    missing: tuple[str, ...] = ()  # words for a missing cell, besides those that every file may use
    sheet: str | int | None = None  # of a workbook, by name or by number from 1
    skip: int = 0  # lines, or rows of a sheet, before the column names


# The type in which each column is read; None is the type in which the file holds it, which in a CSV file is text.
Types = Mapping[str, "pa.DataType | None"]


class TableReader(Protocol):
    """A table in a file, opened as far as its column names."""

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in the order of the file."""
        ...

    @property
    def types(self) -> Types | None:
        """The types of the columns; None where the file holds text, of which types are inferred."""
        ...

    def read(self, types: Types) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns, the others are inferred."""
        ...

    def n_batches(self) -> int:
        """Return about how many batches :meth:`batches` gives; 0 where that is not known."""
        ...

    def line_of(self, row: int) -> int | None:
        """Return the line on which a row begins, the first row being 0; None where the format has no lines."""
        ...

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read the columns of ``types`` batch by batch, each in its type; memory does not grow with the file."""
        ...


class TableWriter(Protocol):
    """Writes tables one after the other."""

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        ...

    def close(self) -> None:
        """Write the footer, if the format has one."""
        ...


class Format(Protocol):
    """A module of this folder."""

    EXTENSIONS: tuple[str, ...]
    # OPTIONS: tuple[str, ...], which of "sheet" and "skip" it takes; none where it is not there.

    def recognises(self, head: bytes) -> bool:
        """Return whether a file that begins with these bytes is of this format."""
        ...

    def open_reader(self, raw: RawFile, options: TextOptions) -> TableReader:
        """Open a table to read."""
        ...

    def open_writer(self, file: IO[bytes]) -> TableWriter:
        """Open a table to write."""
        ...
