"""``bayeskit draw``: a network as an SVG picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bayeskit.cli.network_files import parse_evidence, read_network
from bayeskit.cli.options import Force, Json, Network, refuse_overwriting
from bayeskit.cli.screen import say_json


def draw(
    source: Network,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The .svg file (default: next to the network).", show_default=False),
    ] = None,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", "-g", help="Evidence, variable=state; draws posterior bars.", show_default=False),
    ] = None,
    bars: Annotated[bool, typer.Option("--bars", help="Draw a bar for each state's probability.")] = False,
    around: Annotated[
        list[str] | None,
        typer.Option(
            "--around", help="Draw this variable and its neighbours only; may be repeated.", show_default=False
        ),
    ] = None,
    steps: Annotated[int, typer.Option("--steps", help="How many arcs --around reaches.", min=0)] = 1,
    force: Force = False,
    json: Json = False,
) -> None:
    """Draw a network as SVG.

    Variables are drawn in layers, parents above children; --bars adds the probability of each state.

    Example: bayeskit draw asia.bif -o asia.svg --given smoke=yes
    """
    if output is None:
        name = source.name.removesuffix(".gz")
        output = source.with_name(Path(name).stem + ".svg")
    refuse_overwriting(output, (source,), force=force)
    net = read_network(source)
    evidence = parse_evidence(given or [])
    picture = net.draw(given=evidence, bars=bars, around=around or None, steps=steps)
    picture.save(output)
    if json:
        say_json(
            {"file": str(output), "variables": len(net.names), "arcs": len(net.arcs), "crossings": picture.crossings}
        )
        return
    typer.echo(f"{output}: {len(net.names)} variables, {len(net.arcs)} arcs, {picture.crossings} crossings")
