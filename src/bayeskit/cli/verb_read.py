"""``bayeskit read``: what is in a table, and what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli import options, screen
from bayeskit.cli.app_options import as_command
from bayeskit.cli.training_screen import show_notes
from bayeskit.cli.verb_train import DateOrder, Kind

if TYPE_CHECKING:
    from bayeskit.table.problem import Problem
    from bayeskit.table.read_result import ReadTable


def read(
    data: Annotated[str, typer.Argument(help="The table; - is standard input.", show_default=False)],
    target: Annotated[str | None, typer.Option("--target", "-t", help="Column to predict.", show_default=False)] = None,
    ignore: options.Ignore = None,
    kind: Kind = None,
    decimal: options.Decimal = None,
    date_order: DateOrder = None,
    missing: options.Missing = None,
    encoding: options.Encoding = "utf-8",
    delimiter: options.Delimiter = None,
    sheet: options.Sheet = None,
    skip: options.Skip = 0,
    json: options.Json = False,
) -> None:
    """Show what is in a table and what is wrong with it, without training.

    Each column is shown with its kind, the reason for it, and what was converted: decimal commas, units, dates. Then
    come the problems that a model learned from the table would have, each with an option that mends it. `bayeskit
    train` reads the table in the same way.

    Example: bayeskit read days.csv --target play
    """
    from bayeskit.workflow.reading import read as read_table

    table = read_table(
        data,
        target,
        ignore=ignore or (),
        kinds=options.read_kinds(kind),
        decimal=decimal,
        date_order=date_order,
        missing=missing or (),
        encoding=encoding,
        delimiter=delimiter,
        sheet=sheet,
        skip=skip,
    )
    if json:
        screen.say_json(_as_json(table))
        return
    from bayeskit.workflow.wording import count

    screen.say(f"{table.name}: {count(len(table), 'row')}, {count(len(table.raw.column_names), 'column')}")
    screen.say()
    show_notes(table.columns)
    if not table.problems:
        screen.say("\nNo problems.")
    for problem in table.problems:
        screen.show(f"\n{_sentence(problem)}")


def _sentence(problem: Problem) -> str:
    command = as_command(problem)
    from bayeskit.workflow.data_problems import in_full

    return in_full(problem) + (f" [{command}]" if command else "")


def _as_json(table: ReadTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "rows": len(table),
        "target": table.target,
        "columns": [note.to_json() for note in table.columns],
        "problems": [vars(problem) for problem in table.problems],
    }
