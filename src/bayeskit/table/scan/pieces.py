"""A table that is read in pieces: its columns, its pieces, and the engine that reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bayeskit.errors import BrokenFileError, TableError, warn_caller
from bayeskit.progress import Progress, report_step
from bayeskit.table.names import first_duplicate, not_found
from bayeskit.table.scan.checkpoint import Checkpoint
from bayeskit.table.scan.local import Here

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


class Piece(Protocol):
    """A part of a table that can be read on its own, here or in another process: a row group, a file, a partition."""

    @property
    def name(self) -> str:
        """The location of the rows, for messages."""
        ...

    @property
    def n_rows(self) -> int | None:
        """The number of rows, where it is known before they are read."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Read some columns, batch by batch, in this order."""
        ...


@dataclass(frozen=True)
class PieceReader:
    """What one worker reads: a piece and its number; the number makes random choices the same for any worker."""

    number: int
    piece: Piece
    columns: tuple[str, ...]

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self.piece.batches(self.columns)


class Conversion(Protocol):
    """How the batches of a table become those that a model reads; it is sent to the workers."""

    def read_for(self, names: Sequence[str]) -> list[str]:
        """Return the columns that must be read for some columns of the result."""
        ...

    def convert(self, batch: pa.RecordBatch, names: Sequence[str], place: str) -> pa.RecordBatch:
        """Return these columns of the result; ``place`` is the location of the rows, for messages."""
        ...


# What is done with some pieces, and how two results become one.
Task = Callable[[Iterable[PieceReader]], T]
Merge = Callable[[T, T], T]


class Engine(Protocol):
    """Reads the pieces: in this process, or on workers."""

    def run(self, task: Task[T], readers: Sequence[PieceReader], merge: Merge[T], on_rows: Callable[[int], None]) -> T:
        """Pass all pieces to ``task``, in one call or several, and merge the results in the order of the pieces.

        ``on_rows`` is called with the number of rows that were read.
        """
        ...


@dataclass(frozen=True)
class _Converted:
    """A task whose batches are converted first, in the process that reads them."""

    task: Task[Any]
    conversion: Conversion
    names: tuple[str, ...]

    def __call__(self, readers: Iterable[PieceReader]) -> Any:
        return self.task(_ConvertedReader(reader, self.conversion, self.names) for reader in readers)  # type: ignore[misc]


@dataclass(frozen=True)
class _ConvertedReader:
    reader: PieceReader
    conversion: Conversion
    columns: tuple[str, ...]

    @property
    def number(self) -> int:
        return self.reader.number

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self.reader:
            yield self.conversion.convert(batch, self.columns, place_of(self.reader) or "a partition")


@dataclass(frozen=True)
class _Labeled:
    """A task that is not given the rows without a label."""

    task: Task[Any]
    target: str
    names: tuple[str, ...]

    def __call__(self, readers: Iterable[PieceReader]) -> Any:
        return self.task(_LabeledReader(reader, self.target, self.names) for reader in readers)  # type: ignore[misc]


@dataclass(frozen=True)
class _LabeledReader:
    reader: Any
    target: str
    columns: tuple[str, ...]

    @property
    def number(self) -> int:
        return int(self.reader.number)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        from bayeskit.table.arrow import missing_cells

        for batch in self.reader:
            missing = missing_cells(batch, self.target)
            yield (batch.filter(pa.array(~missing)) if missing.any() else batch).select(list(self.columns))


@dataclass(frozen=True)
class _Skipping:
    """A task that leaves out what cannot be read, and says what that was."""

    task: Task[Any]
    merge: Merge[Any]

    def __call__(self, readers: Iterable[PieceReader]) -> _Readable:
        total = _Readable()
        for reader in readers:
            try:
                part = _Readable((self.task([reader]),))
            except BrokenFileError as error:
                part = _Readable((), (str(error),))
            total = self.plus(total, part)
        return total

    def plus(self, one: _Readable, other: _Readable) -> _Readable:
        values = one.value + other.value
        return _Readable(
            (self.merge(*values),) if len(values) == 2 else values, tuple(dict.fromkeys(one.skipped + other.skipped))
        )


