"""The text columns of a file, converted to numbers, booleans, dates and text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.errors import TableError
from bayeskit.kinds.registry import words
from bayeskit.table.conventions import Convention, Reading
from bayeskit.table.dates import CATEGORIES, moments_of, part_name, parts_of_dates
from bayeskit.table.file_conventions import FileConventions, in_order
from bayeskit.table.missing_words import without_numbers
from bayeskit.table.number_cells import numbers_of

if TYPE_CHECKING:
    import pyarrow as pa

    from bayeskit.kinds.kind import Kind

# Labels that come back as they were written when they are read as whole numbers.
_AS_WRITTEN = r"^(0|-?[1-9]\d{0,17})$"


@dataclass(frozen=True)
class DatePart:
    """A column that was made of another: its kind, and where it comes from."""

    kind: str
    why: str
    column: str  # the column of the table


@dataclass(frozen=True)
class WrittenColumns:
    """A table whose columns were read, with their conventions and the notes for the user."""

    table: pa.Table
    # Column of the file → how its cells are read, where that is no matter of course.
    conventions: dict[str, Convention] = field(default_factory=dict)
    # Column → what is said of its cells, and the argument that would settle it.
    said: dict[str, tuple[str, str]] = field(default_factory=dict)
    # Columns made of dates.
    parts: dict[str, DatePart] = field(default_factory=dict)
    # Text columns as codes of their different cells, and how many values columns of whole numbers have: what was
    # looked up once is not looked up again.
    coded: dict[str, Any] = field(default_factory=dict)
    n_values: dict[str, int] = field(default_factory=dict)


def read_columns(
    table: pa.Table,
    target: str,
    kinds: Mapping[str, str] | None = None,
    ignore: Collection[str] = (),
    *,
    decimal: str | None = None,
    date_order: str | None = None,
    place: Callable[[int], str] = "row {}".format,
    ask: bool = False,
    text: bool = False,
    missing: Callable[[str], Collection[str]] = lambda name: (),
    also: Collection[str] = (),
) -> WrittenColumns:
    """Read the text columns of a table: numbers with any decimal separator, dates as parts, labels as written.

    Parameters
    ----------
    table : pyarrow.Table
        The table as a file holds it.
    target : str
        The column of labels, which come back as they were written.
    kinds : dict of column name to kind, optional
        Kinds given by the user; one that does not fit is an error with the first cell that does not fit.
    ignore : collection of str
        Columns that are not read.
    decimal, date_order : str, optional
        As in :func:`bayeskit.table.conventions.read_written`.
    place : callable
        Returns the location of a row, for messages; the first row is 0.
    ask : bool
        Whether the file may be written with decimal commas, as one whose delimiter is a semicolon.
    text : bool
        Whether the table comes from a text file: then columns of numbers have shown a decimal point.
    missing : callable, optional
        Returns the words for a missing cell of a column; one that is a number is missing however it is written.
    also : collection of str
        Columns whose numbers and dates are read though they are ignored, since folds need them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"price": ["2,5", "13,75"], "sold": ["16.02.2019", "1.3.2019"], "ok": ["01", "02"]})
    >>> read_columns(table, "ok").table.column_names
    ['price', 'sold', 'sold (year)', 'sold (month)', 'sold (weekday)', 'sold (days)', 'ok']
    """
    import pyarrow as pa

    wanted = dict(kinds or {})
    result = WrittenColumns(pa.table({}))
    columns: dict[str, Any] = {}
    read = [name for name in table.column_names if name != target and name not in ignore]
    fractions = text and any(pa.types.is_floating(table.schema.field(name).type) for name in read)
    conventions = FileConventions.of(table, read, decimal, date_order, ask=ask, fractions=fractions)
    for name in table.column_names:
        column = table[name]
        if name == target:
            columns[name] = _labels(column)
            continue
        if name in ignore:
            columns[name] = _for_folds(column, name, conventions, place) if name in also else column
            continue
        reading = _read(column, name, wanted.get(name), conventions, place)
        reading = replace(reading, column=without_numbers(reading.column, missing(name)))
        columns[name] = reading.column
        if reading.coded is not None and reading.column is column:
            result.coded[name] = reading.coded
            result.n_values[name] = len(reading.coded.chunk(0).dictionary)
        elif reading.n_values is not None and not missing(name):
            result.n_values[name] = reading.n_values
        _refuse_infinite(reading.column, column, name, place)
        convention = _convention(reading, name, wanted.get(name, ""), place)
        if convention is not None and convention.what == "date":
            made = parts_of_dates(reading.column, convention.origin)
            convention = replace(convention, parts=tuple(made))
            _refuse_taken(convention.outputs(name), table.column_names)
            columns |= {part_name(name, part): cells for part, cells in made.items()}
            result.parts.update({part_name(name, part): _date_part(part, name, convention) for part in made})
        if convention is not None:
            result.conventions[name] = convention
        if reading.said:
            result.said[name] = reading.said, reading.settled_by
    return replace(result, table=pa.table(columns))


def _convention(reading: Reading, name: str, word: str, place: Callable[[int], str]) -> Convention | None:
    """Return the convention of a column; cells that do not fit the kind that the user named are an error."""
    if word not in words():
        return reading.convention
    kind = words()[word]
    refuse_unfit(reading.column, name, kind, place)
    if kind.coded and kind.name == word and not kind.takes_text:  # flags
        return replace(reading.convention or Convention("number"), truth=True)
    return reading.convention


def _for_folds(column: Any, name: str, conventions: FileConventions, place: Callable[[int], str]) -> Any:
    """Return the numbers or dates of a column that no model reads; the column itself where a cell would be lost."""
    import pyarrow as pa

    read = _read(column, name, None, conventions, place).column
    is_amount = pa.types.is_integer(read.type) or pa.types.is_floating(read.type) or pa.types.is_temporal(read.type)
    return read if is_amount and read.null_count == column.null_count else column


def _refuse_taken(made: Collection[str], names: Collection[str]) -> None:
    for name in made:
        if name in names:
            raise TableError(f"there is a column {name!r} already; rename it.", "ignore")


def _date_part(part: str, column: str, convention: Convention) -> DatePart:
    why = {
        "year": f"year of {column!r}",
        "month": f"month of {column!r}",
        "weekday": f"weekday of {column!r}",
        "hour": f"hour of {column!r}",
        "days": f"days since {convention.origin} of {column!r}",
    }[part]
    return DatePart("categorical" if part in CATEGORIES else "numeric", why, column)


def _is_text(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def _labels(column: Any) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not _is_text(column) or not len(column) or column.null_count == len(column):
        return column
    different = pc.unique(column.drop_null())
    if pc.all(pc.match_substring_regex(different, _AS_WRITTEN)).as_py():
        return pc.cast(column, pa.int64())
    if pc.all(pc.match_substring_regex(different, r"^-?\d+\.\d+$")).as_py():
        numbers = pc.cast(column, pa.float64())
        written = [str(number) for number in pc.unique(numbers.drop_null()).to_pylist()]
        return numbers if set(written) == set(different.to_pylist()) else column
    return column


def read_labels_as_written(labels: Sequence[Any]) -> Any:
    """Return the distinct labels of a table as an Arrow array: integers where all of them are written as such.

    >>> read_labels_as_written(["1", "2"]).type, read_labels_as_written(["1", "x"]).type
    (DataType(int64), DataType(string))
    """
    import pyarrow as pa

    different = pa.array(labels)
    return different.cast(pa.string()) if pa.types.is_temporal(different.type) else _labels(different)


def _read(
    column: Any, name: str, kind: str | None, conventions: FileConventions, place: Callable[[int], str]
) -> Reading:
    import pyarrow as pa

    known = words()
    number = _wants_numbers(kind)
    if not _is_text(column):
        return _read_typed(column, kind)
    reading = conventions.read(column, number=number)
    is_time = pa.types.is_temporal(reading.column.type)
    if number and (is_time or _is_text(reading.column)):
        _refuse_text(column, name, str(kind), conventions.decimal, reading, place)
    if not number and kind in known and (is_time or reading.convention is not None):
        return Reading(column)  # a category is what is written
    return in_order(reading)


def _wants_numbers(kind: str | None) -> bool:
    return kind == "numeric" or (kind in words() and not words()[kind].takes_text)


def _read_typed(column: Any, kind: str | None) -> Reading:
    """Return a column that the file gives a type: dates become parts unless a kind is asked for, times hours."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_temporal(column.type):
        return Reading(column)
    is_time = pa.types.is_time(column.type)
    if pa.types.is_duration(column.type) or (is_time and (kind is None or _wants_numbers(kind))):
        hours = Convention("hours", lenient=True)
        return Reading(hours.parse(column)[0], hours, hours.described)
    if kind is not None:
        return Reading(pc.cast(column, pa.string()))
    origin = pc.min(moments_of(column)).as_py()
    if origin is None:
        return Reading(column)
    return Reading(column, Convention("date", lenient=True, order="ymd", origin=str(np.datetime64(origin, "D"))))


