"""``bayeskit query``: ask a network."""

from __future__ import annotations

import warnings
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli.dynamic_questions import answer_rows, read_dynamic, unrolled_for
from bayeskit.cli.network_cases import answer_cases
from bayeskit.cli.network_files import as_numbers_of, read_network
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
    group: Annotated[
        str | None,
        typer.Option(help="Column of --cases that names the sequence; for dynamic networks.", show_default=False),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Column of --cases that orders the rows; for dynamic networks.", show_default=False),
    ] = None,
    so_far: Annotated[
        bool, typer.Option("--so-far", help="Answer each row by the rows up to it only; for dynamic networks.")
    ] = False,
    random_state: RandomState = 0,
    json: Json = False,
) -> None:
    """Ask a network for probabilities.

    P(a | b=x) is a posterior, P(a, b | …) a joint table, P(a=x | …) one number, and argmax(a, b | …) the most probable
    states; argmax( | …) gives those of all variables. do(b=x) after the bar sets a variable instead of observing it.
    With --cases the answer is a CSV file with a row per case; other columns are ignored. A dynamic network (.bayes) is
    asked about times, counted from 0, or with --cases about each row of a table whose rows are times.

    Example: bayeskit query asia.bif "P(lung | smoke=yes, xray=yes)"

    Example: bayeskit query asia.bif "P(lung | do(smoke=yes))" --cases patients.csv

    Example: bayeskit query weather.bayes "P(rain[2] | umbrella[0]=yes, umbrella[1]=yes)"
    """
    from bayeskit.cli.question import read_question

    wanted = read_question(question)
    if method not in ("auto", "exact") and (wanted.event or wanted.kind == "argmax" or len(wanted.names) > 1):
        raise ValueError(f"method {method!r} samples the posterior of one variable, as in P(lung | smoke=yes).")
    dynamic = read_dynamic(source)
    if dynamic is not None and cases is not None:
        answer_rows(dynamic, wanted, cases, group, time, so_far, json)
        return
    if group is not None or time is not None or so_far:
        raise ValueError("--group, --time and --so-far are for a dynamic network with --cases.")
    net = read_network(source) if dynamic is None else unrolled_for(dynamic, wanted)
    if wanted.actions:
        net = net.do(as_numbers_of(net, wanted.actions))
    if cases is not None:
        if wanted.kind != "P" or wanted.event or len(wanted.names) != 1 or method not in ("auto", "exact"):
            raise ValueError("--cases asks for the exact posterior of one variable in each row, as in P(lung).")
        answer_cases(net, wanted, cases, memory, json)
        return
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        options = {"method": method, "n_samples": samples, "error": error, "random_state": random_state}
        options["max_memory"] = memory
        facts, lines = _answer(net, wanted, options)
        if json:
            say_json(facts)
        else:
            typer.echo("\n".join(lines))
    for warning in said:
        typer.echo(f"Note: {' '.join(str(warning.message).split())}", err=True)


def _answer(net: Any, wanted: ParsedQuestion, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the answer in terms of JSON, and as lines of text."""
    given = as_numbers_of(net, wanted.given)
    if net.real and wanted.kind != "argmax" and not wanted.event and len(wanted.names) == 1:
        return _of_mixed(net, wanted.names[0], given, options)
    bounded = {"given": given, "max_memory": options["max_memory"]}
    if wanted.kind == "argmax":
        best = net.most_probable(wanted.names or None, **bounded)
        if net.real:
            shown = [(name, value if isinstance(value, str) else f"{value:.6g}") for name, value in best.items()]
            facts = {"values": dict(best.items()), "log_density": float(best.log_density)}
            return facts, [*_columns(("variable", "value"), shown), f"log density {best.log_density:.6g}"]
        facts = {"states": dict(best.items()), "probability": float(best.probability)}
        return facts, [*_columns(("variable", "state"), list(best.items())), f"P = {best.probability:.6g}"]
    if wanted.event:
        probability = float(net.probability(wanted.event, **bounded))
        return {"probability": probability}, [f"{probability:.6g}"]
    if len(wanted.names) > 1:
        joint = net.joint(wanted.names, **bounded)
        if wanted.names[0] in net.real:
            return _of_real_joint(joint)
        cells = list(zip(product(*joint.states), joint.array.reshape(-1).tolist(), strict=True))
        table = [{"states": list(states), "probability": p} for states, p in cells]
        rows = [(*states, f"{p:.6g}") for states, p in cells]
        return {"variables": list(wanted.names), "table": table}, _columns((*wanted.names, "P"), rows)
    posterior = net.posterior(wanted.names[0], given=given, **options)
    return _of_states(wanted.names[0], posterior)


def _of_mixed(net: Any, name: str, given: Any, options: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the answer of a network with real variables."""
    posterior = net.posterior(name, given=given, **options)
    if name not in net.real:
        return _of_states(name, posterior)
    known = posterior.sd == 0
    quantiles = {} if known else {str(p): posterior.quantile(p) for p in (0.05, 0.25, 0.5, 0.75, 0.95)}
    facts = {"variable": name, "mean": posterior.mean, "sd": posterior.sd, "quantiles": quantiles}
    rows = [("mean", f"{posterior.mean:.6g}"), ("sd", f"{posterior.sd:.6g}")]
    rows += [(f"{100 * float(p):g} %", f"{x:.6g}") for p, x in quantiles.items()]
    lines = _columns((name, ""), rows)
    if posterior.quality.approximate:
        facts["standard_error"] = posterior.standard_error
        lines[1] += f" ± {posterior.standard_error:.2g}"
        lines.append(f"({posterior.quality})")
    return facts, lines


def _of_real_joint(joint: Any) -> tuple[dict[str, Any], list[str]]:
    """Return means, standard deviations and correlations of several real variables."""
    sd = joint.covariance.diagonal() ** 0.5
    facts = {"variables": list(joint.names), "mean": joint.mean.tolist(), "covariance": joint.covariance.tolist()}
    rows = [
        (name, f"{mean:.6g}", f"{s:.6g}", *(f"{r:.4g}" for r in correlations))
        for name, mean, s, correlations in zip(joint.names, joint.mean, sd, joint.correlation, strict=True)
    ]
    return facts, _columns(("variable", "mean", "sd", *(f"r({name})" for name in joint.names)), rows)


def _of_states(name: str, posterior: Any) -> tuple[dict[str, Any], list[str]]:
    facts = {"variable": name, "probability": dict(posterior.items())}
    rows = [(state, f"{p:.6g}", "█" * round(p * BAR)) for state, p in posterior.items()]
    if not posterior.quality.approximate:
        return facts, _columns((name, "P", ""), rows)
    errors = posterior.standard_error
    facts["standard_error"] = dict(zip(posterior, errors, strict=True))
    rows = [(state, f"{p} ± {se:.2g}", bar) for (state, p, bar), se in zip(rows, errors, strict=True)]
    return facts, [*_columns((name, "P", ""), rows), f"({posterior.quality})"]


def _columns(header: tuple[str, ...], rows: list[Any]) -> list[str]:
    """Return a table as lines: a name that is cut off could not be asked for again, so none is."""
    from bayeskit.result import pad, text_width

    cells = [header, *rows]
    widths = [max(text_width(str(row[j])) for row in cells) for j in range(len(header))]
    return ["  ".join(pad(str(cell), n) for cell, n in zip(row, widths, strict=True)).rstrip() for row in cells]
