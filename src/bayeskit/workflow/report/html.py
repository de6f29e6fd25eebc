"""Pieces of HTML that the sections of a report are made of; every value in them is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from bayeskit.result import text_width as width
from bayeskit.workflow.wording import count


def e(value: Any) -> str:
    """Return a value as escaped text."""
    return escape(str(value), quote=True)


def short(value: Any, most: int = 32) -> str:
    """Return a value as text of at most so many places; a Chinese character takes two.

    >>> short("typical angina", 8)
    'typical…'
    """
    text = str(value)
    if width(text) <= most:
        return text
    while width(text) > most - 1:
        text = text[:-1]
    return text.rstrip() + "…"


def section(name: str, title: str, lead: str, *parts: str) -> str:
    """Return a heading, a sentence about it, and what follows; ``name`` is where the list of contents leads."""
    lead = f'<p class="lead">{lead}</p>' if lead else ""
    return f'<section id="{name}"><h2>{e(title)}</h2>{lead}{"".join(parts)}</section>'


def grid(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], numbers: Iterable[int] = ()) -> str:
    """Return a table; rows are (class, cells of HTML), and the columns ``numbers`` stand to the right."""
    right = set(numbers)
    kind = [' class="n"' if j in right else "" for j in range(len(head))]
    cells = "".join(f"<th{k}>{e(name)}</th>" for k, name in zip(kind, head, strict=True))
    body = "".join(
        f'<tr class="{style}">' + "".join(f"<td{k}>{cell}</td>" for k, cell in zip(kind, row, strict=True)) + "</tr>"
        for style, row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def stacked(shares: Iterable[float]) -> str:
    """Return a bar whose parts have the colours of the classes and sum up to its length."""
    parts = "".join(f'<i class="c{k}" style="width:{100 * share:.2f}%"></i>' for k, share in enumerate(shares))
    return f'<span class="stack">{parts}</span>'


def not_shown(n: int, noun: str) -> str:
    """Return a note of how many more there are, if there are any."""
    return f"<p class='note'>{count(n, noun)} more not shown.</p>" if n else ""


def bar(share: float, style: str = "") -> str:
    """Return a bar that fills a share of its track; all tracks of a table have one width."""
    return f'<span class="bar {style}"><i style="width:{100 * min(max(share, 0.0), 1.0):.1f}%"></i></span>'
