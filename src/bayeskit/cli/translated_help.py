"""The help of the command in the language of the reader."""

from __future__ import annotations

import re
from typing import Any

from bayeskit.cli.screen import line_width
from bayeskit.language import get_language, label, translated
from bayeskit.language.sentences import paragraphs

# Headings and marks that the library behind the command writes into a help page itself.
_MARKS = (
    "Usage:", "Arguments:", "Options:", "Commands:", "[OPTIONS]", "[required]", "[default:", "; required]",
    "Show this message and exit.", "Install completion for the current shell.",
    "Show completion for the current shell, to copy it or customize the installation.",
)  # fmt: skip


def translate_help(command: Any) -> None:
    """Put the help of a command and of its verbs into the language of the reader."""
    if get_language() == "en":
        return
    for each in (command, *getattr(command, "commands", {}).values()):
        each.help = "\n\n".join(label(part) for part in paragraphs(each.help or ""))
        for option in each.params:
            if getattr(option, "help", None):
                option.help = translated(option.help)
        each.get_help = _with_marks(each.get_help)


def _with_marks(get_help: Any) -> Any:
    def translated_help(context: Any) -> str:
        page = str(get_help(context))
        for mark in _MARKS:
            page = page.replace(mark, label(mark))
        return "\n".join(line for long in page.split("\n") for line in folded(long, line_width()))

    return translated_help


def folded(line: str, width: int) -> list[str]:
    """Cut a line that is too wide for the terminal; what follows stands below the beginning of its text.

    A Chinese character takes two places, and a line may end after any of them, but not before a full stop or comma.

    >>> folded("  --kind  列的类型。", 16)
    ['  --kind  列的类', '          型。']
    """
    from bayeskit.result import text_width  # which imports NumPy, and English needs no folding

    if text_width(line) <= width:
        return [line]
    start = max(re.match(r"\s*(?:-\S+.*?\s{2,})?", line).end(), 0)  # type: ignore[union-attr]
    indent = " " * (text_width(line[:start]) if text_width(line[:start]) < width // 2 else 4)
    lines, current = [], ""
    for word in re.findall(
        r"[\u2e80-\uffef][\u3002\uff0c\uff1b\uff1a\u3001\uff01\uff1f\uff09\u300b]*|[^\u2e80-\uffef\s]+[\u3002\uff0c\uff1b\uff1a\u3001\uff01\uff1f\uff09\u300b]*|\s+",
        line,
    ):
        if current.strip() and text_width(current + word.rstrip()) > width:
            lines.append(current.rstrip())
            current = indent + word.lstrip()
        else:
            current += word
    return [*lines, current.rstrip()]
