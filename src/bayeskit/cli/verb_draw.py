"""``bayeskit draw``: a network as an SVG picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli.networks import read_evidence, read_network
from bayeskit.cli.screen import say_json
from bayeskit.cli.tables import Json


def draw(
    source: Annotated[Path, typer.Argument(help="The network to read.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The .svg file; by default beside the network.", show_default=False),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", "-g", help="Evidence variable=state; draws posterior bars.", show_default=False),
    ] = None,
    bars: Annotated[bool, typer.Option("--bars", help="Draw each variable's probabilities.")] = False,
    json: Json = False,
) -> None:
    """Draw a network as SVG.

    Boxes stand in layers; bars of probabilities are drawn on request.

    Example: bayeskit draw asia.bif -o asia.svg --given smoke=yes
    """
    net = read_network(source)
    evidence = read_evidence(given or [])
    if output is None:
        name = source.name.removesuffix(".gz")
        output = source.with_name(Path(name).stem + ".svg")
    picture = net.draw(given=evidence, bars=bars)
    picture.save(output)
    if json:
        say_json(
            {"file": str(output), "variables": len(net.names), "arcs": len(net.arcs), "crossings": picture.crossings}
        )
        return
    typer.echo(f"{output}: {len(net.names)} variables, {len(net.arcs)} arcs, {picture.crossings} crossings")
