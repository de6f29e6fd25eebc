"""How numbers and dates are written in a column of text: decimal comma, thousands separator, markers, order of dates.

The convention of a column is decided from all of its cells. Where they could mean two things, such as ``1,234`` or
``2/3/2019``, the column stays text, and the message names the argument that decides it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from copy import copy
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.dates import ORDERS, dates_of, find_order, moments_of, part_name, parts_of_dates, pivot_of
from bayeskit.table.durations import hours_column
from bayeskit.table.missing_words import without_numbers
from bayeskit.table.number_cells import (
    COMMA,
    INFINITE,
    MULTIPLES,
    OPEN_POINT,
    PLAIN,
    POINT,
    SOME_DIGIT,
    bare,
    numbers_of,
    unit_of,
)
from bayeskit.table.truth_cells import mixes_forms, truths_of
from bayeskit.table.written_dates import POSIX

if TYPE_CHECKING:
    import pyarrow as pa

# A column is numeric when this share of its cells are numbers; the rest is then missing.
ENOUGH = 0.95
# What people write where they have no number; among numbers it is missing, among text it is a value.
MARKERS = frozenset(
    [
        *("-", "--", "---", "–", "—", ".", "..", "...", "*", "**", "none", "nil", "n/k", "nk", "n.k.", "n.a.", "n.a"),
        *("k.a.", "k. a.", "n.d.", "n.d", "n. d.", "s.d.", "s/d", "未知", "不详", "无", "缺失", "不明", "欠損"),
        *("na", "n/a", "unknown", "missing", "(null)", "<na>", "#null!", "#n/a", "#value!", "#div/0!", "#ref!"),
    ]
)
# With at most this many different values a column of codes loses nothing by staying text.
FEW_VALUES = 20

# Different cells that are tried before a column is taken for times, and the most forms of yes and no.
_TRIED = 200

_WHOLE = r"^[+-]?\d+$"
_PADDED = r"^[+-]?0\d+$"
# Numbers of phones: groups of three digits in every cell, or a country in front. Amounts differ in their length.
_PHONE = r"^\d{3}( \d{3}){2,}$|^\+\d{1,3}( \d{2,4}){2,}$"
# What a convention may say that cells are.
_WHAT = ("number", "date", "hours", "truth")


@dataclass(frozen=True)
class Convention:
    """How the cells of one text column become numbers or dates; kept with a model for reading new files.

    Examples
    --------
    >>> import pyarrow as pa
    >>> Convention("number", decimal=",").parse(pa.chunked_array([["2.230,37", "-4", None]]))[0].to_pylist()
    [2230.37, -4.0, None]
    """

    what: str  # "number", "date", "hours" (times and durations) or "truth"
    decimal: str = "."
    # Whether cells that are neither become missing; otherwise the first of them is refused.
    lenient: bool = False
    order: str = ""  # of a date: "ymd", "dmy" or "mdy"
    origin: str = ""  # of a date: the day from which days are counted
    pivot: int = POSIX  # of a date: two-digit years from here on are of the last century
    parts: tuple[str, ...] = ()  # of a date: the columns that are made of it
    truth: bool = False  # whether false and true are the numbers 0 and 1
    unit: str = ""  # of a number: what stands beside it; "%" divides by 100, "×" multiplies by the K or M of a cell

    def parse(self, column: Any) -> tuple[pa.ChunkedArray, NDArray[np.intp]]:
        """Return the column as float64 (or as seconds since 1970), and the rows whose cells are neither.

        Cells that are numbers or dates already stay so, since a workbook or a Parquet file needs no convention.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
            return self._typed(column), np.empty(0, dtype=np.intp)
        coded = _coded(column)
        if coded is None:
            kinds = {"date": pa.timestamp("s"), "truth": pa.bool_()}
            nothing = pa.nulls(len(column), kinds.get(self.what, pa.float64()))
            return pa.chunked_array([nothing]), np.empty(0, dtype=np.intp)
        entries = coded.chunk(0).dictionary
        if self.truth:
            small = pc.utf8_lower(entries)
            entries = pc.if_else(pc.equal(small, "true"), "1", pc.if_else(pc.equal(small, "false"), "0", entries))
        values = self._entries(entries)
        chunks = [values.take(chunk.indices) for chunk in coded.chunks]
        parsed = pa.chunked_array(chunks, type=values.type)
        odd = pc.and_(pc.is_valid(column), pc.is_null(parsed))
        return parsed, np.flatnonzero(np.asarray(odd))

    def _typed(self, column: Any) -> Any:
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.what == "hours" and (pa.types.is_time(column.type) or pa.types.is_duration(column.type)):
            kind = pa.time64("us") if pa.types.is_time(column.type) else pa.duration("us")
            seconds = pc.cast(pc.cast(column, kind, safe=False), pa.int64())
            return pc.divide(pc.cast(seconds, pa.float64()), 3.6e9)
        if pa.types.is_null(column.type):
            return pc.cast(column, {"date": pa.timestamp("s"), "truth": pa.bool_()}.get(self.what, pa.float64()))
        if pa.types.is_temporal(column.type):
            return moments_of(column)
        return pc.cast(column, pa.bool_() if self.what == "truth" else pa.float64())

    def _entries(self, entries: Any) -> Any:
        if self.what == "date":
            return dates_of(entries, self.order, self.pivot)
        if self.what == "hours":
            return hours_column(entries)
        return truths_of(entries) if self.what == "truth" else numbers_of(entries, self.decimal, self.unit)

    @property
    def holds(self) -> str:
        """What the cells must be, for messages."""
        known = {"date": "a date", "hours": "a time or a duration", "truth": "yes or no"}
        return known.get(self.what, f"a number of {self.unit}" if self.unit not in ("", MULTIPLES) else "a number")

    @property
    def is_plain(self) -> bool:
        """Whether numbers are written as programs write them, besides cells that are missing."""
        return self.what == "number" and self.decimal == "." and not self.unit

    @property
    def described(self) -> str:
        """The convention in words.

        >>> Convention("date", order="dmy", parts=("year", "month")).described
        'dates (day.month.year) as year, month'
        """
        if self.what == "date":
            parts = ", ".join(self.parts)
            return {
                "ymd": f"dates (year-month-day) as {parts}",
                "dmy": f"dates (day.month.year) as {parts}",
                "mdy": f"dates (month/day/year) as {parts}",
            }[self.order]
        if self.what == "number":
            words = ["decimal comma"] * (self.decimal == ",") + [_unit_in_words(self.unit)] * bool(self.unit)
            return ", ".join(words) or "numbers"
        return "times as hours" if self.what == "hours" else "forms of yes and no"

    def outputs(self, name: str) -> tuple[str, ...]:
        """Return the names of the columns that are made of a column."""
        return tuple(part_name(name, part) for part in self.parts) if self.what == "date" else (name,)

    def convert(self, column: Any, name: str, missing: Collection[str] = ()) -> tuple[dict[str, Any], NDArray[np.intp]]:
        """Return the columns that are made of a column by name, and the rows whose cells are not what they must be.

        ``missing`` are numbers that stand for a missing cell, whatever way they are written.
        """
        parsed, odd = self.parse(column)
        if self.what != "date":
            return {name: without_numbers(parsed, missing)}, odd
        made = parts_of_dates(parsed, self.origin, self.parts)
        return {part_name(name, part): cells for part, cells in made.items()}, odd

    def to_json(self) -> dict[str, Any]:
        """Return it in terms of JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Convention:
        """Read what :meth:`to_json` gave; the file may be untrusted."""
        known = {field.name for field in fields(cls)}
        if set(data) != known or data["what"] not in _WHAT or data["decimal"] not in (".", ","):
            raise ValueError(f"not a convention of a column: {data!r:.100}")
        if not isinstance(data["unit"], str) or len(data["unit"]) > 20:
            raise ValueError(f"not a unit: {data['unit']!r:.100}")
        if data["what"] == "date":
            np.datetime64(data["origin"], "D")
            if not isinstance(data["pivot"], int) or not 0 <= data["pivot"] <= 100:
                raise ValueError(f"not a two-digit year: {data['pivot']!r:.100}")
            if data["order"] not in ORDERS:
                raise ValueError(f"not an order of dates: {data['order']!r:.100}")
        return replace(
            cls(**data), parts=tuple(map(str, data["parts"])), lenient=bool(data["lenient"]), truth=bool(data["truth"])
        )


@dataclass(frozen=True)
class Reading:
    """A column that was read: its cells, its convention where it is not the usual one, and a message."""

    column: Any
    convention: Convention | None = None
    said: str = ""
    settled_by: str = ""  # the argument that would say what the cells do not
    coded: Any = None  # a column that stayed text, as codes of its different cells
    n_values: int | None = None  # how many different values whole numbers have


# One branch for each form that cells have, in the order in which they are tried.
def read_written(
    column: Any,
    *,
    decimal: str | None = None,
    order: str | None = None,
    number: bool = False,
    file_decimal: str | None = None,
    ask: bool = False,
) -> Reading:
    """Turn a column of text into whole numbers, numbers, truth values, times or dates, where its cells are such.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of strings
        The cells as they were written; null is missing.
    decimal : {".", ","}, optional
        The decimal separator where the cells could be read with either; where only one fits, that one is taken.
    order : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year, likewise.
    number : bool
        Whether the column is known to be numeric: then leading zeros do not make it text.
    file_decimal : {".", ","}, optional
        The decimal separator that the other columns of the file show.
    ask : bool
        Whether 2.781 could be 2781 as well, since the file may be written with decimal commas.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_written(pa.chunked_array([["2230,37", "15,2"]])).said
    'decimal comma'
    >>> read_written(pa.chunked_array([["007", "012"]])).said
    'digits with leading zeros'
    >>> read_written(pa.chunked_array([["12 kg", "3 kg"]])).column.to_pylist()
    [12, 3]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    coded = _coded(column)
    if coded is None:
        return Reading(column)
    counts = sum(np.bincount(_known(chunk.indices), minlength=len(chunk.dictionary)) for chunk in coded.chunks)
    cells = _Cells(pc.utf8_trim_whitespace(coded.chunk(0).dictionary), np.asarray(counts))
    if cells.all(_WHOLE):
        if cells.any(_PADDED) and not number:
            return Reading(column, said="digits with leading zeros", settled_by="kinds")
        if cells.longest <= 18:
            whole = pc.cast(pc.replace_substring_regex(cells.values, r"^\+", ""), pa.int64())
            told = None if decimal is None else Convention("number", decimal, lenient=True)
            numbers = pa.chunked_array([whole.take(chunk.indices) for chunk in coded.chunks])
            return Reading(numbers, told, n_values=len(pc.unique(whole)))
        if not number:
            return Reading(column, said="digits too long for a number")
    wanted = decimal or file_decimal
    if cells.all(f"{PLAIN}|{INFINITE}") and (wanted != "," or cells.share(cells.match(COMMA)) < ENOUGH):
        if ask and wanted is None and cells.all(OPEN_POINT):
            return _open(column, cells, r"\.\d{3}$")
        return Reading(pc.cast(pc.utf8_trim_whitespace(column), pa.float64()))
    if cells.all("^(?i:true|false)$"):
        return Reading(truths_of(column))
    reading = _number(column, cells, wanted, number) or _date(column, cells, order) or _hours(column, cells)
    return reading or _truth(column, cells) or Reading(column, coded=coded)