def _refuse_text(
    column: Any, name: str, kind: str, decimal: str | None, reading: Reading, place: Callable[[int], str]
) -> None:
    import pyarrow.compute as pc

    if not len(column.drop_null()):
        return
    if reading.settled_by == "decimal":
        raise TableError(f"column {name!r} cannot be {kind} yet: {reading.said}.", "decimal")
    values = numbers_of(column.combine_chunks(), decimal or ".")
    odd = np.flatnonzero(np.asarray(pc.and_(pc.is_valid(column), pc.is_null(values))))
    row = int(odd[0]) if len(odd) else 0
    raise TableError(
        f"{place(row)}: column {name!r} cannot be {kind}, since this cell is {column[row].as_py()!r}; in all "
        f"{len(odd)} of {len(column)} cells are no numbers.",
        "kinds",
    )


def refuse_unfit(column: Any, name: str, kind: Kind, place: Callable[[int], str]) -> None:
    """Raise an error for the first number that the kind does not allow, such as a fraction among Poisson counts."""
    import pyarrow as pa

    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return
    odd = kind.unfit(np.asarray(column.cast(pa.float64(), safe=False)))
    if odd.any():
        row = int(odd.argmax())
        raise TableError(
            f"{place(row)}: column {name!r} is {kind.name} and must hold {kind.holds}; got {column[row].as_py()}. "
            "Leave the cell empty if the value is not known, or train with another kind.",
            "kinds",
        )


def _refuse_infinite(column: Any, written: Any, name: str, place: Callable[[int], str]) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_floating(column.type):
        return
    infinite = pc.fill_null(pc.is_inf(column), False)
    if pc.any(infinite).as_py():
        row = int(np.asarray(infinite).argmax())
        raise TableError(
            f"{place(row)}: column {name!r} holds {written[row].as_py()}, which is infinite or beyond the largest "
            "number of a computer (1.8e308); leave the cell empty or put a finite number there."
        )
