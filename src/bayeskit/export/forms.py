"""How cells of text become numbers, dates, hours and truth values: patterns with groups, the same for each engine.

They are those that the reader uses. An engine needs regular expressions without options and without looking around.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from bayeskit.table.conventions import Convention
from bayeskit.table.dates import YEAR_FIRST, YEAR_LAST
from bayeskit.table.durations import CLOCK, IN_WORDS, ISO
from bayeskit.table.number_cells import COMMA, POINT, SPACES, powers, rewrites
from bayeskit.table.truth_cells import FORMS as TRUTHS
from bayeskit.table.written_dates import MONTHS, NUMBER_FORMS, WORD_FORMS

# White space around a cell, which is no part of it, and blanks as a pattern has them.
WHITE = "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(
    map(chr, range(0x2000, 0x200B))
)
BLANK = " \t\n\f\r"
# A letter of any language in Python's patterns, and as ranges, which every engine reads alike and compiles at once.
_LETTER, _RANGES = r"[^\W\d_]", "[A-Za-zÀ-ÖØ-öø-\u1fff\u3040-\ufeff]"


@dataclass(frozen=True)
class Form:
    """A pattern of whole cells, and the number of the group that holds each field."""

    pattern: str
    groups: dict[str, int]
    is_wide: bool = False  # whether wide forms of plain characters are read too
    is_lower: bool = False  # whether the cell is read in lower case


@dataclass(frozen=True)
class NumberForm:
    """How a cell of text becomes a number: rewritten, multiplied by a power of ten, without what groups its digits."""

    rewrites: tuple[tuple[str, str], ...]
    must_rewrite: bool  # whether a cell that the last of them does not change is no number
    powers: tuple[tuple[str, int], ...]  # pattern of the cell as it is written ("" for all), and the exponent
    pattern: str  # what is left must be this, and have a digit
    without: str  # the characters that group digits
    decimal: str


def number_form(convention: Convention) -> NumberForm:
    """Return how the cells of a column of numbers are read.

    >>> number_form(Convention("number", ",")).without[0]
    '.'
    """
    unit, point = convention.unit, convention.decimal == "."
    group = "," if point else "."
    return NumberForm(
        rewrites(unit), unit == "%", powers(unit), POINT if point else COMMA, f"{group} {SPACES}", convention.decimal
    )


def date_forms(order: str) -> tuple[Form, ...]:
    """Return the forms of dates in the order in which they are tried: the first that fits decides.

    >>> [form.groups["year"] for form in date_forms("dmy")][:2]
    [1, 3]
    """
    forms = [_form(YEAR_FIRST, {"year": "a", "month": "b", "day": "c"}, leap=True)]
    day, month = ("a", "b") if order == "dmy" else ("b", "a")
    if order != "ymd":
        forms.append(_form(YEAR_LAST, {"year": "c", "month": month, "day": day}, leap=True))
    forms += [_form(pattern, {}, is_wide=True) for pattern in WORD_FORMS]
    if order != "ymd":
        forms += [_form(pattern, {"month": month, "day": day}, is_wide=True) for pattern in NUMBER_FORMS]
    return tuple(forms)


def hour_forms() -> tuple[Form, ...]:
    """Return the forms of times and durations: a clock, an ISO duration, a duration in words."""
    return _form(CLOCK, {}), _form(ISO, {}), _form(IN_WORDS, {}, is_lower=True)


def _form(
    pattern: str, said: dict[str, str], *, leap: bool = False, is_wide: bool = False, is_lower: bool = False
) -> Form:
    """Return a form without names of groups; ``leap`` says that the second 60 may come."""
    numbers = re.compile(pattern).groupindex
    groups = {name: number for name, number in numbers.items() if name not in "abc" or not said}
    groups |= {field: numbers[name] for field, name in said.items()}
    if leap:
        groups["leap"] = 0
    plain = re.sub(r"\(\?P<\w+>", "(", pattern).replace(_LETTER, _RANGES)
    return Form(plain, groups, is_wide, is_lower)


def truth_words() -> dict[str, bool]:
    """Return the forms of yes and no as an engine compares them that puts plain letters into lower case only."""
    words = {}
    for form, truth in TRUTHS.items():
        for written in (form, form.upper(), form.capitalize()):
            words[_plain_lower(written)] = truth
    return words


def month_words() -> dict[int, list[str]]:
    """Return the names of each month, as an engine compares them that puts plain letters into lower case only."""
    words: dict[int, list[str]] = {}
    for name, number in MONTHS.items():
        words.setdefault(number, []).extend(
            dict.fromkeys(_plain_lower(form) for form in (name, name.upper(), name.capitalize()))
        )
    return words


def _plain_lower(word: str) -> str:
    return "".join(letter.lower() if letter.isascii() else letter for letter in word)
