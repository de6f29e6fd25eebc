"""``bayeskit convert``: one network format to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli.network_files import read_network, write_network
from bayeskit.cli.options import Force, Json, Network, refuse_overwriting
from bayeskit.cli.screen import say_json


def convert(
    source: Network,
    target: Annotated[Path, typer.Argument(help="The file to write.", show_default=False)],
    normalize: Annotated[bool, typer.Option("--normalize", help="Divide each row of a table by its sum.")] = False,
    force: Force = False,
    json: Json = False,
) -> None:
    """Convert a network file into another format.

    The format follows the extension: .bif, .xmlbif, .xdsl (GeNIe), .dne (Netica), .net (Hugin), .dsc, .jgum, .json,
    .uai, .dot or .bayes; a further .gz compresses. What the new format cannot hold is refused by name.

    Example: bayeskit convert alarm.bif alarm.net
    """
    refuse_overwriting(target, (source,), force=force)
    net = read_network(source, normalize)
    write_network(net, target)
    if json:
        say_json({"file": str(target), "variables": len(net.names), "arcs": len(net.arcs)})
        return
    typer.echo(f"{target}: {len(net.names)} variables, {len(net.arcs)} arcs")
