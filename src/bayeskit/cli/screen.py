"""What the verbs print: tables in a terminal, plain text in a pipe, or JSON."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Any

import typer

from bayeskit.language import label, translated

if TYPE_CHECKING:
    from bayeskit.progress import Progress, Step

# Wide enough for a leaderboard where no terminal says how wide it is.
_PIPE_WIDTH = 120
# Tables with more rows than this say how many more there are.
MOST_ROWS = 40

NO_PLOTS = "The report has no plots: matplotlib is not installed (pip install 'bayeskit[plot]')."


def say(text: str = "") -> None:
    """Print a line for a person."""
    typer.echo(translated(text))


def show(text: str) -> None:
    """Print a line that is in the language of the person already, or holds cells of a table."""
    typer.echo(text)


def note(text: str) -> None:
    """Print a line to standard error, so that a pipe gets the result only."""
    typer.echo(translated(text), err=True)


def warn(text: str) -> None:
    """Print a warning to standard error; in a terminal it stands out."""
    typer.echo(typer.style(label("Warning:") + " ", fg="yellow", bold=True) + translated(text), err=True)


def say_json(data: Any) -> None:
    """Print one JSON document; infinities and NaN, which JSON has no word for, become null."""
    typer.echo(json.dumps(json_value(data), ensure_ascii=False, allow_nan=False, indent=2))


def json_value(value: Any) -> Any:
    """Return a value in terms of JSON."""
    if hasattr(value, "tolist"):  # arrays and NumPy scalars
        value = value.tolist()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(item) for item in value]
    return value


def line_width() -> int:
    """Return how many characters a line has: those of the terminal, or of COLUMNS; in a pipe without it, 120."""
    if os.environ.get("COLUMNS", "").isdecimal() or sys.stdout.isatty():
        return max(get_terminal_size((_PIPE_WIDTH, 24)).columns, 20)
    return _PIPE_WIDTH


def table(
    head: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int] = (),
    bold: int | None = None,
    drop: Sequence[int] = (),
    as_is: Sequence[int] = (),
) -> list[str]:
    """Print a table and return the names of the columns that found no place.

    Parameters
    ----------
    head : sequence of str
        The names of the columns.
    rows : sequence of sequences of str
        The cells.
    right : sequence of int
        Columns of numbers, which stand to the right and are never cut.
    bold : int, optional
        A row that stands out.
    drop : sequence of int
        Columns to leave out where the table is too wide, the first of them first.
    as_is : sequence of int
        Columns that are not translated: names and cells of the user's table.
    """
    from rich import box
    from rich.cells import cell_len
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    head = list(map(label, head))
    rows = [[cell if j in as_is else translated(cell) for j, cell in enumerate(row)] for row in rows]
    room = line_width()
    needs = [max(cell_len(cell) for cell in (name, *(row[j] for row in rows))) for j, name in enumerate(head)]
    shown, dropped = list(range(len(head))), []
    for j in drop:
        if sum(needs[i] for i in shown) + 3 * (len(shown) - 1) <= room:
            break
        shown.remove(j)
        dropped.append(head[j])
    console = Console(width=room)
    numbers = set(right)
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for j in shown:
        # Text is folded before a number or the first column gives way.
        firm = j in numbers or j == shown[0]
        grid.add_column(
            head[j], justify="right" if j in numbers else "left", overflow="fold", no_wrap=firm and needs[j] < room // 2
        )
    for i, row in enumerate(rows):
        # As Text, so that a cell with [brackets] is shown as it is.
        grid.add_row(*(Text(row[j]) for j in shown), style="bold" if i == bold else None)
    with console.capture() as capture:
        console.print(grid)
    # A pipe gets no blanks at the ends of lines.
    typer.echo("\n".join(line.rstrip() for line in capture.get().splitlines()))
    return dropped


def matrix(classes: Sequence[Any], actions: Sequence[Any], cells: Sequence[Sequence[int]]) -> None:
    """Print a confusion matrix that any number of classes can be read from.

    Columns are numbered, with the numbers beside the names, so that they are as narrow as their counts; where a line
    has no room for all of them, the rest follows below.
    """
    from bayeskit.result import pad
    from bayeskit.result import text_width as places

    numbered = [str(j + 1) for j in range(len(actions))]
    known = {str(action): number for action, number in zip(actions, numbered, strict=True)}
    names = [_cut(str(label), max(line_width() // 3, 8)) for label in classes]
    marks = [known.get(str(label), "") for label in classes]
    corner = label("true class")
    left = max(map(places, (*names, corner))) + max(map(len, (*marks, ""))) + 1
    each = max(len(str(n)) for n in (*numbered, *(n for row in cells for n in row))) + 1
    per_block = max((line_width() - left) // each, 1)
    for start in range(0, len(actions), per_block):
        block = range(start, min(start + per_block, len(actions)))
        say(pad(corner, left) + "".join(numbered[j].rjust(each) for j in block))
        for name, mark, row in zip(names, marks, cells, strict=True):
            # A zero off the diagonal is a dot: what stands out are the errors.
            said = [str(row[j] if row[j] or numbered[j] == mark else "·").rjust(each) for j in block]
            say(pad(name, left - len(mark)) + mark + "".join(said))
        say()
    others = [f"{number} = {action}" for action, number in known.items() if action not in set(map(str, classes))]
    say("; ".join(["columns are decisions, by the numbers of the classes", *([", ".join(others)] if others else [])]))


def _cut(text: str, most: int) -> str:
    """Return a text of at most so many places: names that begin alike are told apart by their ends."""
    from bayeskit.result import text_width as places

    if places(text) <= most:
        return text
    begin, end = text, text[len(text) // 2 :]
    while places(end) > most // 2:
        end = end[1:]
    while places(begin) > most - 1 - places(end):
        begin = begin[:-1]
    return f"{begin}…{end}"


@contextmanager
def progress(wanted: bool = True) -> Iterator[Progress | None]:
    """Show a bar with the time left on standard error, where a person can see it move."""
    if not wanted or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn(label("left")),
        TimeRemainingColumn(),
    )
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("")

        def show(step: Step) -> None:
            bar.update(task, completed=step.done, total=step.total or None, description=translated(step.name))

        yield show
