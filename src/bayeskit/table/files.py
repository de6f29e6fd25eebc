"""CSV and Parquet files, plain, packed or from standard input: read whole, or batch by batch in constant memory."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from bayeskit.errors import TableError
from bayeskit.table.look import Bytes, look
from bayeskit.table.nearest import not_found

if TYPE_CHECKING:
    import pyarrow as pa

# What stands for a missing cell in a CSV. "None" is not among them: it is a value in many tables.
MISSING_WORDS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "null", "NULL", "?")
DELIMITERS = ",;\t|"
_BLOCK = 1 << 20


@dataclass(frozen=True)
class TableFile:
    """A table in a file, opened as far as its column names.

    Examples
    --------
    >>> from pathlib import Path
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "days.csv"
    >>> _ = path.write_text("outlook;wind\\nsunny;3\\nrain;?\\n")
    >>> file = TableFile.open(path)
    >>> file.names, file.read()["wind"].to_pylist()
    (('outlook', 'wind'), [3, None])
    """

    data: Bytes
    names: tuple[str, ...]
    encoding: str = "utf-8"
    delimiter: str = ","
    header_lines: int = 1

    @property
    def name(self) -> str:
        """The file's name, as messages show it."""
        return self.data.name

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], encoding: str = "utf-8", delimiter: str | None = None, *, keep: bool = False
    ) -> TableFile:
        """Look at a file; ``keep`` reads standard input into memory so that it can be read twice."""
        try:
            codecs.lookup(encoding)
        except LookupError:
            raise TableError(
                f"there is no encoding {encoding!r}; common ones are utf-8, utf-16, gb18030, big5, shift_jis, cp1252 "
                "and latin-1."
            ) from None
        if delimiter is not None and len(delimiter.encode()) != 1:
            raise TableError(f"the delimiter must be one character, such as ';'; got {delimiter!r}.")
        data = look(path, keep=keep, encoding=encoding)
        header_lines = 0
        if data.format == "parquet":
            import pyarrow.parquet as pq

            try:
                names = tuple(pq.read_schema(_source(data)).names)
            except (OSError, ValueError) as error:
                raise TableError(f"{data.name!r} is a damaged Parquet file: {error}.") from error
        else:
            delimiter, names, header_lines = _header(data, encoding, delimiter)
        for name in names:
            if names.count(name) > 1:
                raise TableError(
                    f"{data.name!r} has {names.count(name)} columns called {name!r} in its header; "
                    "every column needs a name of its own."
                )
        return cls(data, names, encoding, delimiter or ",", header_lines)

    def refuse_absent(self, wanted: Iterator[str] | tuple[str, ...], who: str) -> None:
        """Refuse, with the nearest names, a column that is not in the file."""
        for name in wanted:
            if name not in self.names:
                raise TableError(f"{self.data.name!r} does not fit {who}: {not_found('column', name, self.names)}")

    def read(self, types: Mapping[str, pa.DataType] | None = None) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns, the others are inferred."""
        import pyarrow as pa

        try:
            if self.data.format == "parquet":
                import pyarrow.parquet as pq

                table = pq.read_table(_source(self.data))
                for name, kind in (types or {}).items():
                    table = table.set_column(self.names.index(name), name, _cast(table[name], kind, name))
                return table
            import pyarrow.csv as pc

            options = self._options(types, threads=True)
            table = pc.read_csv(_source(self.data), *options)
        except (pa.ArrowInvalid, UnicodeError) as error:
            self._explain(error)
        self._refuse_binary(table.schema)
        self._refuse_second_header(table)
        return table

    def batches(self, types: Mapping[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in the type that it must have; memory does not grow with the file."""
        import pyarrow as pa

        try:
            if self.data.format == "parquet":
                import pyarrow.parquet as pq

                for batch in pq.ParquetFile(_source(self.data)).iter_batches(1 << 16, columns=list(types)):
                    columns = [_cast(batch[name], kind, name) for name, kind in types.items()]
                    yield pa.record_batch(columns, names=list(types))
                return
            import pyarrow.csv as pc

            read, parse, convert = self._options(types, threads=False)
            convert.include_columns = list(types)
            # Without threads the errors carry the number of the row.
            with pc.open_csv(_source(self.data), read, parse, convert) as reader:
                yield from reader
        except (pa.ArrowInvalid, UnicodeError) as error:
            self._explain(error)

    def _options(self, types: Mapping[str, pa.DataType] | None, *, threads: bool) -> tuple[Any, Any, Any]:
        import pyarrow.csv as pc

        return (
            # The names come from our own reading of the header, so that odd ones are met once, in one way.
            pc.ReadOptions(
                use_threads=threads,
                block_size=_BLOCK,
                column_names=self.names,
                skip_rows=self.header_lines,
                encoding=self.encoding,
            ),
            # A quoted cell may hold line breaks.
            pc.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
            pc.ConvertOptions(
                column_types=dict(types or {}), null_values=list(MISSING_WORDS), strings_can_be_null=True
            ),
        )

    def _explain(self, error: Exception) -> NoReturn:
        text = str(error)
        shown = repr(self.data.name)
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", text)
        if ragged:
            line = self._ragged_line(int(ragged[1])) or _row_of(text)
            raise TableError(
                f"{shown}, line {line}: it has {ragged[2]} cells and the header has {ragged[1]}; a cell that holds "
                f"the delimiter {self.delimiter!r} must stand in double quotes."
            ) from None
        bad = re.search(
            r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\w+): invalid value '(.*)'", text
        )
        if bad:
            name = self._column_name(int(bad[1]))
            line = bad[2] or self._line_of(name, bad[4])
            if bad[4] == name:
                raise TableError(f"{shown}, line {line}: the header stands there a second time; delete that line.")
            wanted = "true or false" if bad[3] == "bool" else "a number"
            raise TableError(
                f"{shown}, line {line}: column {name!r} must hold {wanted}; got {bad[4]!r}. Leave the cell empty if "
                "it is not known."
            ) from None
        if isinstance(error, UnicodeError) or "UTF8" in text:
            self._not_text()
        raise TableError(f"{shown} cannot be read as a CSV file: {text.splitlines()[0]}.") from error

    def _column_name(self, number: int) -> str:
        return self.names[number] if number < len(self.names) else f"#{number + 1}"

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row with the line it begins on, by Python's own CSV reader: slow, for messages only."""
        with io.TextIOWrapper(self.data.open(), encoding=self.encoding, errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=self.delimiter)
            line = 1
            for row in reader:
                yield line, row
                line = reader.line_num + 1

    def _ragged_line(self, n_columns: int) -> int | None:
        if not self.data.again:
            return None
        return next((line for line, row in self._rows() if row and len(row) != n_columns), None)

    def _line_of(self, name: str, value: str) -> int | str:
        if not self.data.again:
            return "?"
        j = self.names.index(name)
        return next((line for line, row in self._rows() if line > 1 and len(row) > j and row[j] == value), "?")

    def _refuse_binary(self, schema: pa.Schema) -> None:
        import pyarrow as pa

        if self.data.format == "csv" and any(pa.types.is_binary(field.type) for field in schema):
            self._not_text()

    def _not_text(self) -> NoReturn:
        line = ""
        if self.data.again and codecs.lookup(self.encoding).name == "utf-8":
            with self.data.open() as file:
                for number, row in enumerate(file, 1):
                    try:
                        row.decode()
                    except UnicodeDecodeError:
                        line = f", line {number}"
                        break
        raise TableError(
            f"{self.data.name!r}{line}: it is not {self.encoding} text; say its encoding, such as --encoding gb18030 "
            "for Chinese or --encoding cp1252 for Western Windows files."
        ) from None

    def _refuse_second_header(self, table: pa.Table) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.data.format != "csv" or not all(pa.types.is_string(kind) for kind in table.schema.types):
            return
        rows = pc.equal(table.column(0), self.names[0])
        for j in range(1, len(self.names)):
            if not pc.any(rows).as_py():
                return
            rows = pc.and_(rows, pc.equal(table.column(j), self.names[j]))
        if pc.any(rows).as_py():
            line = self._line_of(self.names[0], self.names[0])
            raise TableError(
                f"{self.data.name!r}, line {line}: the header stands there a second time; delete that line."
            )


