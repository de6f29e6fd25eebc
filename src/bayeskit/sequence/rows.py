"""Any table → sequences: rows grouped, in the order of time, with the states that are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError, warn_caller
from bayeskit.learn.checks import check_columns, in_order
from bayeskit.sequence.joined import concatenated
from bayeskit.sequence.times import Step, Times, place_in_time
from bayeskit.table.column import Coded, Column, Numbers
from bayeskit.table.encode import encode, missing_column, refuse_infinite
from bayeskit.table.frames import as_frame, given_names
from bayeskit.table.labels import labels_of, read_label_column
from bayeskit.table.names import not_found
from bayeskit.table.read import Source, is_records, read_table, read_values, records_to_columns
from bayeskit.table.schema import Schema


@dataclass(frozen=True)
class Layout:
    """Which columns say where a row belongs: by name, by an array, or by the lengths of the sequences."""

    group: Any = None  # a column's name, or the group of each row
    time: Any = None  # a column's name, or the time of each row
    lengths: Any = None  # rows of each sequence, one after the other
    step: Step = None

    def holds_arrays(self) -> bool:
        """Return whether the places of rows are given row by row, and not by columns."""
        by_row = [each for each in (self.group, self.time) if each is not None and not isinstance(each, str)]
        return self.lengths is not None or bool(by_row)

    def named(self) -> tuple[str | None, str | None]:
        """Return the names of the columns that hold the group and the time, where they were named."""
        return tuple(each if isinstance(each, str) else None for each in (self.group, self.time))  # type: ignore[return-value]


@dataclass(frozen=True)
class Sequences:
    """The rows of a table, sequence after sequence."""

    source: Source  # the columns that are observed, rows as they came
    rows: NDArray[np.int64]  # (n,): the row of the table at each time, −1 where a step has none
    offsets: NDArray[np.int64]  # (n_sequences + 1,): where each sequence begins
    names: Sequence[Any]  # (n_sequences,): the groups
    states: NDArray[np.int64] | None  # (n,): positions among the classes, −1 where unknown
    classes: NDArray[Any] | None
    as_list: bool = False  # the sequences came one by one
    target: str | None = None
    times: Times | None = None  # of the rows of the table, where they were given

    @property
    def n_rows(self) -> int:
        """Times of all sequences, those without a row too."""
        return len(self.rows)

    @property
    def n_sequences(self) -> int:
        """The number of sequences."""
        return len(self.offsets) - 1

    @property
    def is_labelled(self) -> bool:
        """Whether every row has a state."""
        return self.states is not None and bool((self.states >= 0).all())

    def encoded(self, schema: Schema, *, unseen_is_error: bool = False) -> list[NDArray[Any]]:
        """Return each column in the order of the sequences; a time without a row has missing cells."""
        columns = encode(self.source, schema, unseen_is_error=unseen_is_error)
        if len(self.rows) == self.source.n_rows and np.array_equal(self.rows, np.arange(len(self.rows))):
            return columns
        there = self.rows >= 0
        if there.all():
            return [column[self.rows] for column in columns]
        ordered = []
        for column, variable in zip(columns, schema, strict=True):
            whole = missing_column(variable, len(self.rows))
            whole = whole.astype(np.result_type(whole, column), copy=False) if variable.is_numeric else whole
            whole[there] = column[self.rows[there]]
            ordered.append(whole)
        return ordered

    def as_came(self, values: NDArray[Any]) -> Any:
        """Return what was computed for each time, of shape (n, …), for the rows of the table, or for each sequence."""
        if self.as_list:
            return [values[a:b] for a, b in zip(self.offsets[:-1], self.offsets[1:], strict=True)]
        there = self.rows >= 0
        if len(self.rows) == self.source.n_rows and np.array_equal(self.rows, np.arange(len(self.rows))):
            return values
        result = np.empty((self.source.n_rows, *values.shape[1:]), dtype=values.dtype)
        result[self.rows[there]] = values[there]
        return result

    def clock(self) -> NDArray[Any] | None:
        """Return the time of each row of one sequence, numbers or dates; None where none was given."""
        if self.times is None:
            return None
        there = np.flatnonzero(self.rows >= 0)
        values = np.interp(np.arange(self.n_rows), there, self.times.values[self.rows[there]].astype(np.float64))
        return values.astype("datetime64[ns]") if self.times.dates else values

    def take(self, sequences: NDArray[np.int64]) -> Sequences:
        """Return some of the sequences, over the same table."""
        lengths = np.diff(self.offsets)[sequences]
        offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
        places = np.arange(offsets[-1]) + np.repeat(self.offsets[sequences] - offsets[:-1], lengths)
        states = None if self.states is None else self.states[places]
        names = [self.names[int(s)] for s in sequences]
        return replace(self, rows=self.rows[places], offsets=offsets, names=names, states=states)

    def shown(self, place: int) -> str:
        """Return where a time is, for a message."""
        s = int(np.searchsorted(self.offsets, place, side="right")) - 1
        where = f"row {int(self.rows[place])}" if not self.as_list else f"row {place - int(self.offsets[s])}"
        return where if self.n_sequences == 1 else f"{where} of sequence {self.names[s]!r}"


def read_sequences(
    X: Any,
    y: Any = None,
    layout: Layout | None = None,
    target: str | None = None,
    *,
    fitting: bool = True,
    warn: bool | None = None,
) -> Sequences:
    """Read the arguments of ``fit`` and of every question.

    A list of arrays, of frames or of dicts of columns is a list of sequences; a 1-D array is one sequence of one
    column. Otherwise ``X`` is a table, in which ``group`` and ``time`` say where each row belongs. Without ``fitting``
    a table may lack the columns that the layout and ``target`` name. Rows that are not in the order of time are said,
    by default in fitting only.

    Examples
    --------
    >>> table = {"day": [2, 1, 1], "dog": ["a", "a", "b"], "walks": [3, 1, 2]}
    >>> read = read_sequences(table, layout=Layout(group="dog", time="day"), fitting=False)
    >>> read.rows, read.offsets, list(read.names)
    (array([1, 0, 2]), array([0, 2, 3]), ['a', 'b'])
    """
    layout = Layout() if layout is None else layout
    if is_list_of_sequences(X):
        if layout.holds_arrays():
            raise TableError(
                "lengths=, and group= or time= as arrays, are for one table that holds all sequences; X is a list of "
                "sequences already."
            )
        return _read_list(X, y, target, layout)
    columns, source = _split(_as_table(X), [layout.group, layout.time, target], fitting)
    if _is_line(X):  # its column has no name of its own
        source = replace(source, named=False)
    _refuse_infinite(source)
    group, time, labels = columns
    if target is not None:
        if y is not None and labels is not None:
            raise TableError(f"give the states once: either y or target='{target}'.")
        y = labels if y is None else y
    codes, names = _groups(group, layout, source.n_rows)
    order, offsets, read = _in_order(codes, len(names), time, layout, fitting if warn is None else warn)
    if read is not None:
        order, offsets = place_in_time(read, order, offsets, names, layout.step)
    states, classes = _states(y, source.n_rows, order)
    return Sequences(source, order, offsets, names, states, classes, False, target if y is not None else None, read)


def _refuse_infinite(source: Source, where: str = "") -> None:
    for j, name in enumerate(source.names):
        column = source.column(j)
        if isinstance(column, Numbers):
            try:
                refuse_infinite(column.values, name)
            except TableError as error:
                raise TableError(f"{where}{error}") from None


def is_list_of_sequences(X: Any) -> bool:
    """Return whether X is a list of arrays, of frames or of dicts of columns.

    >>> is_list_of_sequences([np.zeros(3), np.ones(2)]), is_list_of_sequences([[0, 1], [2, 3]])
    (True, False)
    """
    if not isinstance(X, list | tuple) or not X:
        return False
    first = X[0]
    if isinstance(first, Mapping):
        return any(isinstance(cell, list | tuple | np.ndarray) for cell in first.values())
    return (isinstance(first, np.ndarray) and first.ndim in (1, 2)) or as_frame(first) is not None or (
        as_frame(first, series=True) is not None
    )  # fmt: skip


def _is_line(X: Any) -> bool:
    """Return whether X is one column: a 1-D array or series, or a list of plain cells."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1
    if isinstance(X, list | tuple) and X:
        return all(cell is None or isinstance(cell, str | int | float | np.generic) for cell in X)
    return as_frame(X, series=True) is not None


