"""Dates: the order of day, month and year in a column, and the columns made from them."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.written_dates import POSIX, date_in_words

if TYPE_CHECKING:
    import pyarrow as pa

ORDERS = {"ymd": "year-month-day", "dmy": "day.month.year", "mdy": "month/day/year"}
WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
# Parts of a date that are categories, and those that are amounts.
CATEGORIES = ("month", "weekday", "hour")
AMOUNTS = ("year", "days")

# Years from now on that a date may be planned for, and years between the dates of one column that are all of one sort.
PLANNED, LIFETIME = 10, 50

# Different cells that are tried before a column is taken for dates.
_TRIED = 200

_TIME = r"(?:[ T](?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?$"
YEAR_FIRST = r"^(?P<a>\d{4})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{1,2})" + _TIME
YEAR_LAST = r"^(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<c>\d{4})" + _TIME


def part_name(column: str, part: str) -> str:
    """Return the name of the column that holds one part of a date.

    >>> part_name("sold", "month")
    'sold (month)'
    """
    return f"{column} ({part})"


def find_order(
    texts: Any, counts: NDArray[Any], order: str | None, enough: float
) -> tuple[str | None, NDArray[np.bool_]]:
    """Return the order in which texts are dates and which of them are; None where they are none, "" where two fit.

    Parameters
    ----------
    texts : pyarrow.Array of strings
        The different cells.
    counts : array of shape (n_texts,)
        The count of each; 0 for a marker of a missing cell.
    order : str, optional
        The order that the user gave, which is taken where it fits.
    enough : float
        The share of cells that must be dates.

    Examples
    --------
    >>> import pyarrow as pa
    >>> find_order(pa.array(["2/16/2019", "3/1/2019"]), np.array([1, 1]), None, 0.95)[0]
    'mdy'
    """
    import pyarrow.compute as pc

    nothing = np.zeros(len(texts), dtype=bool)
    if not may_be_dates(texts) or _may_be_versions(texts):
        return None, nothing
    year_last = year_last_of(texts)
    fitting: dict[str, NDArray[np.bool_]] = {}
    for name in ("dmy", "mdy") if (year_last & (counts > 0)).any() else ("ymd",):
        known = np.asarray(pc.is_valid(dates_of(texts, name)))
        if known.any() and counts[known].sum() >= enough * counts.sum():
            fitting[name] = known
    if order in fitting:
        return order, fitting[order]
    if not fitting:
        return None, nothing
    if len(fitting) == 2:
        # 31.12.2019 is day first wherever dots are written; otherwise the better fit decides, if there is one.
        both = {name: int(counts[known].sum()) for name, known in fitting.items()}
        if np.asarray(pc.match_substring_regex(texts, r"^\s*\d{1,2}\.\d{1,2}\.")).any():
            return "dmy", fitting["dmy"]
        if both["dmy"] == both["mdy"]:
            return "", nothing
        best = max(both, key=lambda name: both[name])
        return best, fitting[best]
    name, known = next(iter(fitting.items()))
    return name, known


def may_be_dates(texts: Any) -> bool:
    """Return whether some of the first different cells are dates, so that long lists of names are not tried as such."""
    some = texts.slice(0, _TRIED)
    return any(dates_of(some, order).null_count < len(some) for order in ("dmy", "mdy"))


def _may_be_versions(texts: Any) -> bool:
    """Return whether texts such as 3.10.12 show no day beyond 12 and no leading zero, as dates would."""
    import pyarrow.compute as pc

    def some(pattern: str) -> bool:
        return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())

    dotted = r"^\s*\d{1,2}\.\d{1,2}\.\d{2}\b"
    as_dates_are = r"^\s*(0\d|1[3-9]|[23]\d)\.|^\s*\d{1,2}\.0\d\.|\.\d{4}\b|\d[-/:]\d|\d.*[A-Za-z]{3}.*\d"
    return some(dotted) and not some(as_dates_are)


def pivot_of(texts: Any, order: str) -> tuple[int | None, str]:
    """Return the first two-digit year that is of the last century, and the years that these become in words.

    It is 69, as POSIX has it, unless some date would then be far in the future, or in it beside some of long ago: then
    all are past, as births are. None where all years have four digits.

    >>> import pyarrow as pa
    >>> pivot_of(pa.array(["2/7/98", "3/7/21"]), "dmy"), pivot_of(pa.array(["2/7/2019"]), "dmy")
    ((69, 'two-digit years as 1998 to 2021'), (None, ''))
    >>> pivot_of(pa.array(["2/7/67", "31/7/58"]), "dmy")[1]
    'two-digit years as 1958 to 1967'
    """
    import pyarrow.compute as pc

    texts = texts.filter(pc.invert(pc.match_substring_regex(texts, r"\d{4}")))
    years = pc.year(dates_of(texts, order)).drop_null()
    if not len(years):
        return None, ""
    first, last = pc.min_max(years).as_py().values()
    now = datetime.date.today().year
    pivot = POSIX
    if last > now + PLANNED or (last > now and last - first > LIFETIME):
        pivot = now % 100 + 1
        first, last = pc.min_max(pc.year(dates_of(texts, order, pivot))).as_py().values()
    return pivot, f"two-digit years as {first} to {last}"


def year_last_of(texts: Any) -> NDArray[np.bool_]:
    """Return which texts are dates whose day and month are told apart by an order only."""
    import pyarrow.compute as pc

    numeric = pc.match_substring_regex(pc.utf8_trim_whitespace(texts), r"^\d{1,2}[-/.]\d{1,2}[-/.]\d{2}(\d{2})?\b")
    return np.asarray(pc.fill_null(numeric, False))


def dates_of(texts: Any, order: str, pivot: int = POSIX) -> pa.Array:
    """Return texts as seconds since 1970, null where one is not a date in this order.

    >>> import pyarrow as pa
    >>> dates_of(pa.array(["16.02.2019", "30.02.2019"]), "dmy").to_pylist()
    [datetime.datetime(2019, 2, 16, 0, 0), None]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    moments = _numeric_dates(texts, YEAR_FIRST, "abc")
    if order != "ymd":
        last = _numeric_dates(texts, YEAR_LAST, {"dmy": "cba", "mdy": "cab"}[order])
        moments = pc.coalesce(moments, last)
    # What is left is written in words, if it is a date at all: one text at a time.
    rest = np.flatnonzero(np.asarray(pc.and_(pc.is_null(moments), pc.is_valid(texts))))
    if not len(rest):
        return moments
    made = moments.to_numpy(zero_copy_only=False).copy()
    for place, text in zip(rest.tolist(), texts.take(pa.array(rest)).to_pylist(), strict=True):
        if (moment := date_in_words(text, order, pivot)) is not None:
            made[place] = np.datetime64(moment, "s")
    return pa.array(made, type=pa.timestamp("s"), from_pandas=True)


