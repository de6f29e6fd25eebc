"""A table as it was written → a table that was read: cells converted, labels read, kinds inferred."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeskit.kinds.infer import Features, infer_kinds, read_features
from bayeskit.kinds.kind import FitContext
from bayeskit.kinds.registry import words
from bayeskit.kinds.remedies import Remedies, kept_rows, placed, proposed_spellings, with_spellings
from bayeskit.kinds.written import read_columns
from bayeskit.table.conversions import Conversions
from bayeskit.table.frames import arrow_table
from bayeskit.table.missing_words import usual_as_missing
from bayeskit.table.problem import Problem
from bayeskit.table.read import Source
from bayeskit.table.read_result import ColumnNote, ReadTable
from bayeskit.table.spellings import Spellings, split_words
from bayeskit.table.target import refuse_unlabelled

# What ``kinds`` says to have cells converted and kinds inferred, as :func:`bayeskit.read` does.
INFER = "infer"

if TYPE_CHECKING:
    import pyarrow as pa

NOTHING = Remedies()


def read_written_table(
    raw: pa.Table,
    target: str | None = None,
    *,
    name: str = "table",
    ignore: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    decimal: str | None = None,
    date_order: str | None = None,
    missing: Sequence[str] = (),
    remedies: Remedies = NOTHING,
    n_rows: int | None = None,
    also: Collection[str] = (),
    ask: bool = False,
    text: bool = False,
    said: Sequence[str] = (),
    place: Callable[[int], str] = "row {}".format,
) -> ReadTable:
    """Convert the cells of a table, read its labels and infer the kinds of its columns.

    Parameters
    ----------
    raw : pyarrow.Table
        The table as a file or a frame holds it.
    target : str, optional
        The column to predict.
    name : str
        The name of the table, for messages.
    ignore, kinds, decimal, date_order, missing
        As in :func:`bayeskit.read`.
    remedies : Remedies
        What is done to the rows first.
    n_rows : int, optional
        The rows of the whole table, of which ``raw`` is a sample.
    also : collection of str
        Columns whose numbers and dates are read though they are ignored, since folds need them.
    ask : bool
        Whether the file may be written with decimal commas, as one whose delimiter is a semicolon.
    text : bool
        Whether the table comes from a text file.
    said : sequence of str
        What the user should know of how the file was read.
    place : callable
        Returns the location of a row, for messages; the first row is 0.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = read_written_table(pa.table({"price": ["2,5", "13,75"], "sold": ["no", "yes"]}), "sold")
    >>> table["price"].to_pylist(), table.kinds
    ([2.5, 13.75], {'price': 'numeric'})
    """
    plain_words, spellings = split_words(missing, raw.column_names)
    settings: dict[str, Any] = {"name": name, "ignore": ignore, "kinds": kinds, "decimal": decimal}
    settings |= {"date_order": date_order, "missing": plain_words, "n_rows": n_rows, "ask": ask}
    settings |= {"also": also, "text": text, "said": said}
    raw = with_spellings(raw, spellings)
    if remedies.merge_labels:
        merged = proposed_spellings(_read(raw, target, spellings, place=place, **settings))
        raw = with_spellings(raw, merged)
        for column, meant in merged.items():
            spellings[column] = {**spellings.get(column, {}), **meant}
    table = _read(raw, target, spellings, place=place, **settings)
    if remedies.drop_duplicates or remedies.drop_rare_classes:
        rows = kept_rows(table, remedies)
        if not rows.all():
            table = _read(raw.filter(rows), target, spellings, place=placed(place, rows), **settings)
            n = int((~rows).sum())
            dropped = Problem(
                "dropped rows", f"{n:,} copies or rows of rare classes were left out, as you asked", (), n
            )
            table = replace(table, said=(*table.said, dropped), kept=np.flatnonzero(rows))
    return table


def _read(
    raw: pa.Table,
    target: str | None,
    spellings: Mapping[str, Spellings],
    *,
    name: str,
    ignore: Collection[str],
    kinds: Mapping[str, str] | None,
    decimal: str | None,
    date_order: str | None,
    missing: Sequence[str],
    n_rows: int | None,
    also: Collection[str],
    ask: bool,
    text: bool,
    said: Sequence[str],
    place: Callable[[int], str],
) -> ReadTable:
    """Read a raw table in which the spellings are replaced already."""
    given = dict(kinds or {})
    pairs = tuple((column, tuple(meant.items())) for column, meant in spellings.items())
    conversions = Conversions(missing=tuple(missing), spellings=pairs)
    how: dict[str, Any] = {"decimal": decimal, "date_order": date_order, "place": place, "ask": ask, "text": text}
    written = read_columns(raw, target or "", given, ignore, missing=conversions.missing_in, also=also, **how)
    data, n_unlabelled = written.table, 0
    if target is not None and (n_unlabelled := data[target].null_count):
        refuse_unlabelled(data, target)
        data = data.filter(data[target].is_valid())
    notes = infer_kinds(data, target or "", ignore, given, written)
    if n_rows is not None:
        notes = tuple(_without_row_numbers(note, data, n_rows, given) for note in notes)
    features = read_features(data, notes, written.coded if data is written.table else None, none=True)
    refuse_misfits(features, given)
    problems = [Problem("file", sentence) for sentence in said]
    if n_unlabelled:
        left = "1 row has no label and is" if n_unlabelled == 1 else f"{n_unlabelled} rows have no label and are"
        problems.append(Problem("no label", f"{left} left out", (str(target),), n_unlabelled))
    conversions = replace(conversions, columns=tuple(written.conventions.items()))
    used = conversions.used_by(features.source.names, raw.column_names, target)
    source = replace(features.source, kinds=features.kinds, conversions=used)
    return ReadTable(name, target, notes, data, raw, source, n_unlabelled, place, tuple(problems), n_rows or 0)


def inferred(X: Any, kinds: Any, target: str | None) -> Any:
    """Return a table as the reader reads it where ``kinds`` is "infer"; other tables are returned as they came."""
    if not isinstance(kinds, str) or kinds != INFER or isinstance(X, ReadTable | Source):
        return X
    return read_written_table(frame_as_file(X), target)


def frame_as_file(X: Any) -> pa.Table:
    """Return a frame or a dict of columns as an Arrow table in which empty text is missing, as it is in a file.

    >>> frame_as_file({"wind": ["weak", "", "?"]})["wind"].null_count
    2
    """
    return usual_as_missing(arrow_table(X))[0]


def refuse_misfits(features: Features, given: Mapping[str, str]) -> None:
    """Raise an error, before any fit, for a column that does not fit the given kind, such as fractions as counts."""
    for name, word in given.items():
        if word in words() and word == words()[word].name and name in features.source.names:
            column = features.source.named_column(name)
            if not column.all_missing():
                words()[word].learn([column], [name], word, FitContext())


def _without_row_numbers(note: ColumnNote, table: pa.Table, n_rows: int, given: Mapping[str, str]) -> ColumnNote:
    """Leave out a column that numbers the rows, which a sample cannot show by its values."""
    if note.kind != "numeric" or note.name in given or not _numbers_rows(table[note.name], n_rows):
        return note
    return replace(note, kind="left out", why="it numbers the rows")


def _numbers_rows(column: Any, n_rows: int) -> bool:
    """Return whether the sampled whole numbers are those of a column that numbers all rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not pa.types.is_integer(column.type) or column.null_count or len(column) < 2000:
        return False
    values = np.asarray(column)
    if len(np.unique(values)) < len(values):
        return False
    span = int(pc.max(column).as_py()) - int(pc.min(column).as_py()) + 1
    return 0.9 * n_rows <= span <= n_rows
