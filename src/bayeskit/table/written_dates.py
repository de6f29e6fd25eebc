"""Dates in words, in Chinese, as ISO weeks and quarters, with two-digit years: one text at a time."""

from __future__ import annotations

import datetime
import re

# Month names and their short forms in English, German, French, Spanish, Italian and Portuguese.
_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro",
    "february feb februar feber février fevrier févr fevr febrero febbraio fevereiro fev",
    "march mar märz maerz mrz mars marzo março marco",
    "april apr avril avr abril abr aprile",
    "may mai mayo maggio mag maio",
    "june jun juni juin junio giugno giu junho",
    "july jul juli juillet juil julio luglio lug julho",
    "august aug août aout agosto ago",
    "september sep sept septembre septiembre settembre set setembro",
    "october oct oktober okt octobre octubre ottobre ott outubro out",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre déc diciembre dic dicembre dezembro",
)
MONTHS = {name: number for number, names in enumerate(_NAMES, 1) for name in names.split()}
_TIME = (
    r"(?:[\sT,]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?\s*(?P<half>[AaPp]\.?[Mm]\.?)?Z?)?$"
)
_DAY_FIRST = (
    r"(?P<day>\d{1,2})(?:st|nd|rd|th|\.)?[\s/-]*(?:of\s+|de\s+)?(?P<name>[^\W\d_]{3,})\.?[,\s/-]*(?:de\s+)?"
    r"(?P<year>\d{4}|\d{2})"
)
_WEEKDAY = r"^(?:[^\W\d_]{2,10}[.,]{0,2}\s+)?"
WORD_FORMS = tuple(
    pattern + _TIME
    for pattern in (
        _WEEKDAY + _DAY_FIRST,
        _WEEKDAY + r"(?P<name>[^\W\d_]{3,})\.?\s+(?P<day>\d{1,2})(?:st|nd|rd|th)?,?\s+(?P<year>\d{4})",
        r"^(?P<name>[^\W\d_]{3,})\.?[\s/-]+(?P<year>\d{4})",
        r"^(?P<year>\d{4})\s*年\s*(?P<month>\d{1,2})\s*月(?:\s*(?P<day>\d{1,2})\s*[日号號])?",
        r"^(?P<year>(?:1[89]|2[01])\d{2})[-/](?P<month>\d{2})",  # 4781-7 is a code
        r"^(?P<year>\d{4})-?W(?P<week>\d{2})(?:-?(?P<weekday>[1-7]))?",
        r"^(?P<year>\d{4})[\s/-]?Q(?P<quarter>[1-4])",
        r"^Q(?P<quarter>[1-4])[\s/-]?(?P<year>\d{4})",
    )
)
# Day and month, in either order, with one sign between the numbers.
NUMBER_FORMS = tuple(
    rf"^(?P<a>\d{{1,2}}){sign}(?P<b>\d{{1,2}}){sign}(?P<year>\d{{4}}|\d{{2}})" + _TIME for sign in ("-", "/", r"\.")
)
_WORDS, _NUMBERS = (tuple(map(re.compile, forms)) for forms in (WORD_FORMS, NUMBER_FORMS))
# Wide forms of the plain characters, and those.
WIDE, PLAIN = "".join(chr(0xFF01 + k) for k in range(94)) + "\u3000", "".join(chr(0x21 + k) for k in range(94)) + " "
_PLAIN_OF = str.maketrans(WIDE, PLAIN)


# Two-digit years from here on are of the 20th century, as POSIX reads them.
POSIX = 69


def date_in_words(text: str, order: str, pivot: int = POSIX) -> datetime.datetime | None:
    """Return a date that is not written as three plain numbers with a four-digit year; None where the text is none.

    >>> date_in_words("27 Dec 2023", "ymd").date().isoformat()
    '2023-12-27'
    >>> date_in_words("2023年12月27日", "ymd") == date_in_words("Dec 27th, 2023", "ymd") == date_in_words(
    ...     "27/12/23", "dmy"
    ... )
    True
    >>> date_in_words("2023-W52", "ymd").date().isoformat(), date_in_words("2023 Q4", "ymd").month
    ('2023-12-25', 10)
    >>> date_in_words("2/7/67", "dmy").year, date_in_words("2/7/67", "dmy", pivot=27).year
    (2067, 1967)
    """
    text = text.strip().translate(_PLAIN_OF)
    for pattern in _WORDS:
        if (match := pattern.match(text)) is not None:
            return _moment(match.groupdict(), pivot)
    for pattern in _NUMBERS if order in ("dmy", "mdy") else ():
        if (match := pattern.match(text)) is not None:
            parts = match.groupdict()
            day, month = ("a", "b") if order == "dmy" else ("b", "a")
            return _moment({**parts, "day": parts[day], "month": parts[month]}, pivot)
    return None


def is_year_last(text: str) -> bool:
    """Return whether a text is a date whose day and month are told apart by an order only, such as 3/4/23."""
    text = text.strip().translate(_PLAIN_OF)
    return any(pattern.match(text) is not None for pattern in _NUMBERS)


def _moment(parts: dict[str, str | None], pivot: int) -> datetime.datetime | None:
    year = int(parts["year"] or 0)
    if len(str(parts["year"])) == 2:
        year += 2000 if year < pivot else 1900
    hour = int(parts.get("hour") or 0)
    if half := parts.get("half"):
        hour = hour % 12 + (12 if half[0] in "pP" else 0)
    try:
        if parts.get("week"):
            day = datetime.datetime.fromisocalendar(year, int(str(parts["week"])), int(parts.get("weekday") or 1))
        else:
            month = int(parts.get("month") or 1)
            if name := parts.get("name"):
                month = MONTHS.get(name.casefold(), 0)
            if quarter := parts.get("quarter"):
                month = 3 * int(quarter) - 2
            day = datetime.datetime(year, month, int(parts.get("day") or 1))
        return day.replace(hour=hour, minute=int(parts.get("minute") or 0), second=int(parts.get("second") or 0))
    except ValueError:
        return None