def _split(X: Any, wanted: list[Any], fitting: bool) -> tuple[list[Any], Source]:
    """Return the columns that are named, unread, and the others as a table."""
    if is_records(X):
        X = records_to_columns(X)
    names = given_names(X) if not isinstance(X, Source) else X.names
    if names and not isinstance(X, Mapping | Source) and as_frame(X) is None:
        raise TableError(
            f"{type(X).__module__.split('.')[0]}'s {type(X).__name__} is not a table in memory; pass "
            "bayeskit.scan(…) of it, sorted by group."
        )
    columns: list[Any] = []
    drop: list[str] = []
    for each in wanted:
        if not isinstance(each, str):
            columns.append(each)
        elif each in names:
            columns.append(_column(X, each))
            drop.append(each)
        elif fitting:
            raise TableError(not_found("column", each, names) if names else (
                f"column '{each}' needs a table with column names; got {type(X).__name__} without names."))  # fmt: skip
        else:
            columns.append(None)
    if len(set(drop)) < len(drop):
        raise TableError(f"group, time and target must be different columns; got {', '.join(map(repr, drop))}.")
    if drop and isinstance(X, Mapping):
        X = {name: values for name, values in X.items() if str(name) not in drop}
    elif drop and not isinstance(X, Source):
        X = as_frame(X).drop(drop).to_native()
    source = read_table(X)
    for name in drop if isinstance(X, Source) else ():
        source = source.without(name)
    return columns, source


