"""``bayeskit sample``: sample cases from a network."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli.network_files import as_numbers_of, parse_evidence, read_network
from bayeskit.cli.options import Force, Network, RandomState, refuse_overwriting, table_output

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork
    from bayeskit.table.formats import TableWriter

# Cases written at once, so that memory stays small however many are asked for.
ROWS_AT_ONCE = 100_000


def sample(
    source: Network,
    n: Annotated[int, typer.Option("--number", "-n", help="Number of cases.", min=0)] = 1000,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Output file: .csv, .jsonl, .parquet or .xlsx (default: standard output).",
            show_default=False,
        ),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option(
            "--given", "-g", help="Evidence, variable=state: only such cases; may be repeated.", show_default=False
        ),
    ] = None,
    random_state: RandomState = 0,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Write JSON Lines instead of CSV.")] = False,
) -> None:
    """Sample cases from a network, as CSV or JSON Lines.

    The same random state gives the same cases. With --given they are samples of the distribution given the evidence.

    Example: bayeskit sample asia.bif -n 1000 -o cases.csv

    Example: bayeskit sample asia.bif -n 1000 --given smoke=yes --given xray=yes
    """
    from bayeskit.table.formats import open_writer
    from bayeskit.workflow.wording import count

    place, name = table_output(output, json)
    refuse_overwriting(place, (source,), force=force)
    net = read_network(source)
    evidence = as_numbers_of(net, parse_evidence(given or []))
    columns = net.sample(n, given=evidence, random_state=random_state, output="dict" if net.real else "codes")
    if place is None:
        with open_writer(name, sys.stdout.buffer) as writer:
            _write(net, columns, writer)
        sys.stdout.buffer.flush()
        return
    from bayeskit.io.container import atomic_write

    with atomic_write(place.absolute()) as file, open_writer(name, file) as writer:
        _write(net, columns, writer)
    typer.echo(f"{place}: {count(n, 'case')} of {count(len(net.names), 'variable')}")


def _write(net: BayesianNetwork, columns: Any, writer: TableWriter) -> None:
    import pyarrow as pa

    if net.real:
        writer.write(pa.table({name: pa.array(column) for name, column in columns.items()}))
        return
    states = [pa.array(each, type=pa.string()) for each in net.states]
    for begin in range(0, max(len(columns[0]), 1), ROWS_AT_ONCE):
        block = [
            each.take(pa.array(column[begin : begin + ROWS_AT_ONCE]))
            for each, column in zip(states, columns, strict=True)
        ]
        writer.write(pa.table(block, names=list(net.names)))
