"""The kind of each column of a file, and why; the user may override it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.kinds.registry import words
from bayeskit.kinds.written import WrittenColumns
from bayeskit.table.column import Column
from bayeskit.table.frames import as_frame, read_dictionary, read_frame_column
from bayeskit.table.labels import MOST_CODES
from bayeskit.table.names import not_found, one_of
from bayeskit.table.read import LazyColumns, Source
from bayeskit.table.read_result import ColumnNote

if TYPE_CHECKING:
    import pyarrow as pa

# Text whose cells are longer than this on average, nearly all of them different, is written and not chosen from a list.
LONG_TEXT = 30
# A text column with more values than this needs at least two rows a value, or its counts say nothing.
MANY_VALUES = 50

# Of fractions so many cells are counted, since nothing depends on their number.
_FRACTIONS_COUNTED = 10_000


@dataclass(frozen=True)
class Features:
    """The columns that models learn from, with what is known of every column of the file."""

    source: Source
    kinds: dict[str, str]  # for the columns whose type does not tell their kind
    notes: tuple[ColumnNote, ...]


def infer_kinds(
    table: pa.Table,
    target: str,
    ignore: Collection[str] = (),
    forced: Mapping[str, str] | None = None,
    written: WrittenColumns | None = None,
) -> tuple[ColumnNote, ...]:
    """Return the kind of each column; ``forced`` kinds and ``ignore`` override the rules.

    ``written`` adds the conventions of the cells, where they came from a file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"wind": ["weak", "strong"], "doors": [2, 4], "km": [1.5, 2.5], "play": ["no", "yes"]})
    >>> [(note.name, note.kind, note.why) for note in infer_kinds(table, "play")][:2]
    [('wind', 'categorical', 'text with 2 values'), ('doors', 'categorical', 'whole numbers with 2 values')]
    """
    wanted = dict(forced or {})
    for name in (*wanted, *ignore):
        if name not in table.column_names:
            raise TableError(not_found("column", name, table.column_names))
        if name == target:
            raise TableError(f"column {name!r} is the target; it cannot be ignored or given a kind.")
    for name, kind in wanted.items():
        if kind != "numeric" and kind not in words():
            raise TableError(f"column {name!r} cannot be of kind {kind!r}; {one_of(kind, (*words(), 'numeric'))}")
    # What was counted while cells were read holds for the same rows only.
    counted = written.n_values if written is not None and written.table.num_rows == table.num_rows else {}
    notes = (
        _note(table[name], name, target, name in ignore, wanted.get(name), counted.get(name))
        for name in table.column_names
    )
    if written is None:
        return tuple(notes)
    return tuple(_with_writing(note, written, note.name in wanted) for note in notes)


def _with_writing(note: ColumnNote, written: WrittenColumns, forced: bool) -> ColumnNote:
    """Return the note with how the column was written, and with what it was made of."""
    if note.name in written.parts and note.used and not forced:
        part = written.parts[note.name]
        return replace(note, kind=part.kind, why=part.why, made_of=part.column)
    said, settled_by = written.said.get(note.name, ("", ""))
    convention = written.conventions.get(note.name)
    if convention is not None and convention.what == "date" and note.kind != "left out":
        note = replace(note, kind="date", why=convention.described)
    why = f"{note.why}; {said}" if said else note.why
    return replace(note, why=why, settled_by=settled_by, convention=convention)


def read_features(
    table: pa.Table, notes: tuple[ColumnNote, ...], coded: Mapping[str, Any] | None = None, *, none: bool = False
) -> Features:
    """Read the columns in use; forced categorical ones are read as text where their type cannot be a category.

    ``coded`` has text columns of the same rows as codes, where that is known. A table without any column in use is an
    error, unless there may be ``none``.
    """
    frame = as_frame(table)
    used = [note for note in notes if note.used]
    if not used and not none:
        raise TableError("no column is left to learn from; pass a kind for one that was left out.", "kinds")
    known = coded or {}
    columns = LazyColumns(
        [partial(_column, table[note.name], frame[note.name], note.name, known.get(note.name)) for note in used]
    )
    source = Source(tuple(note.name for note in used), True, len(frame), columns)
    # Text and truth values are categorical whatever is said of the rest.
    kinds = {note.name: note.kind for note in used if note.kind != "numeric" and not _is_category(table.schema, note)}
    return Features(source, kinds, notes)


def _is_category(schema: Any, note: ColumnNote) -> bool:
    import pyarrow as pa

    kind = schema.field(note.name).type
    return note.kind == "categorical" and (
        pa.types.is_string(kind) or pa.types.is_boolean(kind) or pa.types.is_dictionary(kind)
    )


def _column(column: Any, series: Any, name: str, coded: Any) -> Column:
    import pyarrow as pa

    if pa.types.is_string(column.type) and len(column):  # one pass gives the codes of text
        return read_dictionary(column.dictionary_encode() if coded is None else coded)
    return read_frame_column(_plain(series), name)


def _plain(series: Any) -> Any:
    import narwhals as nw

    return series.cast(nw.String) if series.dtype.is_temporal() else series


def _note(
    column: Any, name: str, target: str, ignored: bool, forced: str | None, n_values: int | None = None
) -> ColumnNote:
    n_rows, n_known = len(column), len(column) - column.null_count
    known = column.drop_null()
    n_values = _n_values(known) if n_values is None else n_values
    example = str(known[0].as_py()) if n_known else ""
    if name == target:
        kind, why = "target", "1 class" if n_values == 1 else f"{n_values} classes"
    elif ignored:
        kind, why = "left out", "you said so"
    elif forced is not None:
        kind, why = forced, "you said so"
    else:
        kind, why = _kind(known, n_known, n_values)
    shown = example if len(example) <= 40 else example[:37] + "…"
    return ColumnNote(name, kind, why, n_values, column.null_count / max(n_rows, 1), shown)


def _n_values(known: Any) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(known) or not _countable(known.type):
        return 0
    some = known.slice(0, _FRACTIONS_COUNTED) if pa.types.is_floating(known.type) else known
    return len(pc.unique(some))


def _kind(known: Any, n_known: int, n_values: int) -> tuple[str, str]:
    import pyarrow as pa

    kind = known.type
    if not n_known:
        return "left out", "it has no value in any row"
    if pa.types.is_boolean(kind):
        return "categorical", "true or false"
    if pa.types.is_integer(kind):
        return _kind_of_integers(known, n_known, n_values)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "numeric", "numbers with fractions"
    if pa.types.is_temporal(kind):
        return "date", "it holds dates"
    if pa.types.is_dictionary(kind):
        if kind.ordered:
            return "categorical", f"ordered categories with {n_values} values"
        return "categorical", f"declared categories with {n_values} values"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _kind_of_text(known, n_known, n_values)
    return "left out", f"it holds {kind}, which is neither text nor a number"


def _kind_of_integers(known: Any, n_known: int, n_values: int) -> tuple[str, str]:
    import pyarrow.compute as pc

    if n_values <= MOST_CODES:
        return "categorical", f"whole numbers with {_values(n_values)}"
    ends = pc.min_max(known).as_py()
    if n_values == n_known and ends["max"] - ends["min"] == n_known - 1:
        return "left out", "it numbers the rows"
    return "numeric", f"whole numbers with {_values(n_values)}"


def _kind_of_text(known: Any, n_known: int, n_values: int) -> tuple[str, str]:
    import pyarrow.compute as pc

    mostly_different = n_values > n_known / 2
    if mostly_different and pc.mean(pc.utf8_length(known)).as_py() > LONG_TEXT:
        return "text", "free text, whose words are counted"
    if n_values == n_known and n_values > MOST_CODES:
        return "left out", "every row has a value of its own, as an id has"
    if n_values > MANY_VALUES and mostly_different:
        return "left out", f"{n_values} values in {n_known} rows are too many to count"
    return "categorical", f"text with {_values(n_values)}"


def _values(n: int) -> str:
    return "1 value" if n == 1 else f"{n} values"


def _countable(kind: Any) -> bool:
    import pyarrow as pa

    return not pa.types.is_nested(kind)