def _column(X: Any, name: str) -> Any:
    if isinstance(X, Mapping):
        return next(values for key, values in X.items() if str(key) == name)
    if isinstance(X, Source):
        column = X.column(X.names.index(name))
        if isinstance(column, Numbers):
            return column.values
        levels = np.array([*column.levels, None], dtype=object)
        return levels[np.where(column.missing(), len(column.levels), column.codes)]
    return as_frame(X)[name].to_native()


def _groups(group: Any, layout: Layout, n_rows: int) -> tuple[NDArray[np.int64], Sequence[Any]]:
    """Return the sequence that each row belongs to, numbered as they first come, and their names."""
    if layout.lengths is not None:
        if group is not None:
            raise TableError("give either group= or lengths=, not both.")
        lengths = np.asarray(layout.lengths)
        if lengths.ndim != 1 or lengths.dtype.kind not in "iu" or (lengths < 1).any() or lengths.sum() != n_rows:
            raise TableError(
                f"lengths must be whole numbers of at least 1 with the sum {n_rows}, the number of rows; got "
                f"{lengths.tolist() if lengths.size <= 10 else lengths.shape} with the sum {lengths.sum()}."
            )
        return np.repeat(np.arange(len(lengths)), lengths), range(len(lengths))
    if group is None:
        return np.zeros(n_rows, dtype=np.int64), [0]
    column: Column = read_values(group, "group")
    if len(column) != n_rows:
        raise TableError(f"group has {len(column)} values for {n_rows} rows; it needs one per row.")
    if column.missing().any():
        raise TableError(f"group, row {int(column.missing().argmax())}: there is no value; leave such rows out.")
    values = column.codes if isinstance(column, Coded) else column.values
    distinct, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    rank = np.empty(len(distinct), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(distinct))
    in_rank = distinct[np.argsort(first)]
    names = [column.levels[int(c)] for c in in_rank] if isinstance(column, Coded) else in_rank.tolist()
    return rank[inverse.ravel()], names


