"""``bayeskit query``: ask a network."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli.networks import read_network
from bayeskit.cli.screen import say_json
from bayeskit.cli.tables import Json

if TYPE_CHECKING:
    from bayeskit.cli.question import Question

# Cells of a bar that stands for probability 1.
BAR = 30


def query(
    source: Annotated[Path, typer.Argument(help="The network to read.", show_default=False)],
    question: Annotated[str, typer.Argument(help="As in P(lung | smoke=yes).", show_default=False)],
    method: Annotated[str, typer.Option(help="exact, auto, rejection, weighting or gibbs.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="Samples to draw.", show_default=False)] = None,
    error: Annotated[
        float | None, typer.Option(help="Sample until no standard error is larger.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the samples.")] = 0,
    json: Json = False,
) -> None:
    """Ask a network for probabilities.

    P(a | b=x) is a posterior, P(a, b | …) a joint table, P(a=x | …) one number, and argmax(a, b | …) the most probable
    states; argmax( | …) seeks those of all variables.

    Example: bayeskit query asia.bif "P(lung | smoke=yes, xray=yes)"
    """
    from bayeskit.cli.question import read_question

    wanted = read_question(question)
    if method not in ("auto", "exact") and (wanted.event or wanted.kind == "argmax" or len(wanted.names) > 1):
        raise ValueError(f"method {method!r} samples the posterior of one variable, as in P(lung | smoke=yes).")
    net = read_network(source)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        options = {"method": method, "n_samples": samples, "error": error, "seed": seed}
        if json:
            say_json(_as_json(net, wanted, options))
        else:
            _answer(net, wanted, options)
    for warning in said:
        typer.echo(f"Note: {' '.join(str(warning.message).split())}", err=True)


def _answer(net: Any, wanted: Question, options: dict[str, Any]) -> None:
    if wanted.kind == "argmax":
        best = net.most_probable(wanted.names or None, given=wanted.given)
        _show(("variable", "state"), list(best.items()))
        typer.echo(f"P = {best.probability:.6g}")
    elif wanted.event:
        typer.echo(f"{net.probability(wanted.event, given=wanted.given):.6g}")
    elif len(wanted.names) > 1:
        joint = net.joint(wanted.names, given=wanted.given)
        cells = zip(_cells(joint.states), joint.array.reshape(-1), strict=True)
        _show((*wanted.names, "P"), [(*states, f"{p:.6g}") for states, p in cells])
    else:
        posterior = net.posterior(wanted.names[0], given=wanted.given, **options)
        rows = [(state, f"{p:.6g}", "█" * round(p * BAR)) for state, p in posterior.items()]
        if posterior.quality.approximate:
            rows = [(s, f"{p} ± {e:.2g}", bar) for (s, p, bar), e in zip(rows, posterior.standard_error, strict=True)]
        _show((wanted.names[0], "P", ""), rows)
        if posterior.quality.approximate:
            typer.echo(f"({posterior.quality})")


def _as_json(net: Any, wanted: Question, options: dict[str, Any]) -> dict[str, Any]:
    if wanted.kind == "argmax":
        best = net.most_probable(wanted.names or None, given=wanted.given)
        return {"states": dict(best.items()), "probability": float(best.probability)}
    if wanted.event:
        return {"probability": float(net.probability(wanted.event, given=wanted.given))}
    if len(wanted.names) > 1:
        joint = net.joint(wanted.names, given=wanted.given)
        cells = zip(_cells(joint.states), joint.array.reshape(-1).tolist(), strict=True)
        table = [{"states": list(states), "probability": p} for states, p in cells]
        return {"variables": list(wanted.names), "table": table}
    posterior = net.posterior(wanted.names[0], given=wanted.given, **options)
    answer: dict[str, Any] = {"variable": wanted.names[0], "probability": dict(posterior.items())}
    if posterior.quality.approximate:
        answer["standard_error"] = dict(zip(posterior, posterior.standard_error, strict=True))
    return answer


def _cells(states: tuple[tuple[str, ...], ...]) -> Any:
    from itertools import product

    return product(*states)


def _show(header: tuple[str, ...], rows: list[Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for title in header:
        table.add_column(title, no_wrap=True)
    for row in rows:
        table.add_row(*map(str, row))
    # Wide enough for any table: a name that is cut off could not be asked for again.
    width = sum(max(len(str(row[i])) for row in (header, *rows)) + 2 for i in range(len(header)))
    Console(width=max(width, 20), highlight=False, markup=False).print(table)
