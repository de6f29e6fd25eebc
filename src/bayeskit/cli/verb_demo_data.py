"""``bayeskit demo-data``: a table to try the other commands on."""

from __future__ import annotations

import sys
from importlib.resources import files
from typing import Annotated

import typer


def demo_data(
    name: Annotated[str | None, typer.Argument(help="The table: heart or penguins.", show_default="list them")] = None,
) -> None:
    """Write a bundled table as CSV, to try the other commands on.

    Without a name the tables are listed.

    Example: bayeskit demo-data heart > heart.csv
    """
    from bayeskit.errors import TableError
    from bayeskit.table.names import not_found

    folder = files("bayeskit.datasets").joinpath("data")
    tables = {entry.name.removesuffix(".csv"): entry for entry in folder.iterdir() if entry.name.endswith(".csv")}
    if name is None:
        typer.echo("\n".join(sorted(tables)))
        return
    if name not in tables:
        raise TableError(not_found("table", name, sorted(tables)))
    sys.stdout.buffer.write(tables[name].read_bytes())
    sys.stdout.buffer.flush()
