"""The raw columns that an exported model reads, and what becomes of their cells: the reader's conversions, as data."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.errors import TableError
from bayeskit.table.conventions import Convention
from bayeskit.table.conversions import Conversions
from bayeskit.table.dates import part_name
from bayeskit.table.missing_words import USUAL, numbers_among
from bayeskit.table.schema import Schema, Variable


@dataclass(frozen=True)
class RawColumn:
    """A column of the user's table, and the columns of the model that are made of it.

    A text is first respelled, then missing where it is one of the words or blank, then read by the convention. Cells
    that are numbers already are missing where they are one of the numbers.
    """

    name: str
    convention: Convention | None  # None where the cells are as the model has them, but for words
    respelled: tuple[tuple[str, str], ...]
    missing: tuple[str, ...]
    missing_numbers: tuple[float, ...]
    made: tuple[tuple[int, str], ...]  # place among the model's columns, and the part of a date or ""

    @property
    def described(self) -> str:
        """What the cells are, in words."""
        return "" if self.convention is None else self.convention.described


def raw_columns(schema: Schema, *, converted: bool = False) -> tuple[RawColumn, ...] | None:
    """Return the raw columns of a model in the order of its own; None where these are its columns as they are.

    With ``converted`` the table that is read holds the model's columns already.

    Examples
    --------
    >>> from bayeskit.table.schema import Variable
    >>> sold = Convention("date", order="dmy", origin="2019-01-01", parts=("year", "month"))
    >>> schema = Schema((Variable("sold (month)", "categorical", (1, 2)),), True, Conversions((("sold", sold),)))
    >>> [(column.name, column.made) for column in raw_columns(schema)]
    [('sold', ((0, 'month'),))]
    """
    conversions = schema.conversions
    if conversions is None or converted:
        return None
    made: dict[str, list[tuple[int, str]]] = {}
    for j, variable in enumerate(schema):
        source = conversions.source_of.get(variable.name, variable.name)
        made.setdefault(source, []).append((j, _part(variable, source, conversions)))
    return tuple(_raw(name, tuple(places), schema, conversions) for name, places in made.items())


def _part(variable: Variable, source: str, conversions: Conversions) -> str:
    convention = conversions.conventions.get(source)
    if convention is None or convention.what != "date":
        return ""
    return next(part for part in convention.parts if part_name(source, part) == variable.name)


def _raw(name: str, made: tuple[tuple[int, str], ...], schema: Schema, conversions: Conversions) -> RawColumn:
    convention = conversions.conventions.get(name)
    pairs = dict(conversions.spellings).get(name, ())
    # A value of the model that looks like a missing cell is a value.
    known = () if convention is not None else schema[made[0][0]].values
    words = tuple(dict.fromkeys([*(word for word in USUAL if word not in known), *conversions.missing_in(name)]))
    respelled = tuple((written, meant) for written, meant in pairs if meant is not None)
    numbers = tuple(numbers_among(conversions.missing_in(name)))
    return RawColumn(name, convention, respelled, words, numbers, made)


def inputs_in_words(schema: Schema) -> dict[str, str]:
    """Return what each converted column of a model must hold, for a program that takes the columns as the model does.

    >>> from bayeskit.table.schema import Variable
    >>> sold = Convention("date", order="dmy", origin="2019-01-01", parts=("days", "month"))
    >>> schema = Schema((Variable("sold (days)", "gaussian", numeric=True),), True, Conversions((("sold", sold),)))
    >>> inputs_in_words(schema)
    {'sold (days)': "days from 2019-01-01 to the date 'sold', as a number"}
    """
    said: dict[str, str] = {}
    for column in raw_columns(schema) or ():
        for j, part in column.made:
            words = _in_words(column, part)
            if words:
                said[schema[j].name] = words
    return said


def _in_words(column: RawColumn, part: str) -> str:
    convention = column.convention
    if convention is None:
        return f"as {dict(column.respelled)} writes it" if column.respelled else ""
    parts = {
        "year": f"the year of the date {column.name!r}",
        "month": f"the month of the date {column.name!r}, 1 to 12",
        "weekday": f"the day of the week of the date {column.name!r}: Mon, Tue, Wed, Thu, Fri, Sat or Sun",
        "days": f"days from {convention.origin} to the date {column.name!r}, as a number",
        "hour": f"the hour of the date {column.name!r}, 0 to 23",
    }
    others = {"hours": "hours, as a number", "truth": "0 for no and 1 for yes"}
    if part:
        return parts[part]
    unit = {"%": ", as a share: 0.12 for 12 %", "×": ", without K, M or 万"}.get(convention.unit, "")
    return others.get(convention.what, f"a number{unit}")


def refuse_converted(schema: Schema, engine: str, *, able: tuple[str, ...] = ()) -> None:
    """Raise an error for columns that an engine cannot convert; ``able`` are the conventions that it can."""
    for column in raw_columns(schema) or ():
        convention = column.convention
        if convention is None or convention.is_plain or convention.what in able:
            continue
        made = ", ".join(repr(schema[j].name) for j, _ in column.made)
        raise TableError(
            f"column {column.name!r} was converted ({convention.described}), which {engine} cannot do. Write the model "
            f"for the columns as it has them, {made}, with converted=True; each says what "
            "it must hold.",
            parameter="converted",
        )
