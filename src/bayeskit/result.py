"""How results look: in a notebook, and numbers with the digits that mean something."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from bayeskit.language import label, translated

# What supports a class and what speaks against it, in terminals, notebooks, pictures, reports and the web page: two
# colours that people who confuse red and green can tell apart (Okabe & Ito 2008).
FOR, AGAINST = "#0072B2", "#D55E00"
# Lines of a table that are shown; the result holds them all.
MOST_LINES = 60
# Numbers of an array that are shown in a line.
MOST_CELLS = 12


class Result:
    """A result that a notebook shows as it prints, with everything in it escaped.

    A dataclass with ``repr=False`` prints its fields with short numbers, and large arrays by their shape.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True, repr=False)
    ... class Found(Result):
    ...     threshold: float
    ...     names: tuple[str, ...]
    >>> Found(23.500000000007276, ("age",))
    Found(threshold=23.5, names=('age',))
    """

    def __repr__(self) -> str:
        shown = ((field.name, getattr(self, field.name)) for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return fields_text(type(self).__name__, shown)

    def _repr_html_(self) -> str:
        return html_text(str(self))


def fields_text(name: str, items: Iterable[tuple[str, Any]]) -> str:
    """Return a name and its fields, with short numbers, and large arrays by their shape."""
    return f"{name}({', '.join(f'{field}={_in_short(value)}' for field, value in items)})"


def _in_short(value: Any) -> str:
    value = plain(value)
    if isinstance(value, float):
        return short(value)
    if isinstance(value, np.ndarray):
        if value.size > MOST_CELLS:
            return f"<array of shape {value.shape}>"
        return _in_short(value.tolist())
    if type(value) in (tuple, list):
        inside = ", ".join(map(_in_short, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside}{',' * (len(value) == 1)})"
    if type(value) is dict:
        return f"{{{', '.join(f'{key!r}: {_in_short(item)}' for key, item in value.items())}}}"
    return repr(value)


def html_text(text: str) -> str:
    """Return text as HTML that keeps its lines.

    >>> html_text("P(<b>) = 1")
    '<pre style="white-space:pre-wrap">P(&lt;b&gt;) = 1</pre>'
    """
    return f'<pre style="white-space:pre-wrap">{html.escape(text)}</pre>'


def html_table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table as HTML: the first column holds names, the others are aligned to the right.

    >>> html_table(("state", "P"), [("<a>", "0.5")])
    '<table><thead><tr><th>state</th><th>P</th></tr></thead><tbody><tr><th>&lt;a&gt;</th><td>0.5</td></tr></tbody></table>'
    """
    titled = f"<caption>{html.escape(translated(caption))}</caption>" if caption else ""
    top = "".join(f"<th>{html.escape(label(cell))}</th>" for cell in head)
    body = "".join(
        f"<tr><th>{html.escape(first)}</th>{''.join(f'<td>{html.escape(cell)}</td>' for cell in rest)}</tr>"
        for first, *rest in rows
    )
    return f"<table>{titled}<thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def text_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table as text in columns.

    >>> print(text_table(("state", "P"), [("yes", "0.25"), ("no", "0.75")]))
    state  P
    yes    0.25
    no     0.75
    """
    lines = [list(map(label, head)), *rows]
    widths = [max(text_width(line[k]) for line in lines) for k in range(len(head))]
    cells = ((pad(cell, n) for cell, n in zip(line, widths, strict=True)) for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in cells)


def text_width(text: str) -> int:
    """Return the width of a text in terminal cells; a Chinese character takes two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def pad(text: str, places: int) -> str:
    """Return the text padded with spaces to a width in terminal cells."""
    return text + " " * (places - text_width(text))


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python value."""
    return value.item() if isinstance(value, np.generic) else value


def fixed(number: float) -> str:
    """Return a probability or a risk in four decimal places, without a sign where these are zero.

    >>> fixed(0.03382), fixed(-1e-17), fixed(-0.0029)
    ('0.0338', '0.0000', '-0.0029')
    """
    return f"{round(number, 4) + 0.0:.4f}"


def short(value: Any) -> str:
    """Return a value as short text: a number in six digits, without a sign where these are zero.

    >>> short(23.500000000007276), short(np.float64(-0.0)), short("yes"), short(1234567)
    ('23.5', '0', 'yes', '1234567')
    """
    value = plain(value)
    return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)
