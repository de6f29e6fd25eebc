"""``bayeskit learn``: a table in, a Bayesian network out."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayeskit.cli import screen
from bayeskit.cli.learned_pag import pag_of_table, write_pag
from bayeskit.cli.network_files import read_network, write_network
from bayeskit.cli.options import Data, Delimiter, Encoding, Force, Json, RandomState, refuse_overwriting
from bayeskit.defaults import NETWORK_BINS, SMOOTHING

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork
    from bayeskit.network.learn.arc_reasons import ArcReason, ArcReasons
    from bayeskit.network.learn.search import LearnedStructure
    from bayeskit.network.learn.search_method import SearchMethod
    from bayeskit.progress import Step


Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Network file: .bif, .xdsl, .net, .bayes or another (network.bif); for fci .json or .dot (pag.json).",
        show_default=False,
    ),
]
Method = Annotated[
    str,
    typer.Option(
        "--method", "-m", help="best, order, hill-climb, tabu, k2, chow-liu, exact, ges, pc, mmhc, fci or rfci."
    ),
]
Score = Annotated[
    str | None,
    typer.Option(
        help="bic, ebic, aic, mdl, k2, bdeu, bds, fnml, qnml or loglik (bic; mdl above 150 variables).",
        show_default=False,
    ),
]
Required = Annotated[
    list[str] | None, typer.Option("--require", help="Required arc, A->B; may be repeated.", show_default=False)
]
Forbidden = Annotated[
    list[str] | None, typer.Option("--forbid", help="Forbidden arc, A->B; may be repeated.", show_default=False)
]
Tiers = Annotated[
    list[str] | None,
    typer.Option("--tier", help="Columns A,B,… of a tier, the earliest first; repeated.", show_default=False),
]
Ordering = Annotated[
    str | None, typer.Option("--ordering", help="All columns A,B,…, parents first; for k2.", show_default=False)
]
Root = Annotated[str | None, typer.Option(help="Root of the tree; for chow-liu.", show_default=False)]
MaxParents = Annotated[
    int | None, typer.Option(help="The largest number of parents of a variable.", min=0, show_default=False)
]
Restarts = Annotated[
    int | None, typer.Option(help="Restarts; for best, order, hill-climb, tabu and mmhc.", min=0, show_default=False)
]
Seconds = Annotated[
    float | None, typer.Option(help="Search this long at most; for best and order.", show_default=False)
]
Length = Annotated[
    int | None, typer.Option(help="Graphs that are remembered; for tabu (400).", min=1, show_default=False)
]
Alpha = Annotated[
    float | None, typer.Option(help="Level of the tests; for pc, mmhc and fci (0.01).", show_default=False)
]
Test = Annotated[
    str | None,
    typer.Option(help="Test of independence, g2, chi2 or mi; for pc, mmhc and fci (g2).", show_default=False),
]
Structure = Annotated[
    Path | None,
    typer.Option(
        "--structure", help="Network file whose arcs are kept; only its tables are learned.", show_default=False
    ),
]
Missing = Annotated[str, typer.Option(help="Missing cells: em (structural EM), node-average or complete-rows.")]
Numeric = Annotated[
    str | None,
    typer.Option(
        help="Numeric columns: equal-width, equal-frequency or mdl bins (sees neighbours), or gaussian (real).",
        show_default=False,
    ),
]
Bins = Annotated[int, typer.Option(help="The largest number of bins of a numeric column.", min=1)]
Ignored = Annotated[
    list[str] | None, typer.Option("--ignore", help="Leave out this column; may be repeated.", show_default=False)
]
Pseudocount = Annotated[float, typer.Option(help="Pseudo-count of each cell of the tables (λ).", min=0)]
Why = Annotated[bool, typer.Option("--why", help="Say what each arc adds to the score, and the rows it rests on.")]
DrawingFile = Annotated[
    Path | None, typer.Option("--draw", help="Draw the network to this .svg file.", show_default=False)
]

# Arcs that came next, as shown by --why; JSON has all.
MOST_CANDIDATES = 10
# The options of methods that the command spells otherwise.
_SPELLED = {"max_seconds": "seconds"}


def learn(
    data: Data,
    output: Output = None,
    structure: Structure = None,
    method: Method = "best",
    score: Score = None,
    require: Required = None,
    forbid: Forbidden = None,
    tier: Tiers = None,
    ordering: Ordering = None,
    root: Root = None,
    max_parents: MaxParents = None,
    restarts: Restarts = None,
    seconds: Seconds = None,
    length: Length = None,
    alpha: Alpha = None,
    test: Test = None,
    missing: Missing = "em",
    numeric: Numeric = None,
    bins: Bins = NETWORK_BINS,
    ignore: Ignored = None,
    smoothing: Pseudocount = SMOOTHING,
    drawing: DrawingFile = None,
    why: Why = False,
    random_state: RandomState = 0,
    encoding: Encoding = "utf-8",
    delimiter: Delimiter = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Learn a Bayesian network from a table.

    Finds the structure by a search, estimates the tables, and writes the network. Whole numbers with at most 20
    distinct values are states; other numbers need --numeric. Ctrl-C keeps the best network so far. With --structure
    nothing is searched: variables, states and arcs are those of the file, and the table gives the probabilities.
    --method fci allows causes without a column and writes a graph (a PAG) in the place of a network.

    Example: bayeskit learn cases.csv -o net.bif --draw net.svg

    Example: bayeskit learn cases.csv --structure expert.bif -o fitted.bif

    Example: bayeskit learn cases.csv --method best --seconds 30

    Example: bayeskit learn body.csv --numeric gaussian -o body.net

    Example: bayeskit learn cases.csv --method fci --draw pag.svg

    Example: bayeskit learn cases.csv -m tabu --restarts 10 --forbid "ill->age" --tier age,sex --tier ill,test
    """
    from bayeskit.network.learn.arc_reasons import arc_reasons
    from bayeskit.network.learn.search import learn_structure
    from bayeskit.table.files import TableFile
    from bayeskit.workflow.state_columns import read_states

    by_tests = method in ("fci", "rfci") and structure is None
    real = numeric == "gaussian"
    output = output or Path("pag.json" if by_tests else "network.net" if real else "network.bif")
    if real:
        _refuse_format_without_numbers(output)
    if why and (real or by_tests or structure is not None):
        reason = "arcs have reasons where a search found them, between variables with states"
        raise typer.BadParameter(f"{reason}.", param_hint="--why")
    _refuse_outputs(output, drawing, data, force, (".json", ".dot") if by_tests else None)
    columns = read_states(TableFile.open(data, encoding, delimiter), ignore or [])
    options: dict[str, Any] = {"ordering": _names(ordering) if ordering else None, "root": root, "restarts": restarts}
    options |= {"length": length, "alpha": alpha, "test": test, "max_seconds": seconds}
    tiers = [_names(level) for level in tier] if tier else None
    if by_tests:
        options |= {"score": score, "require": require, "forbid": forbid, "max_parents": max_parents}
        counter = _StepCounter()
        found = pag_of_table(columns, method, options, tiers=tiers, numeric=numeric, bins=bins, progress=counter)
        counter.end()
        write_pag(found, output, drawing, json)
        return
    if structure is not None:
        searched = {
            "method": method != "best",
            "score": score,
            "require": require,
            "forbid": forbid,
            "tier": tier,
        }
        _refuse_search({**searched, "max-parents": max_parents is not None, "numeric": numeric, **options})
        net = fit_structure(read_network(structure), columns, missing, smoothing, random_state)
        write_network(net, output)
        if drawing is not None:
            net.draw().save(drawing)
        _say_fitted(net, structure, output, drawing, json)
        return
    counter = _StepCounter()
    result = learn_structure(
        columns,
        _method(method, {name: value for name, value in options.items() if value is not None}),
        score,
        whitelist=[_arc(arc) for arc in require or []],
        blacklist=[_arc(arc) for arc in forbid or []],
        tiers=tiers,
        max_parents=max_parents,
        missing=missing,  # type: ignore[arg-type]
        numeric=numeric,
        bins=bins,
        smoothing=smoothing,
        random_state=random_state,
        progress=counter,
    )
    counter.end()
    write_network(result.network, output)
    if drawing is not None:
        result.draw().save(drawing)
    _say(result, output, drawing, arc_reasons(result.network, columns, result.score_name) if why else None, json)