def _coded(column: Any) -> Any:
    """Return a column of text as codes of its different cells, which are then looked at once; None without any cell."""
    import pyarrow as pa

    coded = column.dictionary_encode()
    coded = coded.unify_dictionaries() if isinstance(coded, pa.ChunkedArray) else pa.chunked_array([coded])
    return coded if coded.num_chunks and len(coded.chunk(0).dictionary) else None


def _known(indices: Any) -> NDArray[Any]:
    return np.asarray(indices.drop_null() if indices.null_count else indices)


def _open(column: Any, cells: _Cells, pattern: str) -> Reading:
    """Return a column of numbers that could be read with either decimal separator, with both readings of a cell."""
    cell = next(text for text in cells.values.to_pylist() if re.search(pattern, text))
    fraction, whole = re.sub(r"[.,]", ".", cell), re.sub(r"[.,]", "", cell)
    return Reading(column, said=f"text: {cell} could be {fraction} or {whole}", settled_by="decimal")


def _unit_in_words(unit: str) -> str:
    return {"%": "percentages", MULTIPLES: "multiplied by the K, M or 万 of a cell"}.get(unit, f"in {unit}")


def argument_for(cell: str, decimal: str = ".") -> str:
    """Return the argument that would settle a cell that is no number: "decimal" where the other separator makes it one.

    >>> argument_for("12,5"), argument_for("n/k")
    ('decimal', 'missing')
    """
    import pyarrow as pa

    other = numbers_of(pa.array([cell]), "," if decimal == "." else ".")
    return "decimal" if other.null_count == 0 else "missing"


