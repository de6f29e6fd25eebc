"""``bayeskit query``: ask a network."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli.network_cases import answer_cases
from bayeskit.cli.network_files import read_network
from bayeskit.cli.options import Json, Network, RandomState
from bayeskit.cli.screen import say_json
from bayeskit.defaults import MAX_MEMORY

if TYPE_CHECKING:
    from bayeskit.cli.question import ParsedQuestion

# The width of a bar of probability 1.
BAR = 30


def query(
    source: Network,
    question: Annotated[str, typer.Argument(help="The question, such as P(lung | smoke=yes).", show_default=False)],
    method: Annotated[str, typer.Option(help="exact, rejection, weighting, gibbs, or auto to choose.")] = "auto",
    samples: Annotated[int | None, typer.Option(help="Number of samples.", show_default=False)] = None,
    error: Annotated[
        float | None, typer.Option(help="Sample until every standard error is at most this.", show_default=False)
    ] = None,
    memory: Annotated[
        str, typer.Option("--memory", help="Memory that the tables of an exact answer may take, such as 8GiB.")
    ] = MAX_MEMORY,
    cases: Annotated[
        str | None,
        typer.Option(
            "--cases", help="Table of cases: answer for each of its rows, whose cells are evidence.", show_default=False
        ),
    ] = None,
    random_state: RandomState = 0,
    json: Json = False,
) -> None:
    """Ask a network for probabilities.

    P(a | b=x) is a posterior, P(a, b | …) a joint table, P(a=x | …) one number, and argmax(a, b | …) the most probable
    states; argmax( | …) gives those of all variables. do(b=x) after the bar sets a variable instead of observing it.
    With --cases the answer is a CSV file with a row per case; other columns are ignored.

    Example: bayeskit query asia.bif "P(lung | smoke=yes, xray=yes)"

    Example: bayeskit query asia.bif "P(lung | do(smoke=yes))" --cases patients.csv
    """
    from bayeskit.cli.question import read_question

    wanted = read_question(question)
    if method not in ("auto", "exact") and (wanted.event or wanted.kind == "argmax" or len(wanted.names) > 1):
        raise ValueError(f"method {method!r} samples the posterior of one variable, as in P(lung | smoke=yes).")
    net = read_network(source)
    if wanted.actions:
        net = net.do(wanted.actions)
    if cases is not None:
        if wanted.kind != "P" or wanted.event or len(wanted.names) != 1 or method not in ("auto", "exact"):
            raise ValueError("--cases asks for the exact posterior of one variable in each row, as in P(lung).")
        answer_cases(net, wanted, cases, memory, json)
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        options = {"method": method, "n_samples": samples, "error": error, "random_state": random_state}
        options["max_memory"] = memory
        if json:
            say_json(_as_json(net, wanted, options))
        else:
            _answer(net, wanted, options)
    for warning in said:
        typer.echo(f"Note: {' '.join(str(warning.message).split())}", err=True)


def _answer(net: Any, wanted: ParsedQuestion, options: dict[str, Any]) -> None:
    if wanted.kind == "argmax":
        best = net.most_probable(wanted.names or None, given=wanted.given, max_memory=options["max_memory"])
        _show(("variable", "state"), list(best.items()))
        typer.echo(f"P = {best.probability:.6g}")
    elif wanted.event:
        typer.echo(f"{net.probability(wanted.event, given=wanted.given, max_memory=options['max_memory']):.6g}")
    elif len(wanted.names) > 1:
        joint = net.joint(wanted.names, given=wanted.given, max_memory=options["max_memory"])
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


def _as_json(net: Any, wanted: ParsedQuestion, options: dict[str, Any]) -> dict[str, Any]:
    if wanted.kind == "argmax":
        best = net.most_probable(wanted.names or None, given=wanted.given, max_memory=options["max_memory"])
        return {"states": dict(best.items()), "probability": float(best.probability)}
    if wanted.event:
        return {
            "probability": float(net.probability(wanted.event, given=wanted.given, max_memory=options["max_memory"]))
        }
    if len(wanted.names) > 1:
        joint = net.joint(wanted.names, given=wanted.given, max_memory=options["max_memory"])
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
