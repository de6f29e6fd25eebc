"""JSON Lines: one JSON object per line, its keys the column names."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, ClassVar, NoReturn

from bayeskit.errors import TableError
from bayeskit.table.formats.encodings import wrong_encoding
from bayeskit.table.formats.interface import TextOptions, Types
from bayeskit.table.raw_file import RawFile

if TYPE_CHECKING:
    import pyarrow as pa

EXTENSIONS = (".jsonl", ".ndjson")
_OBJECT = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*["}]')
_ROWS_AT_ONCE = 1 << 14
_LARGEST = 2**63
# Characters of a line; a longer one is no row of a table, and would fill the memory.
_LONGEST = 16 << 20
_WORDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list", dict: "an object"}

Row = dict[str, Any]


def recognises(head: bytes) -> bool:
    """Return whether a file that begins with these bytes holds JSON objects."""
    return _OBJECT.match(head) is not None


def open_reader(raw: RawFile, options: TextOptions) -> JsonLinesReader:
    """Find the column names: all keys of a file, or those of the first lines of standard input."""
    rows = JsonRows(raw, options.encoding)
    names: dict[str, None] = {}
    for _, row in rows if raw.reopenable else rows.of_head():
        names.update(dict.fromkeys(row))
    if not names:
        raise TableError(f"{raw.shown} has no column: its JSON objects are empty.")
    return JsonLinesReader(raw, tuple(names), options.encoding, frozenset(options.missing))


def open_writer(file: IO[bytes]) -> JsonLinesWriter:
    """Open a file to write."""
    return JsonLinesWriter(file)


@dataclass(frozen=True)
class JsonLinesReader:
    """A file of JSON objects whose keys are known; a key that an object lacks is a missing cell, and so is null."""

    types: ClassVar[Types | None] = None

    raw: RawFile
    names: tuple[str, ...]
    encoding: str
    missing: frozenset[str] = frozenset()

    def n_batches(self) -> int:
        """Return 0: how many rows there are is not known."""
        return 0

    def line_of(self, row: int) -> int | None:
        """Return the line of a row; None where the file cannot be read again."""
        if not self.raw.reopenable:
            return None
        return next((line for line, _ in islice(JsonRows(self.raw, self.encoding), row, None)), None)

    def read(self, types: Types) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns, the others are inferred."""
        import pyarrow as pa

        lines, columns = _columns(JsonRows(self.raw, self.encoding), self.names)
        arrays = [self._array(name, columns[name], lines, types.get(name)) for name in self.names]
        return pa.table(arrays, names=list(self.names))

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in its type."""
        import pyarrow as pa

        rows = iter(JsonRows(self.raw, self.encoding))
        while True:
            lines, columns = _columns(islice(rows, _ROWS_AT_ONCE), tuple(types))
            if not lines:
                return
            arrays = [self._array(name, columns[name], lines, kind) for name, kind in types.items()]
            yield pa.record_batch(arrays, names=list(types))

    def _array(self, name: str, cells: list[Any], lines: list[int], kind: pa.DataType | None) -> pa.Array:
        import pyarrow as pa

        if self.missing:
            cells = [None if type(cell) is str and cell in self.missing else cell for cell in cells]
        cell_types = set(map(type, cells)) - {type(None)}
        self._refuse_nested(name, cells, lines, cell_types)
        if kind is None:
            kind = self._infer(name, cells, lines, cell_types)
        if pa.types.is_string(kind):
            return pa.array([_text(cell) for cell in cells], type=kind)
        wanted = {bool} if pa.types.is_boolean(kind) else {int, float}
        if not cell_types <= wanted:
            row = next(i for i, cell in enumerate(cells) if cell is not None and type(cell) not in wanted)
            self._refuse(lines[row], f"column {name!r} must hold {_WORDS[min(wanted, key=str)]}; got {cells[row]!r}.")
        return pa.array(cells, type=kind)

    def _infer(self, name: str, cells: list[Any], lines: list[int], cell_types: set[type]) -> pa.DataType:
        import pyarrow as pa

        if len({_WORDS[kind] for kind in cell_types}) > 1:
            first = next(cell for cell in cells if cell is not None)
            row = next(
                i for i, cell in enumerate(cells) if cell is not None and _WORDS[type(cell)] != _WORDS[type(first)]
            )
            self._refuse(
                lines[row],
                f"column {name!r} mixes types: it holds {_WORDS[type(first)]} such as {first!r} before, and "
                f"{cells[row]!r} here.",
            )
        if float in cell_types:
            return pa.float64()
        return {str: pa.string(), bool: pa.bool_(), int: pa.int64()}.get(next(iter(cell_types), type(None)), pa.null())

    def _refuse_nested(self, name: str, cells: list[Any], lines: list[int], cell_types: set[type]) -> None:
        if cell_types & {list, dict}:
            row = next(i for i, cell in enumerate(cells) if isinstance(cell, list | dict))
            what = _WORDS[type(cells[row])]
            self._refuse(lines[row], f"column {name!r} holds {what}; a cell is text, a number, true, false or null.")
        if int in cell_types:
            row = next((i for i, cell in enumerate(cells) if type(cell) is int and abs(cell) >= _LARGEST), -1)
            if row >= 0:
                self._refuse(lines[row], f"column {name!r} holds a whole number that does not fit in 64 bits.")

    def _refuse(self, line: int, what: str) -> NoReturn:
        raise TableError(f"{self.raw.shown}, line {line}: {what}")


class JsonLinesWriter:
    """One JSON object per line."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, table: pa.Table) -> None:
        """Write some rows."""
        for row in table.to_pylist():
            self._file.write(json.dumps(row, ensure_ascii=False, default=str).encode() + b"\n")

    def close(self) -> None:
        """Do nothing: JSON Lines has no footer."""