def overflows(cell: str) -> bool:
    """Return whether a cell is a number beyond the largest float, which would be read as infinity.

    >>> overflows("1e400"), overflows("inf"), overflows("1e4")
    (True, False, False)
    """
    cell = cell.strip()
    return re.match(PLAIN, cell) is not None and math.isinf(float(cell))


@cache
def _markers(kind: Any) -> Any:
    # Made once: a table of 100,000 columns asks for it as often.
    import pyarrow as pa

    return pa.array(sorted(MARKERS), kind)


class _Cells:
    """The different values of a column, and how many cells have each."""

    def __init__(self, values: Any, counts: NDArray[Any]) -> None:
        import pyarrow.compute as pc

        self.values, self.counts = values, counts
        self.markers = np.asarray(pc.is_in(pc.utf8_lower(values), value_set=_markers(values.type)))
        self.longest = int(pc.max(pc.utf8_length(values)).as_py())

    def with_values(self, values: Any) -> _Cells:
        """Return the same cells in another form."""
        other = copy(self)
        other.values = values
        return other

    def match(self, pattern: str) -> NDArray[np.bool_]:
        """Return for each value whether it matches."""
        import pyarrow.compute as pc

        return np.asarray(pc.match_substring_regex(self.values, pattern))

    def all(self, pattern: str) -> bool:
        """Return whether all cells match."""
        return bool(self.match(pattern).all())

    def any(self, pattern: str) -> bool:
        """Return whether some cell matches."""
        return bool(self.match(pattern).any())

    def share(self, fits: NDArray[np.bool_]) -> float:
        """Return the share of cells that fit, among those that are not a known marker for a missing one."""
        others = self.counts[~self.markers | fits].sum()
        return float(self.counts[fits].sum() / others) if others else 0.0

    def rest(self, known: NDArray[np.bool_]) -> str:
        """Return how many cells are not recognised, with one of them as an example."""
        n = int(self.counts[~known].sum())
        if not n:
            return ""
        most = int(np.where(known, -1, self.counts).argmax())
        cells = "1 cell" if n == 1 else f"{n} cells"
        return f"{cells} such as {self.values[most].as_py()!r} read as missing"


