"""A table that was read: its columns, their kinds with the reasons, what was converted and how, and its problems."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.result import Result, text_table
from bayeskit.table.problem import Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.conventions import Convention
    from bayeskit.table.read import Source
    from bayeskit.table.target import Target


@dataclass(frozen=True)
class ColumnNote(Result):
    """One column of a table: its kind, and why."""

    name: str
    kind: str  # what `kinds` may say, "target", "date" or "left out"
    why: str
    n_values: int
    missing: float  # the share of cells
    example: str
    settled_by: str = ""  # the argument that would say what the cells leave open
    # How its cells were converted; None where they are what they were.
    convention: Convention | None = None
    made_of: str = ""  # the column of which it is a part, such as a date

    @property
    def used(self) -> bool:
        """Whether models use the column."""
        return self.kind not in ("left out", "target", "date")

    def to_json(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return {**vars(self), "convention": None if self.convention is None else self.convention.to_json()}


def _row(number: int) -> str:
    """Return where a row of a frame is, for messages."""
    return f"row {number}"


@dataclass(frozen=True, repr=False)
class ReadTable(Result):
    """A table that :func:`bayeskit.read` has read; every model's ``fit`` takes it.

    ``table["age"]`` is a converted column, as Arrow holds it; ``table.names`` are the names of all of them.
    """

    name: str  # of the file, or "table"
    target: str | None
    columns: tuple[ColumnNote, ...]
    data: pa.Table = field(repr=False)  # the converted columns, of the rows that have a label
    raw: pa.Table = field(repr=False)  # the columns as they were written, of all rows
    source: Source = field(repr=False)  # the columns that models learn from
    n_unlabelled: int = 0  # rows without a label, which were left out
    # Where a row of ``raw`` is, for messages; the first row is 0.
    place: Callable[[int], str] = field(default=_row, repr=False)
    said: tuple[Problem, ...] = ()  # what the reader itself met
    n_rows: int = 0  # rows of the whole table, where this is a sample of them
    # Rows of the table as it was given of which ``raw`` holds those that remedies kept; None is all.
    kept: NDArray[np.intp] | None = field(default=None, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the converted columns, those that are left out and the target among them."""
        return tuple(self.data.column_names)

    def __getitem__(self, name: str) -> pa.ChunkedArray:
        return self.data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return int(self.data.num_rows)

    @property
    def kinds(self) -> dict[str, str]:
        """The kind of each column that models use."""
        return {note.name: note.kind for note in self.columns if note.used}

    @property
    def features(self) -> Source:
        """The columns that models learn from; an error where there is none."""
        if not self.source.names:
            raise TableError("no column is left to learn from; pass a kind for one that was left out.", "kinds")
        return self.source

    @cached_property
    def labels(self) -> Target | None:
        """The classes, and the class of each row; None without a target, an error where it holds no classes."""
        if self.target is None:
            return None
        from bayeskit.table.target import read_target  # which reads tables, as this is one

        return replace(read_target(self.data, self.target), n_unlabelled=self.n_unlabelled)

    @property
    def held(self) -> NDArray[np.intp]:
        """Where each row of ``data`` is in the table as it was given, from 0 on."""
        kept = np.arange(self.raw.num_rows) if self.kept is None else self.kept
        return kept[np.asarray(self.raw[self.target].is_valid())] if self.n_unlabelled else kept

    @property
    def y(self) -> NDArray[Any] | None:
        """The label of each row; None without a target."""
        return None if self.labels is None else np.asarray(self.labels.classes)[self.labels.y]

    @cached_property
    def rows(self) -> pa.Table:
        """The raw columns of the rows that have a label."""
        if not self.n_unlabelled:
            return self.raw
        import pyarrow.compute as pc

        return self.raw.filter(pc.is_valid(self.raw[self.target]))

    def of_rows(self, values: Any) -> Any:
        """Return those entries of an array with one entry per row of the raw table whose rows have a label."""
        if values is None or isinstance(values, str) or len(values) != self.raw.num_rows:
            return values
        return np.asarray(values)[np.asarray(self.raw[self.target].is_valid())] if self.n_unlabelled else values

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """What is wrong with the table: what the reader met, and what the checks find when they are asked."""
        from bayeskit.table.problems.read_table import problems_of  # which knows this class

        return (*self.said, *problems_of(self, self.n_rows))

    def __str__(self) -> str:
        rows = [(note.name, note.kind, f"{note.missing:.0%}", note.example, note.why) for note in self.columns]
        table = text_table(("column", "kind", "missing", "example", "reason"), rows)
        n_rows = "1 row" if len(self) == 1 else f"{len(self)} rows"
        return "\n".join([f"{self.name}: {n_rows}", "", table, *(f"\n{problem}" for problem in self.said)])

    __repr__ = __str__
