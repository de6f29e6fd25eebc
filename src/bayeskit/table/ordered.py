"""Text values with an order of their own: ranges such as 30-39, and words such as low, medium, high."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import inf

# Each scale from its low end to its high end; words on one place mean the same.
_SCALES = tuple(
    tuple(place.split("|") for place in scale.split(", "))
    for scale in (
        "very low, low, medium|moderate|normal|average|mid, high, very high",
        "xxs, xs, s, m, l, xl, xxl|2xl, xxxl|3xl",
        "extra small|very small|tiny, small, medium, large|big, extra large|very large|huge",
        "never, rarely|seldom, sometimes|occasionally, often|frequently, usually, always",
        "strongly disagree, disagree, neutral|neither|neither agree nor disagree, agree, strongly agree",
        "very dissatisfied, dissatisfied, neutral, satisfied, very satisfied",
        "very poor|very bad, poor|bad, fair|average|ok, good, very good, excellent",
        "none|no, mild|slight, moderate, severe|strong, very severe|extreme",
        "cold, cool, mild, warm, hot",
        "bronze, silver, gold, platinum, diamond",
        "jan|january, feb|february, mar|march, apr|april, may, jun|june, jul|july, aug|august, sep|sept|september, "
        "oct|october, nov|november, dec|december",
        "mon|monday, tue|tues|tuesday, wed|wednesday, thu|thur|thurs|thursday, fri|friday, sat|saturday, sun|sunday",
        "很低|极低, 低, 中|中等|一般, 高, 很高|极高",
        "小, 中, 大",
        "很差, 差, 一般|中, 良|好, 优|很好",
    )
)
_NUMBER = r"[+-]?\d+(?:[.,]\d+)?"
_RANGE = re.compile(rf"^(?P<low>{_NUMBER})\s*(?:-|–|—|\bto\b|\bbis\b|至|~|\.\.)\s*(?P<high>{_NUMBER})\s*\D{{0,12}}$")
_BELOW = re.compile(rf"^(?:<=?|≤|under|below|less than|up to|bis)\s*(?P<high>{_NUMBER})\s*\D{{0,12}}$", re.IGNORECASE)
_ABOVE = re.compile(
    rf"^(?:(?:>=?|≥|over|above|more than|at least|ab)\s*(?P<low>{_NUMBER})|(?P<least>{_NUMBER})\s*"
    r"(?:\+|and more|or more|and over))\s*\D{0,12}$",
    re.IGNORECASE,
)
# Fewer values have no order worth a word, and more are hardly a scale.
LEAST, MOST = 3, 60


def ordered_levels(values: Sequence[str]) -> tuple[str, ...] | None:
    """Return values in their own order, where they are ranges of numbers or words of one scale; None otherwise.

    >>> ordered_levels(["high", "low", "medium"])
    ('low', 'medium', 'high')
    >>> ordered_levels(["65+", "under 18", "18-40", "41-64"])
    ('under 18', '18-40', '41-64', '65+')
    """
    if not LEAST <= len(values) <= MOST:
        return None
    places = _on_a_scale(values) or _ranges(values)
    return None if places is None else tuple(value for _, value in sorted(zip(places, values, strict=True)))


def _on_a_scale(values: Sequence[str]) -> list[tuple[float, float]] | None:
    words = [" ".join(value.casefold().split()) for value in values]
    for scale in _SCALES:
        place = {word: float(k) for k, same in enumerate(scale) for word in same}
        if all(word in place for word in words):
            return [(place[word], 0.0) for word in words]
    return None


def _ranges(values: Sequence[str]) -> list[tuple[float, float]] | None:
    ends = [_ends(value.strip()) for value in values]
    real = [end for end in ends if end is not None]
    if len(real) < len(values) or not any(-inf < low < high < inf for low, high in real):
        return None
    return real


def _ends(text: str) -> tuple[float, float] | None:
    if (match := _RANGE.match(text)) is not None:
        low, high = _float(match["low"]), _float(match["high"])
        return (low, high) if low <= high else None
    if (match := _BELOW.match(text)) is not None:
        return -inf, _float(match["high"])
    if (match := _ABOVE.match(text)) is not None:
        return _float(match["low"] or match["least"]), inf
    return (_float(text), _float(text)) if re.fullmatch(_NUMBER, text) else None


def _float(text: str) -> float:
    return float(text.replace(",", "."))