def _refuse_format_without_numbers(output: Path) -> None:
    """Refuse a format that cannot hold real variables, before anything is learned."""
    from bayeskit.network.formats.network_format import known_extensions
    from bayeskit.network.formats.paths import format_of

    if output.suffix != ".bayes" and not format_of(output)[0].holds_real:
        able = ", ".join(sorted(ext for ext, form in known_extensions().items() if form.holds_real))
        raise typer.BadParameter(
            f"{output}: this format cannot hold real variables; use {able} or .bayes.", param_hint="--output"
        )


def _refuse_search(given: dict[str, Any]) -> None:
    """Refuse the options of a search where the structure is given."""
    name = next((name for name, value in given.items() if value), None)
    if name is not None:
        raise typer.BadParameter("it is not used with --structure, where nothing is searched.", param_hint=f"--{name}")


def fit_structure(
    net: BayesianNetwork, columns: dict[str, Any], missing: str, smoothing: float, random_state: int
) -> BayesianNetwork:
    """Return a network with its tables estimated from columns; ``missing`` is a word of the search's."""
    from bayeskit.errors import NetworkError

    # Where every cell is known, counts are all there is to it, and the network keeps them.
    if missing == "em" and any(_is_missing(cell) for name in net.names for cell in columns.get(name, [None])):
        seed: dict[str, Any] = {} if net.real else {"random_state": random_state}
        return net.fitted(columns, smoothing=smoothing, missing="em", **seed)
    if missing not in ("complete-rows", "node-average", "em"):
        raise NetworkError(f"missing must be 'complete-rows', 'node-average' or 'em'; got {missing!r}.")
    if missing == "complete-rows":
        here = [columns[name] for name in net.names if name in columns]
        rows = [i for i, cells in enumerate(zip(*here, strict=True)) if not any(_is_missing(cell) for cell in cells)]
        if not rows:
            raise NetworkError("no row has a value in every column of the network; choose node-average or em.")
        columns = {name: [cells[i] for i in rows] for name, cells in columns.items()}
    return net.fitted(columns, smoothing=smoothing)


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell


