"""What the verbs print: tables in a terminal, plain text in a pipe, or JSON."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

# Wide enough for a leaderboard where no terminal says how wide it is.
_PIPE_WIDTH = 120


def say(text: str = "") -> None:
    """Print a line for a person."""
    typer.echo(text)


def note(text: str) -> None:
    """Print a line beside the result, so that a pipe gets the result only."""
    typer.echo(text, err=True)


def say_json(data: Any) -> None:
    """Print one JSON document; infinities and NaN, which JSON has no word for, become null."""
    typer.echo(json.dumps(plain(data), ensure_ascii=False, allow_nan=False, indent=2))


def plain(value: Any) -> Any:
    """Return a value in terms of JSON."""
    if hasattr(value, "tolist"):  # arrays and NumPy scalars
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def table(
    head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = (), bold: int | None = None
) -> None:
    """Print a table; the columns ``right`` hold numbers, and one row may stand out."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    numbers = set(right)
    for j, name in enumerate(head):
        shown.add_column(name, justify="right" if j in numbers else "left", overflow="fold", no_wrap=j in numbers)
    for i, row in enumerate(rows):
        # As Text, so that a cell with [brackets] is shown as it is.
        shown.add_row(*(Text(cell) for cell in row), style="bold" if i == bold else None)
    with console.capture() as capture:
        console.print(shown)
    # A pipe gets no blanks at the ends of lines.
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))


def seconds(value: float) -> str:
    """Return a time in the unit in which it is easily read.

    >>> seconds(0.0123), seconds(2.5)
    ('12 ms', '2.5 s')
    """
    return f"{1000 * value:.0f} ms" if value < 1 else f"{value:.1f} s"


def percent(share: float) -> str:
    """Return a share as a percentage; nothing at all is a dash.

    >>> percent(0), percent(0.0004), percent(0.25)
    ('–', '<0.1 %', '25.0 %')
    """
    if not share:
        return "–"
    return "<0.1 %" if share < 0.001 else f"{100 * share:.1f} %"