def _numeric_dates(texts: Any, pattern: str, order: str) -> pa.Array:
    """Return the texts that match a pattern of three numbers as moments; ``order`` says which are year, month, day."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fields = pc.extract_regex(texts, pattern)

    def field(name: str) -> NDArray[np.int64]:
        part = pc.struct_field(fields, name)
        part = pc.if_else(pc.equal(part, ""), "0", part)
        return np.asarray(pc.fill_null(pc.cast(part, pa.int64()), 0))

    year, month, day = (field(part) for part in order)
    seconds = 3600 * field("hour") + 60 * field("minute") + field("second")
    real = np.asarray(pc.is_valid(fields)) & (month >= 1) & (month <= 12) & (day >= 1) & (day <= 31) & (year > 0)
    real &= (field("hour") < 24) & (field("minute") < 60) & (field("second") < 61)
    months = (np.where(real, year, 1970) - 1970) * 12 + np.where(real, month, 1) - 1
    start = months.astype("datetime64[M]")
    days = start.astype("datetime64[D]") + (np.where(real, day, 1) - 1)
    real &= days.astype("datetime64[M]") == start  # there is no 30 February
    moments = days.astype("datetime64[s]") + seconds
    return pa.array(moments, type=pa.timestamp("s"), mask=~real)


def moments_of(column: Any) -> Any:
    """Return Arrow dates as seconds; those of a time zone as the clock shows them there, as text would.

    >>> import pyarrow as pa
    >>> moments_of(pa.array([0], pa.timestamp("s", "Asia/Tokyo"))).to_pylist()
    [datetime.datetime(1970, 1, 1, 9, 0)]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_timestamp(column.type) and column.type.tz:
        column = pc.local_timestamp(column)
    return pc.cast(column, pa.timestamp("s"), safe=False)


def parts_of_dates(column: Any, origin: str, parts: tuple[str, ...] | None = None) -> dict[str, pa.Array]:
    """Return the parts of a column of dates: year, month, weekday, days since ``origin``, and the hour if it differs.

    Parameters
    ----------
    column : pyarrow array of timestamps
        The dates; null is missing.
    origin : str
        The day from which days are counted, such as "2019-01-01".
    parts : tuple of str, optional
        Which parts; all by default.

    Examples
    --------
    >>> import pyarrow as pa
    >>> moments = pa.array(np.array(["2019-02-16", "2019-03-01"], dtype="datetime64[s]"))
    >>> {name: part.to_pylist() for name, part in parts_of_dates(moments, "2019-02-16").items()}["weekday"]
    ['Sat', 'Fri']
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    moments = moments_of(column)
    hour = pc.hour(moments)
    days = np.datetime64(origin, "D").astype(np.int64)
    since = pc.cast(pc.floor(pc.divide(pc.cast(pc.cast(moments, pa.int64()), pa.float64()), 86400.0)), pa.int64())
    made = {
        "year": pc.year(moments),
        "month": pc.month(moments),
        "weekday": pa.array(WEEKDAYS).take(pc.day_of_week(moments)),
        "days": pc.subtract(since, int(days)),
        "hour": hour,
    }
    if parts is None:
        parts = tuple(made) if pc.count_distinct(hour).as_py() > 1 else ("year", "month", "weekday", "days")
    return {name: made[name] for name in parts}