def _in_order(
    codes: NDArray[np.int64], n_groups: int, time: Any, layout: Layout, warn: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], Times | None]:
    offsets = np.append(0, np.cumsum(np.bincount(codes, minlength=n_groups))).astype(np.int64)
    if time is None:
        if n_groups == 1 or (np.diff(codes) >= 0).all():
            return np.arange(len(codes)), offsets, None
        return np.argsort(codes, kind="stable"), offsets, None
    times = Times.read(time, layout.time if isinstance(layout.time, str) else "time")
    if len(times.values) != len(codes):
        raise TableError(f"time has {len(times.values)} values for {len(codes)} rows; it needs one per row.")
    order = np.lexsort([times.values, codes])
    if warn:
        grouped = np.argsort(codes, kind="stable")
        late = np.flatnonzero(order != grouped)
        if len(late):
            warn_caller(
                f"rows are not in the order of time '{times.name}' (first at row {int(order[late[0]])}); "
                "they are sorted."
            )
    return order, offsets, times


def _states(y: Any, n_rows: int, order: NDArray[np.int64]) -> tuple[NDArray[np.int64] | None, NDArray[Any] | None]:
    if y is None:
        return None, None
    column, text = read_label_column(y, n_rows)
    missing = column.missing()
    if missing.all():
        return None, None
    known = np.flatnonzero(~missing)
    if isinstance(column, Numbers) and missing.any():
        # Read again without the gaps, beside which whole numbers came as floats.
        column, text = read_label_column(column.values[known].tolist())
    else:
        column = column.take(known)
    if isinstance(column, Numbers) and column.values.dtype.kind == "f" and (column.values % 1 == 0).all():
        column = Numbers(column.values.astype(np.int64))
    classes, codes = labels_of(column, text)
    states = np.full(n_rows, -1, dtype=np.int64)
    states[known] = codes
    return np.where(order >= 0, states[order], -1), classes


def _read_list(X: Sequence[Any], y: Any, target: str | None, layout: Layout) -> Sequences:
    """Read sequences that came one by one."""
    parts: list[Source] = []
    labels: list[Any] = []
    for i, each in enumerate(X):
        columns, part = _split(_as_table(each), [layout.time, target], False)
        _refuse_infinite(part, f"sequence {i}: ")
        parts.append(part)
        if columns[1] is not None:
            labels.append(columns[1])
        if part.names != parts[0].names:
            raise TableError(
                f"sequence {i} has the columns {list(part.names)}, and sequence 0 has {list(parts[0].names)}."
            )
    lengths = [part.n_rows for part in parts]
    y = _labels_in_a_row(labels if y is None and labels else y, lengths)
    source, order = concatenated(parts), np.arange(sum(lengths))
    offsets = np.append(0, np.cumsum(lengths)).astype(np.int64)
    states, classes = _states(y, len(order), order)
    return Sequences(source, order, offsets, range(len(lengths)), states, classes, True, target)


def _as_table(X: Any) -> Any:
    """Return one column as a table of one column; tables as they are."""
    if not _is_line(X):
        return X
    return X.reshape(-1, 1) if isinstance(X, np.ndarray) else {"x0": X}


def _labels_in_a_row(y: Any, lengths: list[int]) -> list[Any] | None:
    """Return the states of a list of sequences one after the other."""
    if y is None:
        return None
    if len(y) != len(lengths):
        raise TableError(f"y has states for {len(y)} sequences, and X has {len(lengths)} sequences.")
    for i, (labels, n) in enumerate(zip(y, lengths, strict=True)):
        if len(labels) != n:
            raise TableError(f"sequence {i} has {n} rows and {len(labels)} states in y.")
    return [label for labels in y for label in list(labels)]


def matched(read: Sequences, schema: Schema, X: Any, who: str) -> Sequences:
    """Return the sequences with the columns of the fit, compared by name or else by number."""
    source = read.source
    if isinstance(X, Mapping) or is_records(X) or (read.as_list and source.named):
        source = in_order(X if not read.as_list else {}, source, schema.names)
    check_columns(source, schema.names, schema.named, who)
    return replace(read, source=source)