def _number(column: Any, cells: _Cells, decimal: str | None, forced: bool) -> Reading | None:
    import pyarrow.compute as pc

    if not forced and (cells.any(_PADDED) or cells.all(_PHONE)):
        return None
    unit = unit_of(cells.values.to_pylist(), cells.counts.tolist())
    written = cells.with_values(bare(cells.values, unit))
    some = written.match(SOME_DIGIT)
    fits = {".": written.match(POINT) & some, ",": written.match(COMMA) & some}
    sign = _decimal_sign(written, fits, decimal)
    if sign is None:
        return None
    if sign == "":
        return _open(column, written, r"\d,\d{3}")
    known = fits[sign]
    if not forced and not (known | cells.markers).all() and pc.count_distinct(column).as_py() <= FEW_VALUES:
        return None  # codes such as 1, 2, 3, A: as text they lose nothing
    if cells.counts[known].sum() < 2:
        return None
    parsed, _ = (convention := Convention("number", sign, lenient=True, unit=unit)).parse(column)
    groups = "," if sign == "." else "."
    grouped = bool((written.match(rf"\d[{groups} \x{{a0}}\x{{202f}}'’]\d{{3}}") & known).any())
    words = ["decimal comma"] * (sign == ",") + ["thousands separated"] * grouped
    words += [_unit_in_words(unit)] * bool(unit) + [cells.rest(known)]
    whole = pc.all(pc.equal(pc.floor(parsed), parsed)).as_py() and not pc.any(pc.is_inf(parsed)).as_py()
    if whole and pc.max(pc.abs(parsed)).as_py() < 2**53:
        parsed = pc.cast(parsed, "int64")
    return Reading(parsed, convention, ", ".join(filter(None, words)))