def _source(data: Bytes) -> Any:
    import pyarrow as pa

    return str(data.path) if data.path is not None else pa.PythonFile(data.open(), mode="r")


def _header(data: Bytes, encoding: str, delimiter: str | None) -> tuple[str, tuple[str, ...], int]:
    """Return the delimiter, the column names, and how many lines the header takes."""
    # A character may be cut at the end of the head; what comes before it is whole.
    text = codecs.getincrementaldecoder(encoding)("replace").decode(data.head).removeprefix("\ufeff")
    first = text.lstrip("\r\n")
    line = first.splitlines()[0]
    if delimiter is None:
        outside = re.sub(r'"[^"]*"', "", line)
        delimiter = max(DELIMITERS, key=outside.count) if any(sign in outside for sign in DELIMITERS) else ","
    reader = csv.reader(io.StringIO(first, newline=""), delimiter=delimiter)
    names = tuple(next(reader))
    if any(not name.strip() for name in names):
        empty = next(j for j, name in enumerate(names) if not name.strip())
        names = tuple(name if name.strip() else f"column {j + 1}" for j, name in enumerate(names))
        if all(name == f"column {j + 1}" for j, name in enumerate(names)):
            raise TableError(f"{data.name!r} has no column names in its first line (cell {empty + 1} is empty).")
    if "\ufffd" in line:
        raise TableError(
            f"{data.name!r}, line 1: the header is not {encoding} text; say its encoding, such as --encoding gb18030 "
            "for Chinese or --encoding cp1252 for Western Windows files."
        )
    blank = len(text[: len(text) - len(first)].splitlines())
    return delimiter, names, blank + reader.line_num


def _row_of(text: str) -> str:
    found = re.search(r"Row #(\d+)", text)
    return found[1] if found else "?"


def _cast(column: Any, kind: pa.DataType, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    try:
        return pc.cast(column, kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise TableError(f"column {name!r} of type {column.type} cannot be read as {kind}: {error}.") from error
