"""Times of day and durations, as hours."""

from __future__ import annotations

import re
from typing import Any

# Times of day, ISO durations and durations in words; letters in any case but for those of ISO.
CLOCK = r"^(?P<sign>-?)(?P<h>\d{1,4}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d(?:[.,]\d+)?))?\s*(?P<half>[aApP]\.?[mM]\.?)?$"
ISO = r"^P(?:(?P<w>\d+)W)?(?:(?P<d>\d+)D)?(?:T(?:(?P<h>\d+)H)?(?:(?P<m>\d+)M)?(?:(?P<s>\d+(?:\.\d+)?)S)?)?$"
IN_WORDS = (
    r"^(?:(?P<d>\d+)\s*(?:d|days?)\.?,?\s*)?(?:(?P<h>\d+)\s*(?:h|hrs?|hours?|std)\.?,?\s*)?"
    r"(?:(?P<m>\d+)\s*(?:m|min|mins|minutes?)\.?,?\s*)?(?:(?P<s>\d+)\s*(?:s|sec|secs|seconds?)\.?)?$"
)
HOURS_IN = {"w": 168.0, "d": 24.0, "h": 1.0, "m": 1 / 60, "s": 1 / 3600}
_CLOCK, _ISO, _WORDS = re.compile(CLOCK), re.compile(ISO), re.compile(IN_WORDS)


def hours_of(text: str) -> float | None:
    """Return a time of day or a duration as hours; None where the text is neither.

    >>> hours_of("13:45"), hours_of("1:30 pm"), hours_of("PT90M"), hours_of("2h 30m"), hours_of("25:61")
    (13.75, 13.5, 1.5, 2.5, None)
    """
    text = text.strip()
    if (clock := _CLOCK.match(text)) is not None:
        hours = int(clock["h"])
        if clock["half"]:
            if not 1 <= hours <= 12:
                return None
            hours = hours % 12 + (12 if clock["half"][0] in "pP" else 0)
        seconds = float((clock["s"] or "0").replace(",", "."))
        total = hours + int(clock["m"]) / 60 + seconds / 3600
        return -total if clock["sign"] else total
    match = _ISO.match(text) or _WORDS.match(text.lower())
    if match is None or not any(match.groupdict().values()):
        return None
    return sum(float(number) * HOURS_IN[part] for part, number in match.groupdict().items() if number)


def hours_column(texts: Any) -> Any:
    """Return different texts as hours, null where one is neither a time nor a duration."""
    import pyarrow as pa

    return pa.array([None if text is None else hours_of(text) for text in texts.to_pylist()], pa.float64())
