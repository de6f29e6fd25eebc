"""CSV files: delimiter and header detected, quoted cells, line numbers in every message."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from time import monotonic, sleep
from typing import IO, TYPE_CHECKING, Any, ClassVar, NoReturn
from weakref import WeakSet, ref

from bayeskit.errors import TableError
from bayeskit.table.conventions import argument_for, overflows
from bayeskit.table.formats.encodings import replaced, wrong_encoding
from bayeskit.table.formats.header import open_quote, read_header
from bayeskit.table.formats.interface import TextOptions, Types
from bayeskit.table.missing_words import USUAL
from bayeskit.table.names import numbers_as_names
from bayeskit.table.number_cells import CLEAR_POINT, PLAIN
from bayeskit.table.raw_file import HEAD, RawFile, stream_of

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".csv",)
OPTIONS = ("skip",)
# Words for a missing cell in a CSV file. "None" is not among them: it is a value in many tables.
MISSING_WORDS = USUAL
_BLOCK = 1 << 20
# A large file is read whole in larger blocks, which costs a tenth less.
_LARGE_BLOCK = 4 << 20
# Rows of a large file that say which columns are plain fractions.
_FIRST_ROWS = 300
# Seconds for the blocks that are read ahead when a file is given up.
_LONGEST_WAIT = 10.0
# The last line that the parser is given, with more cells than any row: a quote that is never closed swallows it.
_END = "\x03"


def recognises(head: bytes) -> bool:
    """Return True: any text may be CSV."""
    return True


def open_reader(raw: RawFile, options: TextOptions) -> CsvReader:
    """Read the header of a CSV file."""
    header = read_header(raw, options.encoding, options.delimiter, options.skip)
    missing = (*MISSING_WORDS, *options.missing)
    return CsvReader(raw, header.names, options.encoding, header.delimiter, header.n_lines, missing, notes=header.said)


def open_writer(file: IO[bytes]) -> CsvWriter:
    """Open a CSV file to write."""
    return CsvWriter(file)


@dataclass(frozen=True)
class CsvReader:
    """A CSV file whose header was read."""

    types: ClassVar[Types | None] = None

    raw: RawFile
    names: tuple[str, ...]
    encoding: str
    delimiter: str
    header_lines: int
    missing: tuple[str, ...] = MISSING_WORDS
    errors: str = "strict"  # or "replace": bytes that are no text become �
    notes: tuple[str, ...] = ()  # what was met in the header

    def read(self, types: Types) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns, the others are inferred."""
        import pyarrow as pa
        import pyarrow.csv as pc

        end = _End(self.delimiter, len(self.names))
        with _let_go(self._source(end), end) as held:
            try:
                table = pc.read_csv(held.pop(), *self._options(types, end, threads=True))
            except (pa.ArrowInvalid, UnicodeError) as error:
                self._explain(error, end)
        self._refuse_open_quote(end)
        if any(pa.types.is_binary(field.type) for field in table.schema):
            raise wrong_encoding(self.raw, self.encoding)
        self._refuse_second_header(table)
        self._refuse_overflow(table)
        return table

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in its type."""
        import pyarrow as pa
        import pyarrow.csv as pc

        # Without threads the errors carry the number of the row.
        end = _End(self.delimiter, len(self.names))
        read, parse, convert = self._options(types, end, threads=False)
        convert.include_columns = list(types)
        with _let_go(self._source(end), end) as held:
            try:
                held.append(pc.open_csv(held.pop(), read, parse, convert))
                del parse  # Arrow alone keeps what it calls for a bad row
                # The last batch may hold nothing but the line that is left out.
                for number, batch in enumerate(held[0]):
                    if batch.num_rows or not number:
                        self._refuse_overflow(batch)
                        yield batch
            except (pa.ArrowInvalid, UnicodeError) as error:
                self._explain(error, end)
        self._refuse_open_quote(end)

    def _options(self, types: Types, end: _End, *, threads: bool) -> tuple[Any, Any, Any]:
        import pyarrow as pa
        import pyarrow.csv as pc

        fixed = {name: pa.string() if kind is None else kind for name, kind in types.items()}
        block = self._block(threads=threads)
        return (
            # The names come from our own reading of the header, so that odd ones are met once, in one way.
            pc.ReadOptions(
                use_threads=threads,
                block_size=max(block, 8 * sum(map(len, self.names))),  # the longest line must fit
                column_names=self.names,
                skip_rows=self.header_lines,
                encoding=self.encoding if self.errors == "strict" else "utf-8",
            ),
            # A quoted cell may hold line breaks.
            pc.ParseOptions(delimiter=self.delimiter, newlines_in_values=True, invalid_row_handler=end.handler()),
            pc.ConvertOptions(column_types=fixed, null_values=list(self.missing), strings_can_be_null=True),
        )

    def _block(self, *, threads: bool) -> int:
        return _LARGE_BLOCK if threads and self.raw.n_bytes > 4 * _LARGE_BLOCK else _BLOCK

    def _source(self, end: _End) -> _Ended:
        import pyarrow as pa

        if self.errors == "replace":
            file: Any = pa.PythonFile(stream_of(replaced(self.raw.open(), self.encoding)), mode="r")
        else:
            file = pa.OSFile(str(self.raw.path)) if self.raw.path else pa.PythonFile(self.raw.open(), mode="r")
        line = end.line(self.encoding if self.errors == "strict" else "utf-8")
        return _Ended(file, pa.py_buffer(line))

    def fractions(self) -> tuple[str, ...]:
        """Return the columns whose first cells are all plain numbers, some with a fraction that leaves no doubt."""
        if len(self.raw.head) < HEAD or not self.raw.reopenable or self.errors != "strict":
            return ()
        text = codecs.getincrementaldecoder(self.encoding)("replace").decode(self.raw.head)
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter))[:-1]
        rows = [row for row in rows[self.header_lines :] if len(row) == len(self.names)][:_FIRST_ROWS]
        columns = zip(self.names, zip(*rows, strict=True), strict=False)
        return tuple(name for name, cells in columns if _are_fractions(cells, self.missing))

    @property
    def said(self) -> tuple[str, ...]:
        """What the user should know: what the header said, and names that look like cells of a first row."""
        return (*self.notes, *numbers_as_names(self.names))

    def n_batches(self) -> int:
        """Return how many blocks the file has; 0 where its size is not known."""
        return -(-self.raw.n_bytes // _BLOCK)

    def line_of(self, row: int) -> int | None:
        """Return the line on which a row begins; None where the file cannot be read again."""
        if not self.raw.reopenable:
            return None
        rows = (line for line, cells in self._rows() if line > self.header_lines and cells)
        return next(islice(rows, row, None), None)

    def _refuse_open_quote(self, end: _End) -> None:
        if end.met:
            return
        line = None
        if self.raw.reopenable:
            line, row = deque(self._rows(), maxlen=1).pop()
            line += sum(cell.count("\n") for cell in row[:-1])
        raise open_quote(self.raw, line)

    def _explain(self, error: Exception, end: _End) -> NoReturn:
        text = str(error)
        if end.swallowed or _END in text:
            self._refuse_open_quote(end)
        ragged = re.search(r"Expected (\d+) columns, got (\d+)", text)
        if ragged:
            row = re.search(r"Row #(\d+)", text)
            line = self._ragged_line(int(ragged[1])) or (row[1] if row else "?")
            cells = "1 cell" if ragged[2] == "1" else f"{ragged[2]} cells"
            raise TableError(
                f"{self.raw.shown}, line {line}: it has {cells} and the header has {ragged[1]}; a cell that holds "
                f"the delimiter {self.delimiter!r} must be in double quotes.",
                "delimiter",
            ) from None
        bad = re.search(
            r"In CSV column #(\d+): (?:Row #(\d+): )?CSV conversion error to (\w+): invalid value '(.*)'", text
        )
        if bad:
            name = self.names[int(bad[1])]
            line = bad[2] or self._first_cell(name, bad[4].__eq__)[0]
            if bad[4] == name:
                raise self._second_header(line)
            wanted = "true or false" if bad[3] == "bool" else "a number"
            raise TableError(
                f"{self.raw.shown}, line {line}: column {name!r} must hold {wanted}; got {bad[4]!r}. Leave the cell "
                "empty if the value is not known.",
                argument_for(bad[4]) if wanted == "a number" else None,
            ) from None
        if "straddl" in text:
            most = self._block(threads=True) >> 20
            raise TableError(
                f"{self.raw.shown}: a line is longer than {most} MiB, which no row of a table is; is a double quote "
                "not closed?"
            ) from None
        if isinstance(error, UnicodeError) or "UTF8" in text:
            raise wrong_encoding(self.raw, self.encoding) from None
        raise TableError(f"{self.raw.shown} cannot be read as a CSV file: {text.splitlines()[0]}.") from error

    def _rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield each row with the line it begins on, by Python's own CSV reader: slow, for messages only."""
        with io.TextIOWrapper(self.raw.open(), encoding=self.encoding, errors="replace", newline="") as text:
            reader = csv.reader(text, delimiter=self.delimiter)
            line = 1
            for row in reader:
                yield line, row
                line = reader.line_num + 1

    def _ragged_line(self, n_columns: int) -> int | None:
        if not self.raw.reopenable:
            return None
        return next((line for line, row in self._rows() if row and len(row) != n_columns), None)

    def _first_cell(self, name: str, wanted: Callable[[str], bool]) -> tuple[int | str, str]:
        """Return the line and the text of the first cell of a column that is wanted; "?" where it cannot be found."""
        j = self.names.index(name)
        cells = ((line, row[j]) for line, row in self._rows() if line > self.header_lines and len(row) > j)
        return next((cell for cell in cells if wanted(cell[1])), ("?", "?")) if self.raw.reopenable else ("?", "?")

    def _refuse_overflow(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Raise an error for the first number beyond the largest float, which pyarrow reads as infinity."""
        import pyarrow as pa
        import pyarrow.compute as pc

        for field, column in zip(rows.schema, rows.columns, strict=True):
            if pa.types.is_floating(field.type) and pc.any(pc.is_inf(column)).as_py():
                line, text = self._first_cell(field.name, overflows)
                if line != "?":
                    raise TableError(
                        f"{self.raw.shown}, line {line}: column {field.name!r} holds {text}, which is beyond the "
                        "largest number of a computer (1.8e308); leave the cell empty or put a finite number there."
                    )

    def _second_header(self, line: int | str) -> TableError:
        return TableError(f"{self.raw.shown}, line {line}: the header appears a second time; delete that line.")

    def _refuse_second_header(self, table: pa.Table) -> None:
        import pyarrow as pa
        import pyarrow.compute as pc

        if not all(pa.types.is_string(kind) for kind in table.schema.types):
            return
        rows = pc.equal(table.column(0), self.names[0])
        for j in range(1, len(self.names)):
            if not pc.any(rows).as_py():
                return
            rows = pc.and_(rows, pc.equal(table.column(j), self.names[j]))
        if pc.any(rows).as_py():
            raise self._second_header(self._first_cell(self.names[0], self.names[0].__eq__)[0])


class _End:
    """The line after the last one of a file. The parser refuses it, so that nothing is read of it."""

    def __init__(self, delimiter: str, n_columns: int) -> None:
        self._text = f"{delimiter * n_columns}{_END}"
        self.met = self.swallowed = False
        self._handlers: WeakSet[Callable[[Any], str]] = WeakSet()

    def handler(self) -> Callable[[Any], str]:
        """Return what Arrow is to call for a row with too many or too few cells; only Arrow may keep it."""
        handler = partial(self._meet)
        self._handlers.add(handler)
        return handler

    @property
    def in_use(self) -> bool:
        """Whether Arrow keeps a handler."""
        return len(self._handlers) > 0

    def line(self, encoding: str) -> bytes:
        """Return the line as bytes that may follow others."""
        # With a byte order mark, such as utf-16 puts before a text, the second of two texts has none.
        encoder = codecs.getincrementalencoder(encoding)()
        encoder.encode(" ")
        return encoder.encode(f"\n{self._text}\n")

    def _meet(self, row: Any) -> str:
        """Note that the line was read; any other row with too many or too few cells is an error."""
        self.met = row.text == self._text
        self.swallowed = not self.met and _END in row.text
        return "skip" if self.met else "error"


class _Ended:
    """The bytes of a file, and a line after them."""

    def __init__(self, file: pa.NativeFile, line: pa.Buffer) -> None:
        self._file, self._line, self.closed = file, line, False

    def read_buffer(self, n: int) -> pa.Buffer:
        """Return the next bytes, which are not copied."""
        piece = self._file.read_buffer(n)
        if not piece.size:
            piece, self._line = self._line, self._line.slice(0, 0)
        return piece

    def read(self, n: int) -> bytes:
        """Return the next bytes."""
        return bytes(self.read_buffer(n))

    def close(self) -> None:
        """Close the file."""
        self.closed = True
        self._file.close()


@contextmanager
def _let_go(file: _Ended, end: _End) -> Iterator[list[Any]]:
    """Hold a file for Arrow, first of all as a list of it; at the end nothing of it is in use any more.

    Arrow reads ahead in threads of its own, which a reader that fails or is given up does not wait for. What they call,
    and what they let go of at last (the file, and the handler of bad rows), is Python; where it has ended meanwhile the
    process hangs or aborts.
    """
    import pyarrow as pa

    in_use = ref(file)
    held: list[Any] = [pa.PythonFile(file, mode="r")]
    del file
    try:
        yield held
    finally:
        held.clear()
        last = monotonic() + _LONGEST_WAIT
        while (in_use() is not None or end.in_use) and monotonic() < last:
            sleep(0.0002)


class CsvWriter:
    """Lines of CSV, the names first; text is quoted only where it must be."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._started = file, False

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.csv as pcsv

        if not self._started:
            head = io.StringIO()
            csv.writer(head, lineterminator="\n").writerow(table.column_names)
            self._file.write(head.getvalue().encode())
            self._started = True
        texts = [column for column in table.columns if pa.types.is_string(column.type)]
        special = any(pc.any(pc.match_substring_regex(pc.unique(text), '[",\r\n]')).as_py() for text in texts)
        options = pcsv.WriteOptions(include_header=False, quoting_style="needed" if special else "none")
        pcsv.write_csv(table, self._file, options)

    def close(self) -> None:
        """Do nothing: a CSV file has no footer."""


def _are_fractions(cells: Sequence[str], missing: Collection[str]) -> bool:
    known = [cell for cell in cells if cell not in missing]
    return all(re.match(PLAIN, cell) for cell in known) and any(re.match(CLEAR_POINT, cell) for cell in known)
