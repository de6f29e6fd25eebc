"""The kind of each column of a file, and why; the user may override it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bayeskit.errors import TableError
from bayeskit.kinds.registry import words
from bayeskit.kinds.written import WrittenColumns
from bayeskit.table.column import Column
from bayeskit.table.frames import as_frame, read_dictionary, read_frame_column
from bayeskit.table.labels import MOST_CODES
from bayeskit.table.names import not_found
from bayeskit.table.read import Source
from bayeskit.table.read_result import ColumnNote

if TYPE_CHECKING:
    import pyarrow as pa

# Text whose cells are longer than this on average, nearly all of them different, is written and not chosen from a list.
LONG_TEXT = 30
# A text column with more values than this needs at least two rows a value, or its counts say nothing.
MANY_VALUES = 50


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
            known = ", ".join((*words(), "numeric"))
            raise TableError(f"column {name!r} cannot be of kind {kind!r}; a kind is one of {known}.")
    notes = (_note(table[name], name, target, name in ignore, wanted.get(name)) for name in table.column_names)
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


def read_features(table: pa.Table, notes: tuple[ColumnNote, ...], *, none: bool = False) -> Features:
    """Read the columns in use; forced categorical ones are read as text where their type cannot be a category.

    A table without any is an error, unless there may be ``none``.
    """
    frame = as_frame(table)
    used = [note for note in notes if note.used]
    if not used and not none:
        raise TableError("no column is left to learn from; pass a kind for one that was left out.", "kinds")
    columns = tuple(_column(table[note.name], frame[note.name], note.name) for note in used)
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


def _column(column: Any, series: Any, name: str) -> Column:
    import pyarrow as pa

    if pa.types.is_string(column.type) and len(column):  # one pass gives the codes of text
        return read_dictionary(column.dictionary_encode())
    return read_frame_column(_plain(series), name)


def _plain(series: Any) -> Any:
    import narwhals as nw

    return series.cast(nw.String) if series.dtype.is_temporal() else series


def _note(column: Any, name: str, target: str, ignored: bool, forced: str | None) -> ColumnNote:
    import pyarrow.compute as pc

    n_rows, n_known = len(column), len(column) - column.null_count
    n_values = len(pc.unique(column.drop_null())) if n_known and _countable(column.type) else 0
    known = column.drop_null()
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
        known_as = "ordered categories" if kind.ordered else "declared categories"
        return "categorical", f"{known_as}, {n_values} in use"
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

    length = pc.mean(pc.utf8_length(known)).as_py()
    if length > LONG_TEXT and n_values > n_known / 2:
        return "left out", "it is free text, which a text classifier reads"
    if n_values == n_known and n_values > MOST_CODES:
        return "left out", "every row has a value of its own, as an id has"
    if n_values > MANY_VALUES and n_values > n_known / 2:
        return "left out", f"{n_values} values in {n_known} rows are too many to count"
    return "categorical", f"text with {_values(n_values)}"


def _values(n: int) -> str:
    return "1 value" if n == 1 else f"{n} values"


def _countable(kind: Any) -> bool:
    import pyarrow as pa

    return not pa.types.is_nested(kind)
