"""Pieces of HTML that the sections of a report are made of; every value in them is escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape, unescape
from typing import Any

from bayeskit.language import get_language, label, translated
from bayeskit.result import text_width as width
from bayeskit.workflow.wording import count

_LEFT_ALONE = re.compile(r"(<(?:script|style|code|pre)\b.*?</(?:script|style|code|pre)>)", re.DOTALL)
_TEXT = re.compile(r"</?(\w+)[^<>]*>([^<>]+)")
# Elements that hold a word of ours alone, never a value of the table.
_LABELLED = frozenset({"dt", "label", "h3"})


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
    lead = f'<p class="lead">{translated(lead)}</p>' if lead else ""
    return f'<section id="{name}"><h2>{e(translated(title))}</h2>{lead}{"".join(parts)}</section>'


def grid(head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], numbers: Iterable[int] = ()) -> str:
    """Return a table; rows are (class, cells of HTML), and the columns ``numbers`` stand to the right."""
    right = set(numbers)
    kind = [' class="n"' if j in right else "" for j in range(len(head))]
    cells = "".join(f"<th{k}>{e(label(name))}</th>" for k, name in zip(kind, head, strict=True))
    body = "".join(
        f'<tr class="{style}">' + "".join(f"<td{k}>{cell}</td>" for k, cell in zip(kind, row, strict=True)) + "</tr>"
        for style, row in rows
    )
    return f'<div class="scroll"><table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table></div>'


def translated_page(page: str) -> str:
    """Return a page with its texts in the language of the reader; code, scripts and what is preformatted stay."""
    if get_language() == "en":
        return page
    parts = _LEFT_ALONE.split(page)
    return "".join(part if k % 2 else _TEXT.sub(_translated_text, part) for k, part in enumerate(parts))


def _translated_text(match: re.Match[str]) -> str:
    tag, text = match.groups()
    words = unescape(text)
    said = translated(words) if " " in words.strip() else label(words) if tag in _LABELLED else words
    return match[0] if said == words else f"{match[0][: -len(text)]}{e(said)}"


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
