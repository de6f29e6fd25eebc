"""A table in a file or from standard input: its format recognised, read whole or batch by batch."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, Protocol

from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.table.formats import TableReader, recognise
from bayeskit.table.formats.detect import detect_encoding
from bayeskit.table.formats.encodings import check_encoding
from bayeskit.table.formats.interface import Format, TextOptions, Types
from bayeskit.table.formats.recognise import is_binary
from bayeskit.table.missing_words import usual_as_missing
from bayeskit.table.names import first_duplicate, not_found
from bayeskit.table.raw_file import RawFile, open_raw

if TYPE_CHECKING:
    import pyarrow as pa


class Rows(Protocol):
    """A table whose columns are read batch by batch in the types that a model needs: a file, or a scan of files."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def shown(self) -> str:
        """The name as messages show it."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        ...

    def n_batches(self) -> int:
        """Return about how many batches there are; 0 where that is not known."""
        ...

    def refuse_absent(self, wanted: Iterable[str], who: str = "") -> None:
        """Raise an error, with similar names, for a column that is not in the table but that ``who`` needs."""
        here = set(self.names)
        for name in wanted:
            if name not in here:
                misfit = f" does not fit {who}" if who else ""
                raise TableError(f"{self.shown}{misfit}: {not_found('column', name, self.names)}")

    def place(self, row: int) -> str:
        """Return where a row is, for messages; the first row is 0."""
        ...

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns, each in its type; None keeps the table's own type."""
        ...


def require_pyarrow(what: str) -> None:
    """Raise an error that says what to install, where pyarrow is not installed."""
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise BayeskitError(f"{what} needs pyarrow: pip install pyarrow, or pip install 'bayeskit[frames]'.") from None