@dataclass(frozen=True)
class JsonRows:
    """The objects of a file, each with its line; empty lines are skipped."""

    raw: RawFile
    encoding: str

    def __iter__(self) -> Iterator[tuple[int, Row]]:
        with io.TextIOWrapper(self.raw.open(), encoding=self.encoding) as text:
            yield from self._parse(text)

    def of_head(self) -> Iterator[tuple[int, Row]]:
        """Yield the objects of the first bytes; the last line may be cut, so it is read only where it is alone."""
        lines = self.raw.head.splitlines(keepends=True)
        whole = lines[:-1] if len(lines) > 1 else lines
        return self._parse(io.TextIOWrapper(io.BytesIO(b"".join(whole)), encoding=self.encoding))

    def _parse(self, text: Any) -> Iterator[tuple[int, Row]]:
        try:
            for number, line in enumerate(iter(partial(text.readline, _LONGEST), ""), 1):
                if len(line) == _LONGEST and not line.endswith("\n"):
                    raise TableError(
                        f"{self.raw.shown}, line {number}: it is longer than {_LONGEST >> 20} MiB, which no row of a "
                        "table is; is this a file of lines?"
                    )
                if number == 1:
                    line = line.removeprefix("\ufeff")
                if not line.isspace():
                    yield number, self.parse(line, number)
        except UnicodeError:
            # The text is decoded in blocks, ahead of the lines; a second reading finds the line.
            raise wrong_encoding(self.raw, self.encoding) from None

    def parse(self, line: str, number: int) -> Row:
        """Return the object of one line; anything else is an error that names the line."""
        where = f"{self.raw.shown}, line {number}"
        try:
            row = json.loads(line, object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            what = str(error) if isinstance(error, _BadObjectError) else "this is not a JSON object"
            detail = f" ({error.msg}, column {error.colno})" if isinstance(error, json.JSONDecodeError) else ""
            raise TableError(f'{where}: {what}{detail}; each line must hold one, such as {{"a": 1}}.') from None
        if not isinstance(row, dict):
            raise TableError(f"{where}: this is {_WORDS.get(type(row), 'null')}; each line must hold a JSON object.")
        return row


class _BadObjectError(ValueError):
    """An object that JSON allows and a table does not."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> Row:
    row = dict(pairs)
    if len(row) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _BadObjectError(f"the key {twice!r} appears {names.count(twice)} times in one object")
    return row


def _refuse_constant(word: str) -> NoReturn:
    raise _BadObjectError(f"{word} is not JSON (write null for a missing cell)")


def _columns(rows: Any, names: tuple[str, ...]) -> tuple[list[int], dict[str, list[Any]]]:
    lines: list[int] = []
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for line, row in rows:
        lines.append(line)
        for name, cells in columns.items():
            cells.append(row.get(name))
    return lines, columns


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return json.dumps(cell)