def _hours(column: Any, cells: _Cells) -> Reading | None:
    """Read times of day and durations, where enough cells are such."""
    import pyarrow.compute as pc

    some = cells.values.slice(0, _TRIED)
    if not len(some) or hours_column(some).null_count == len(some):
        return None
    known = np.asarray(pc.is_valid(hours_column(cells.values)))
    if cells.share(known) < ENOUGH or cells.counts[known].sum() < 2:
        return None
    convention = Convention("hours", lenient=True)
    words = [convention.described, cells.rest(known)]
    return Reading(convention.parse(column)[0], convention, ", ".join(filter(None, words)))


def _truth(column: Any, cells: _Cells) -> Reading | None:
    """Read forms of yes and no, where a column has several of them."""
    if len(cells.values) > _TRIED:
        return None
    texts = [text for text, mark in zip(cells.values.to_pylist(), cells.markers, strict=True) if not mark]
    if not mixes_forms(texts):
        return None
    convention = Convention("truth", lenient=True)
    return Reading(convention.parse(column)[0], convention, "forms of yes and no: " + ", ".join(map(repr, texts[:6])))


def _decimal_sign(cells: _Cells, fits: dict[str, NDArray[np.bool_]], given: str | None) -> str | None:
    """Return the decimal separator of a column of numbers; None where it holds none, "" where either would do."""
    able = [sign for sign, fitting in fits.items() if cells.share(fitting) >= ENOUGH]
    if given in able:
        return given
    if len(able) < 2:
        return able[0] if able else None
    only_point, only_comma = (fits["."] & ~fits[","]).any(), (fits[","] & ~fits["."]).any()
    if only_point != only_comma:
        return "." if only_point else ","
    return "" if only_point or cells.any(r"^[+-]?[1-9]\d{0,2},\d{3}$") else "."


def _date(column: Any, cells: _Cells, order: str | None) -> Reading | None:
    order, known = find_order(cells.values, np.where(cells.markers, 0, cells.counts), order, ENOUGH)
    if order is None:
        return None
    if order == "":
        return Reading(column, said="text: 2/3/2019 could be in February or in March", settled_by="date_order")
    import pyarrow as pa
    import pyarrow.compute as pc

    pivot, years = pivot_of(cells.values, order)
    convention = Convention("date", lenient=True, order=order, pivot=POSIX if pivot is None else pivot)
    parsed, _ = convention.parse(column)
    convention = replace(convention, origin=str(np.datetime64(pc.min(parsed).as_py(), "D")))
    said = ", ".join(filter(None, [years, cells.rest(known)]))
    return Reading(pc.cast(parsed, pa.timestamp("s")), convention, said)
