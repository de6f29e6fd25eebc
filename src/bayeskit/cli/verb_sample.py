"""``bayeskit sample``: draw cases from a network."""

from __future__ import annotations

import csv
import sys
from io import TextIOWrapper
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import typer

from bayeskit.cli.networks import read_network

# Cases written at once, so that memory stays small however many are asked for.
ROWS_AT_ONCE = 100_000


def sample(
    source: Annotated[Path, typer.Argument(help="The network to read.", show_default=False)],
    n: Annotated[int, typer.Option("--number", "-n", help="How many cases.", min=0)] = 1000,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The CSV file; by default the screen.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Write a JSON object a line.")] = False,
) -> None:
    """Draw cases from a network, as CSV or lines of JSON.

    The same seed gives the same cases.

    Example: bayeskit sample asia.bif -n 1000 -o cases.csv
    """
    net = read_network(source)
    if output is None:
        _write(net, n, seed, sys.stdout, json)
        return
    from bayeskit.io.container import beside

    with beside(output.absolute()) as raw:
        file = TextIOWrapper(raw, encoding="utf-8", newline="")
        _write(net, n, seed, file, json)
        file.detach()  # writes what is left and keeps the file open
    typer.echo(f"{output}: {n} cases of {len(net.names)} variables")


def _write(net: Any, n: int, seed: int, file: Any, as_json: bool) -> None:
    columns = list(net.sample(n, seed=seed, output="codes"))
    writer = csv.writer(file, lineterminator="\n")
    if not as_json:
        writer.writerow(net.names)
    for begin in range(0, n, ROWS_AT_ONCE):
        block = [
            [states[code] for code in column[begin : begin + ROWS_AT_ONCE]]
            for states, column in zip(net.states, columns, strict=True)
        ]
        rows = zip(*block, strict=True)
        if as_json:
            file.writelines(dumps(dict(zip(net.names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
        else:
            writer.writerows(rows)
