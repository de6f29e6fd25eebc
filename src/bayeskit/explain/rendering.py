"""Explanations made to be read: in a terminal (rich where it is installed), as plain text, and in a notebook."""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterable
from io import StringIO
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bayeskit.language import label as translated_label
from bayeskit.language import translated
from bayeskit.result import AGAINST, FOR, pad, text_width

if TYPE_CHECKING:
    from bayeskit.explain.explanation import Explanation

_AXIS = "position:relative;width:12em;height:1em;background:linear-gradient(#999,#999) center/1px 100% no-repeat"
BAR = 8  # characters on each side of the axis


class _Line(NamedTuple):
    """A line of an explanation; prior and posterior have no term."""

    label: str
    number: str
    bar: str
    term: float | None


def text(explanation: Explanation) -> str:
    """Return the explanation as plain text, one line per feature, with a bar towards the class that it supports."""
    lines = _lines(explanation)
    places = max(24, *(text_width(line.label) for line in lines))
    body = [f"{pad(label, places)}  {number:>7}  {bar}".rstrip() for label, number, bar, _ in lines]
    return "\n".join([_title(explanation), *body])


def in_terminal(explanation: Explanation) -> str:
    """Return the explanation with colours, when rich is installed and the output is a terminal; "" otherwise."""
    return with_colours(lambda: [rich_table(explanation)])


def with_colours(make: Callable[[], Iterable[Any]]) -> str:
    """Return what rich prints of its objects, when it is installed and the output is a terminal; "" otherwise."""
    if not sys.stdout.isatty():
        return ""
    try:
        from rich.console import Console
    except ImportError:
        return ""
    page = StringIO()
    console = Console(file=page, force_terminal=True)
    for shown in make():
        console.print(shown)
    return page.getvalue().rstrip("\n")


def rich_table(explanation: Explanation) -> Any:
    """Return the explanation as a rich table."""
    from rich.markup import escape
    from rich.table import Table

    table = Table(title=escape(_title(explanation)), title_justify="left", box=None, show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_column()
    for label, number, bar, term in _lines(explanation):
        style = "bold" if term is None else FOR if term > 0 else AGAINST if term < 0 else "dim"
        table.add_row(escape(label), number, escape(bar), style=style)
    return table


def html_table(explanation: Explanation) -> str:
    """Return the explanation as an HTML table; all names and values are escaped."""
    longest = _longest(explanation)
    rows = []
    for label, number, bar, term in _lines(explanation):
        drawn = html.escape(bar.strip("│ "))
        if term is not None:
            share = 50 * min(abs(term) / longest, 1.0)
            side, colour = ("left", FOR) if term > 0 else ("right", AGAINST)
            inner = f"position:absolute;{side}:50%;width:{share:.1f}%;height:100%;background:{colour}"
            drawn = f'<div style="{_AXIS}"><div style="{inner}"></div></div>'
        rows.append(
            f'<tr><td style="text-align:left">{html.escape(label)}</td><td style="text-align:right">'
            f"{html.escape(number)}</td><td>{drawn}</td></tr>"
        )
    return f"<table><caption>{html.escape(_title(explanation))}</caption><tbody>{''.join(rows)}</tbody></table>"


def _title(explanation: Explanation) -> str:
    first, second = explanation.classes
    return translated(f"log-odds of {first} over {second}")


def _longest(explanation: Explanation) -> float:
    finite = np.abs(explanation.terms[np.isfinite(explanation.terms)])
    return float(finite.max()) if finite.size and finite.max() > 0 else 1.0


def _lines(explanation: Explanation) -> list[_Line]:
    longest = _longest(explanation)
    lines = [_Line(translated_label("prior"), f"{explanation.prior:+.3f}", " " * BAR + "│", None)]
    for label, term, used in explanation.steps():
        lines.append(
            _Line(
                translated_label(label) if label == "floor" else label,
                f"{term:+.3f}" if used else "",
                _bar(term, longest),
                term if used else 0.0,
            )
        )
    end = f"P({explanation.classes[0]}) = {explanation.probability:.3f}"
    return [*lines, _Line(translated_label("posterior"), f"{explanation.log_odds:+.3f}", end, None)]


def _bar(term: float, longest: float) -> str:
    length = round(min(abs(term) / longest, 1.0) * BAR)
    if term < 0:
        return " " * (BAR - length) + "█" * length + "┤"
    return " " * BAR + ("├" if term > 0 else "│") + "█" * length
