"""Numbers in words, the same on the screen and in the report."""

from __future__ import annotations

from bayeskit.language import get_language, translated


def seconds(value: float) -> str:
    """Return a time in the unit in which it is easily read.

    >>> seconds(0.0123), seconds(2.5)
    ('12 ms', '2.5 s')
    """
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"


def percent(share: float) -> str:
    """Return a share as a percentage; zero is a dash.

    >>> percent(0), percent(0.0004), percent(0.25)
    ('–', '<0.1 %', '25.0 %')
    """
    if not share:
        return "–"
    return "<0.1 %" if share < 0.001 else f"{100 * share:.1f} %"


def count(n: int, noun: str) -> str:
    """Return a number and its noun, in the plural where it is not one.

    >>> count(1, "row"), count(2, "class")
    ('1 row', '2 classes')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}{'es' if noun.endswith(('s', 'ch')) else 's'}"


def clauses(text: str) -> str:
    """Return a reason of several parts in the language of the reader, each part by itself.

    >>> clauses("numbers with fractions; decimal comma, in kg")
    'numbers with fractions; decimal comma, in kg'
    """
    return ("；" if get_language() == "zh" else "; ").join(map(translated, text.split("; ")))


def number(value: float, digits: int = 4) -> str:
    """Return a number as people write it: without an exponent unless it is very small or very large.

    >>> number(10580.4), number(0.01234567), number(3.0), number(-1.5e12)
    ('10,580', '0.01235', '3', '-1.5e+12')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    if not 1 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    text = f"{value:,.{max(digits - len(str(int(abs(value)))), 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