@dataclass(frozen=True)
class _Readable:
    value: tuple[Any, ...] = ()  # one result, or none where nothing could be read
    skipped: tuple[str, ...] = ()


def place_of(reader: Any) -> str:
    """Return the location of the rows that a reader reads, for messages; no text where it is not known."""
    while reader is not None and not hasattr(reader, "piece"):
        reader = getattr(reader, "reader", None)
    return "" if reader is None else str(reader.piece.name)


def merge_tree(parts: Iterable[T], merge: Merge[T]) -> T | None:
    """Merge parts pairwise, in order, as they arrive: depth log n, and few are held at a time; None for no part.

    >>> merge_tree(["a", "b", "c", "d", "e"], lambda a, b: f"({a}{b})")
    '(((ab)(cd))e)'
    """
    waiting: list[tuple[int, T]] = []  # how deep each was merged, falling
    for part in parts:
        depth = 0
        while waiting and waiting[-1][0] == depth:
            part, depth = merge(waiting.pop()[1], part), depth + 1
        waiting.append((depth, part))
    while len(waiting) > 1:
        last = waiting.pop()[1]
        waiting.append((0, merge(waiting.pop()[1], last)))
    return waiting[0][1] if waiting else None


@dataclass(frozen=True)
class Scan:
    """A table of any size; ``fit`` and similar methods accept it like a frame. Made by :func:`bayeskit.scan`.

    It is read lazily, when a model needs it, and batch by batch, so memory is bounded by the model's counts and a few
    batches.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import bayeskit
    >>> table = pa.table({"wind": ["weak", "strong", "weak"], "play": ["yes", "no", "yes"]})
    >>> days = bayeskit.scan(table)
    >>> days
    Scan of a pyarrow table: 3 rows, 1 piece
      wind  string
      play  string
    >>> bayeskit.NaiveBayes().fit(days, target="play").predict({"wind": ["weak"]})
    array(['yes'], dtype=object)
    """

    shown: str
    schema: pa.Schema
    pieces: tuple[Piece, ...]
    # True for a stream that is gone once it was read.
    once: bool = False
    engine: Engine = field(default_factory=Here)
    # Told of rows as they are read, by whoever reads the table.
    progress: Progress | None = None
    # Makes the columns of this table from those that the pieces hold.
    conversion: Conversion | None = None
    # The column of labels whose rows without one are left out.
    labeled_by: str | None = None
    # What was left out since it cannot be read, in words; filled as the rows are read where that is allowed.
    skipped: list[str] = field(default_factory=list, compare=False)
    skip_broken: bool = False
    # Where the sums of a long pass are kept, so that it can go on after an interruption.
    checkpoint: Checkpoint | None = None

    def __post_init__(self) -> None:
        twice = first_duplicate(self.names)
        if twice is not None:
            raise TableError(
                f"{self.shown} has {self.names.count(twice)} columns named {twice!r}; names must be unique."
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)

    @property
    def n_rows(self) -> int | None:
        """The number of rows, or None where a piece does not know it or some are left out."""
        known = [piece.n_rows for piece in self.pieces]
        if self.labeled_by is not None or any(n is None for n in known):
            return None
        return sum(n for n in known if n is not None)

    def select(self, columns: Sequence[str]) -> Scan:
        """Return the same table with some of its columns, in this order."""
        for name in columns:
            if name not in self.names:
                raise TableError(f"{self.shown}: {not_found('column', name, self.names)}")
        import pyarrow as pa

        return replace(self, schema=pa.schema([self.schema.field(name) for name in columns]))

    def without(self, columns: Sequence[str]) -> Scan:
        """Return the same table without some of its columns."""
        self.select(columns)  # refuses a name that is not there
        return self.select([name for name in self.names if name not in set(columns)])

    def run(self, task: Task[T], merge: Merge[T], progress: Progress | None = None) -> T:
        """Run ``task`` on the batches of all pieces, and merge the results."""
        n_read, n_rows = 0, self.n_rows

        def on_rows(n: int) -> None:
            nonlocal n_read
            n_read += n
            report_step(progress, self.shown, n_read, n_rows)

        if self.labeled_by is not None:
            task = _Labeled(task, self.labeled_by, self.names)
        if self.conversion is not None:
            task = _Converted(task, self.conversion, self._names_read)
        if not self.skip_broken:
            return self._run(task, merge, on_rows)
        skipping = _Skipping(task, merge)
        read: _Readable = self._run(skipping, skipping.plus, on_rows)
        new = [words for words in read.skipped if words not in self.skipped]
        if new:
            warn_caller(f"{len(new):,} broken part{'s' * (len(new) != 1)} left out; the first: {new[0]}")
            self.skipped.extend(new)
        if not read.value:
            raise TableError(f"{self.shown}: nothing can be read; the first error: {read.skipped[0]}")
        return read.value[0]  # type: ignore[no-any-return]

    def _run(self, task: Task[T], merge: Merge[T], on_rows: Callable[[int], None]) -> T:
        readers = self._readers()
        if self.checkpoint is None:
            return self.engine.run(task, readers, merge, on_rows)
        if not isinstance(self.engine, Here):
            raise TableError(
                "a checkpoint is for tables that are counted in this process; a cluster repeats lost tasks."
            )
        return self.engine.run(task, readers, merge, on_rows, self.checkpoint.of(task, readers, self.shown))

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Read the whole table here, batch by batch."""
        for reader in self._readers():
            read = reader if self.conversion is None else _ConvertedReader(reader, self.conversion, self._names_read)
            yield from read if self.labeled_by is None else _LabeledReader(read, self.labeled_by, self.names)

    def labeled(self, target: str) -> Scan:
        """Return the same table without the rows that have no value in a column."""
        self.select([target])  # refuses a name that is not there
        return replace(self, labeled_by=target)

    @property
    def _names_read(self) -> tuple[str, ...]:
        """The columns of this table, and the one of labels where it says which rows these are."""
        more = self.labeled_by
        return self.names if more is None or more in self.names else (*self.names, more)

    def _readers(self) -> list[PieceReader]:
        names = self._names_read
        columns = names if self.conversion is None else tuple(self.conversion.read_for(names))
        return [PieceReader(number, piece, columns) for number, piece in enumerate(self.pieces)]

    def with_types(self, types: Mapping[str, pa.DataType | None]) -> Scan:
        """Return the same table, whose text files are read with these types; None keeps the text as written."""
        pieces = tuple(p.with_types(types) if hasattr(p, "with_types") else p for p in self.pieces)
        return replace(self, pieces=pieces)

    def __repr__(self) -> str:
        n_rows, n_pieces = self.n_rows, len(self.pieces)
        rows = "rows not counted yet" if n_rows is None else f"{n_rows:,} row{'s' * (n_rows != 1)}"
        shown = list(self.schema)[:40]
        width = max((len(column.name) for column in shown), default=0)
        lines = [f"Scan of {self.shown}: {rows}, {n_pieces:,} piece{'s' * (n_pieces != 1)}"]
        lines += [f"  {column.name:{width}}  {column.type}" for column in shown]
        if len(self.schema) > len(shown):
            lines.append(f"  … and {len(self.schema) - len(shown)} more")
        return "\n".join(lines)


def sort_of(kind: pa.DataType) -> Any:
    """Return what the cells of an Arrow type are: "text", "truth", "number", "nothing" or the type itself."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return sort_of(kind.value_type)
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return "text"
    if types.is_boolean(kind):
        return "truth"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    return "nothing" if types.is_null(kind) else kind


def iterate(batches: Iterable[Any], name: str) -> Iterator[Any]:
    """Iterate over batches; an error is raised again with the name of the piece."""
    import pyarrow as pa

    try:
        yield from batches
    except (OSError, pa.ArrowException) as error:
        raise BrokenFileError(
            f"{name} cannot be read: {(str(error).splitlines() or [type(error).__name__])[0]}"
        ) from error
