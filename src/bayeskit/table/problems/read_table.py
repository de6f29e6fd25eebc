"""The problems of a table that was read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.table.column import Column, Numbers
from bayeskit.table.dates import moments_of
from bayeskit.table.frames import as_frame, read_frame_column
from bayeskit.table.problem import Problem
from bayeskit.table.problems.examined import Examined
from bayeskit.table.problems.registry import find_problems

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.table.read import Source
    from bayeskit.table.read_result import ColumnNote, ReadTable
    from bayeskit.table.target import Target

# The reason that a column has where the user named its kind, or left it out.
DECIDED = "you said so"


def problems_of(table: ReadTable, n_rows: int = 0) -> list[Problem]:
    """Return the problems of a table that :func:`bayeskit.read` has read, the gravest first.

    ``n_rows`` are the rows of the whole table, where this is a sample of them.
    """
    seen = examined(table.columns, table.data, table.source, table.target, table.labels, n_rows)
    return find_problems(seen if n_rows else replace(seen, row_of=table.held))


def examined(
    notes: Iterable[ColumnNote],
    data: pa.Table,
    source: Source,
    target: str | None,
    labels: Target | None,
    n_rows: int = 0,
) -> Examined:
    """Return a table as the checks see it.

    Parameters
    ----------
    notes : iterable of ColumnNote
        What is known of every column.
    data : pyarrow.Table
        The converted columns, of the rows that have a label.
    source : Source
        The columns that models learn from.
    target, labels
        The name of the target, and the classes.
    n_rows : int
        Rows of the whole table, where ``data`` is a sample of them.
    """
    known = {note.name: note for note in notes}
    decided = frozenset(name for name, note in known.items() if note.why.startswith(DECIDED))
    columns: dict[str, Column] = {}
    dates: dict[str, Column] = {}
    for name, note in known.items():
        if note.used:
            columns[name] = source.named_column(name)
        elif note.kind == "date" and name not in decided:
            dates[name] = Numbers(np.asarray(moments_of(data[name]).cast("int64").cast("float64")))
        elif note.kind == "left out" and name not in decided and _readable(data[name]):
            columns[name] = read_frame_column(as_frame(data[name], series=True), name)
    return Examined(
        columns,
        {name: note.kind for name, note in known.items()},
        {name: note.why for name, note in known.items()},
        target or "",
        None if labels is None else labels.y,
        () if labels is None else tuple(labels.classes.tolist()),
        decided,
        n_rows,
        dates,
    )


def _readable(column: Any) -> bool:
    import pyarrow as pa

    kind = column.type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
    )