@dataclass(frozen=True)
class TableFile(Rows):
    """A table in a CSV, JSON Lines, Parquet, Feather or Excel file, opened as far as its column names.

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

    raw: RawFile
    reader: TableReader
    # What was met while the whole table was read.
    _met: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The file's name."""
        return self.raw.name

    @property
    def shown(self) -> str:
        """The name as messages show it."""
        return self.raw.shown

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.reader.names

    @property
    def said(self) -> tuple[str, ...]:
        """What the user should know of how the file was read: other sheets, rows that were left out."""
        return (*getattr(self.reader, "said", ()), *self._met)

    @property
    def form(self) -> dict[str, Any]:
        """What the reading of cells needs to know of the file: where a row is, and how its numbers may be written."""
        return {"place": self.place, "ask": self.may_use_commas, "text": self.is_text}

    @property
    def is_text(self) -> bool:
        """Whether the file holds text, so that a number in it shows its decimal sign."""
        return hasattr(self.reader, "delimiter")

    @property
    def may_use_commas(self) -> bool:
        """Whether numbers may have decimal commas, as in a file whose delimiter is a semicolon."""
        return getattr(self.reader, "delimiter", None) == ";"

    def n_batches(self) -> int:
        """Return about how many batches there are; 0 where that is not known."""
        return self.reader.n_batches()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        encoding: str = "utf-8",
        delimiter: str | None = None,
        *,
        missing: Sequence[str] = (),
        keep: bool = False,
        detect: bool = True,
        sheet: str | int | None = None,
        skip: int = 0,
        opener: Callable[[], IO[bytes]] | None = None,
    ) -> TableFile:
        """Open a file, or standard input when the path is ``-``; the format is recognised by its first bytes.

        Parameters
        ----------
        path : str or path
            A CSV, JSON Lines, Parquet, Feather or Excel file, which may be compressed by gzip, or ``-``.
        encoding : str
            The encoding of a text file. Where UTF-8 is asked for and the bytes are not, see ``detect``.
        delimiter : str, optional
            The delimiter of a CSV file; detected when it is not given.
        missing : sequence of str
            Words for a missing cell, besides the usual ones.
        keep : bool
            Read standard input into memory, so that it can be read twice.
        detect : bool
            Whether a file that is not UTF-8 is read in the encoding that its bytes show.
        sheet : str or int, optional
            The sheet of a workbook, by name or by number from 1.
        skip : int
            Lines of a text file, or rows of a sheet, before the column names.
        opener : callable, optional
            Opens the bytes of a file that is stored elsewhere; ``path`` is then its name.
        """
        require_pyarrow("a table in a file")
        check_encoding(encoding)
        if delimiter is not None and len(delimiter.encode()) != 1:
            raise TableError(f"the delimiter must be one character, such as ';'; got {delimiter!r}.", "delimiter")
        raw = open_raw(path, keep=keep, opener=opener)
        options = TextOptions(_encoding(raw, encoding) if detect else encoding, delimiter, tuple(missing), sheet, skip)
        written = recognise(raw, options)
        _refuse_unused(raw, written, sheet, skip)
        reader = written.open_reader(raw, options)
        twice = first_duplicate(reader.names)
        if twice is not None:
            raise TableError(
                f"{raw.shown} has {reader.names.count(twice)} columns named {twice!r}; column names must be unique."
            )
        return cls(raw, reader)

    def read(self, types: Types | None = None) -> pa.Table:
        """Read the whole table; ``types`` fixes the types of some columns, the others are inferred."""
        return self._with_rows(self.reader.read(types or {}))

    def read_written(self) -> pa.Table:
        """Read the whole table with each column in the type in which the file holds it; in a CSV file that is text.

        In text of any file the usual words for a missing cell are missing; of other files than CSV, that is said.
        Columns of a CSV file that begin with many plain fractions are read as numbers at once, which is quicker.
        """
        import pyarrow as pa

        text: Types = dict.fromkeys(self.names)
        fractions = dict.fromkeys(getattr(self.reader, "fractions", tuple)(), pa.float64())
        if fractions:
            try:
                return self._with_rows(self.reader.read({**text, **fractions}))
            except TableError:  # a later cell is something else: what it is, the text says
                pass
        table = self._with_rows(self.reader.read(text))
        if not self.is_text:  # of which the words are left out while it is read
            table, self._met[:] = usual_as_missing(table)
        return table

    def _with_rows(self, table: pa.Table) -> pa.Table:
        if not table.num_rows:
            raise TableError(f"{self.raw.shown} has a header and no rows.")
        return table

    def place(self, row: int) -> str:
        """Return where a row is, for messages; the first row is 0.

        >>> from importlib.resources import files
        >>> TableFile.open(files("bayeskit.datasets").joinpath("data", "heart.csv")).place(0)
        "'heart.csv', line 2"
        """
        line = self.reader.line_of(row)
        return f"{self.raw.shown}, " + (f"row {row + 1}" if line is None else f"line {line}")

    def batches(self, types: Types) -> Iterator[pa.RecordBatch]:
        """Read some columns batch by batch, each in the type that it must have; memory does not grow with the file."""
        return self.reader.batches(types)


def _encoding(raw: RawFile, given: str) -> str:
    """Return the encoding as given; where that is UTF-8 and the bytes are not, the one that they show."""
    if codecs.lookup(given).name != "utf-8" or is_binary(raw.head):
        return given
    seen = detect_encoding(raw.head)
    if not seen.startswith("utf"):  # a byte order mark leaves no doubt
        warn_caller(f"{raw.shown} is not UTF-8 text; it is read as {seen}. Pass encoding= if it is something else.")
    return given if seen == "utf-8" else seen


def _refuse_unused(raw: RawFile, written: Format, sheet: str | int | None, skip: int) -> None:
    """Raise an error for an option that the format does not have."""
    takes = getattr(written, "OPTIONS", ())
    for name, given in (("sheet", sheet), ("skip", skip or None)):
        if given is not None and name not in takes:
            raise TableError(
                f"{raw.shown} is a file without {'sheets' if name == 'sheet' else 'lines'}: leave {name} out."
            )