def _say_fitted(net: BayesianNetwork, structure: Path, output: Path, drawing: Path | None, json: bool) -> None:
    n_rows = None if net.counts is None else int(net.counts.alone.n_rows)
    if json:
        files = {"file": str(output), "drawing": None if drawing is None else str(drawing)}
        graph = {"variables": list(net.names), "arcs": net.arcs}
        screen.say_json({**files, **graph, "structure": str(structure), "rows": n_rows})
        return
    rows = "" if n_rows is None else f" from {n_rows} rows"
    screen.say(f"{output}: {len(net.names)} variables, {len(net.arcs)} arcs of {structure}; tables learned{rows}")
    if drawing is not None:
        screen.say(f"{drawing}: the drawing")


def _method(word: str, options: dict[str, Any]) -> SearchMethod:
    """Return the method with its options; one that it does not take is an error."""
    from bayeskit.errors import NetworkError
    from bayeskit.network.learn.search_method import METHODS, as_method

    taken = {field.name for field in fields(as_method(word))}  # type: ignore[arg-type]
    strange = [name for name in options if name not in taken]
    if strange:
        raise NetworkError(f"method {word!r} takes no --{_SPELLED.get(strange[0], strange[0])}.")
    return METHODS.classes[word](**options)


def _refuse_outputs(
    output: Path, drawing: Path | None, data: str, force: bool, endings: tuple[str, ...] | None = None
) -> None:
    """Refuse what could not be written, before a search that may take long; by default the file is a network."""
    from bayeskit.errors import NetworkError
    from bayeskit.network.formats.paths import format_of

    refuse_overwriting(output, (data,), force=force)
    if endings is not None and output.suffix.lower() not in endings:
        raise NetworkError(f"a graph with hidden causes is saved as {' or '.join(endings)}; got '{output}'.")
    if endings is None and output.suffix != ".bayes":
        format_of(output)
    if drawing is not None:
        refuse_overwriting(drawing, (data,), force=force)
        if drawing.suffix.lower() != ".svg":
            raise NetworkError(f"a drawing is saved as .svg; got '{drawing}'.")


def _arc(text: str) -> tuple[str, str]:
    from bayeskit.errors import NetworkError

    a, sign, b = text.partition("->")
    if not sign or not a.strip() or not b.strip():
        raise NetworkError(f"an arc has the form A->B; got {text!r}.")
    return a.strip(), b.strip()


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


class _StepCounter:
    """Shows the step and the objective on a terminal; a pipe gets nothing."""

    def __init__(self) -> None:
        import sys

        self._terminal = sys.stderr.isatty()

    def __call__(self, step: Step) -> None:
        if self._terminal:
            typer.echo(f"\rstep {step.done}: {step.objective:.6g}   ", err=True, nl=False)

    def end(self) -> None:
        if self._terminal:
            typer.echo("", err=True)


def _say(result: LearnedStructure, output: Path, drawing: Path | None, reasons: ArcReasons | None, json: bool) -> None:
    net, cpdag, history = result.network, result.cpdag, result.history
    if json:
        files = {"file": str(output), "drawing": None if drawing is None else str(drawing)}
        graph = {"variables": list(net.names), "arcs": net.arcs, "cpdag": {"arcs": cpdag.arcs, "edges": cpdag.edges}}
        screen.say_json(
            {
                **files,
                **graph,
                "score": result.score,
                "score_name": result.score_name,
                "method": history.method,
                "reason": history.reason,
                **({} if reasons is None else _reasons_json(reasons)),
            }
        )
        return
    screen.say(f"{output}: {len(net.names)} variables, {len(net.arcs)} arcs, {net.n_parameters} free parameters")
    screen.say(f"{history.method}, {result.score_name} {result.score:.6g}; {history.reason}")
    for arc in [f"{a} -> {b}" for a, b in net.arcs] if reasons is None else map(str, reasons.arcs):
        screen.say(f"  {arc}")
    if reasons is not None:
        screen.say("Came next:")
        for reason in _came_next(reasons)[:MOST_CANDIDATES]:
            screen.say(f"  {reason}")
    if drawing is not None:
        screen.say(f"{drawing}: the drawing")


def _came_next(reasons: ArcReasons) -> list[ArcReason]:
    return sorted((arc for arcs in reasons.candidates.values() for arc in arcs), key=lambda arc: -arc.gain)


def _reasons_json(reasons: ArcReasons) -> dict[str, Any]:
    return {
        "why": [arc._asdict() for arc in reasons.arcs],
        "candidates": [arc._asdict() for arc in _came_next(reasons)],
    }
