"""What a worker does with a network: each task asks the library and returns JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from bayeskit.errors import BayeskitError, TooLargeError
from bayeskit.network import BayesianNetwork, LinearGaussian
from bayeskit.network.infer.evidence import Marginal
from bayeskit.studio.densities import real_answers
from bayeskit.studio.geometry import geometry
from bayeskit.studio.time_slices import cells_in_slices, is_sliced
from bayeskit.studio.workers import memory_allowed

Report = Callable[[dict[str, Any]], None]
MOST_MOVED, MOST_QUESTIONS, MOST_NUMBERS = 8, 12, 14
MOST_LINES = 200  # of a table of equations
MOST_CLICKS = 400_000  # numbers in a page that answers clicks without a server
# A number of a table is moved by this much to either side in a tornado.
SWING = 0.1


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _given(given: dict[str, Any]) -> dict[str, Any]:
    evidence: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, dict) and "mean" in value:
            evidence[name] = LinearGaussian(mean=value["mean"], sd=value["sd"])  # a reading with an error
        elif isinstance(value, dict):
            evidence[name] = Marginal(value["marginal"]) if "marginal" in value else value["likelihood"]
        else:
            evidence[name] = value
    return evidence


class _Changed:
    """The last network after `do`, so that the same action is compiled once; with its prior."""

    def __init__(self) -> None:
        self._of: Any = None  # the network and the actions that `_net` is made of
        self._net: Any = None
        self._prior: Any = None  # a network and its prior

    def network(self, net: BayesianNetwork, do: dict[str, Any]) -> BayesianNetwork:
        if not do:
            return net
        key = json.dumps(do, sort_keys=True)
        if self._of is None or self._of[0] is not net or self._of[1] != key:
            self._of, self._net = (net, key), net.do(do)
        changed: BayesianNetwork = self._net
        return changed

    def prior(self, net: BayesianNetwork) -> Any:
        if self._prior is None or self._prior[0] is not net:
            self._prior = (net, net.posterior(max_memory=memory_allowed()))
        return self._prior[1]


_changed = _Changed()


def posterior(
    net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any], target: str | None = None
) -> bytes:
    """Return the distribution of every variable, what changed most, and what is independent of the target."""
    prior, acted, known = _changed.prior(net), _changed.network(net, do), _given(given)
    answer = acted.posterior(given=known, max_memory=memory_allowed()) if known or do else prior
    aside = {*given, *do}
    if net.real:
        arrays = {name: answer[name].array for name in net.names if net.states[net.index(name)]}
        moved = _moved(prior, arrays)
    else:
        arrays, moved = answer.arrays, answer.moved_from(prior)
    result: dict[str, Any] = {
        "p": {name: values.tolist() for name, values in arrays.items()},
        "log_evidence": None if np.isnan(answer.log_evidence) else answer.log_evidence,
        "moved": [
            {"variable": name, "distance": far, "before": prior[name].array.tolist()}
            for name, far in moved.items()
            if name not in aside and far > 1e-9
        ][:MOST_MOVED],
        "separated": [],
        "real": real_answers(prior, answer) if net.real else {},
    }
    if target is not None and target not in aside:
        # Soft evidence leaves its variable open: it is not known, only informed.
        hard = [name for name, value in given.items() if isinstance(value, str | int | float)]
        near = {*acted.d_connected(target, hard), target, *aside}
        result["separated"] = [name for name in acted.names if name not in near]
    return _json(result)


def _moved(prior: Any, arrays: dict[str, Any]) -> dict[str, float]:
    """Return the total variation from the prior of each variable with states, largest first."""
    far = {name: 0.5 * float(np.abs(p - prior[name].array).sum()) for name, p in arrays.items()}
    return dict(sorted(far.items(), key=lambda item: -item[1]))


def clicks(net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return the distribution of every variable after one more state is known, for each state that is open."""
    if net.real:
        raise BayeskitError(f"{net.real[0]!r} is a number, for which a page cannot hold every answer; save a picture.")
    n_states = sum(net.cards)
    if n_states**2 > MOST_CLICKS:
        raise TooLargeError(
            f"the network has {n_states} states; a page that answers clicks would hold {n_states**2} numbers, and "
            f"up to {MOST_CLICKS} are written. Ask the library instead."
        )
    acted, known = _changed.network(net, do), _given(given)
    answers: dict[str, dict[str, Any]] = {}
    for name in net.names:
        if name in given or name in do:
            continue
        p = acted.posterior(name, given=known, max_memory=memory_allowed())
        answers[name] = {
            state: {
                other: [round(value, 6) for value in values.tolist()]
                for other, values in acted.posterior(
                    given={**known, name: state}, max_memory=memory_allowed()
                ).arrays.items()
            }
            for state in net.states[net.index(name)]
            if p[state] > 0
        }
    return _json({"clicks": answers})


def report_page(
    net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any], target: str | None = None
) -> bytes:
    """Return the report of a network as one page."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        known = target if target is None or target not in {*given, *do} else None
        _changed.network(net, do).report(path, given=_given(given) or None, target=known)
        return _json({"html": path.read_text(encoding="utf-8")})


def case(net: BayesianNetwork, report: Report, file: str, number: int) -> bytes:
    """Return one row of a table as evidence: cells of the network's variables that are states of them."""
    rows, names = _case_file(Path(file))
    if not 1 <= number <= len(rows):
        raise BayeskitError(f"there is no row {number}; the table has {len(rows)}.")
    cells: Mapping[str, Any] = dict(zip(names, rows[number - 1], strict=True))
    if is_sliced(net):  # this row is the first slice
        cells = cells_in_slices(net, names, rows[number - 1 :])
    shared = [name for name in cells if name in net]
    if not shared:
        raise BayeskitError(
            f"no column of the table is a variable of the network; columns are {', '.join(map(repr, names[:8]))}."
        )
    texts = {name: _state_of(net, name, cells[name]) for name in shared}
    given = {name: text for name, text in texts.items() if text in net.states[net.index(name)]}
    other = {name: text for name, text in texts.items() if text and name not in given}
    return _json({"given": given, "other": other, "rows": len(rows), "number": number})


def _state_of(net: BayesianNetwork, name: str, cell: Any) -> str:
    """Return the text of a cell; of a number in a variable that was cut into bins, the bin."""
    edges = net.schema[net.index(name)].edges
    if cell is None or not edges:
        return "" if cell is None else str(cell)
    try:
        return net.states[net.index(name)][int(np.searchsorted(edges, float(cell), side="right"))]
    except (ValueError, IndexError):
        return str(cell)


_cases: dict[Path, tuple[list[list[Any]], list[str]]] = {}


def _case_file(path: Path) -> tuple[list[list[Any]], list[str]]:
    """Return the rows and column names of a table; the last table is kept."""
    from bayeskit.table.files import TableFile

    if path not in _cases:
        _cases.clear()
        table = TableFile.open(path).read_written()
        columns = [column.to_pylist() for column in table.columns]
        _cases[path] = ([list(row) for row in zip(*columns, strict=True)], list(table.column_names))
    return _cases[path]


def explanation(net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return the most probable states of all variables together."""
    best = _changed.network(net, do).most_probable(given=_given(given), max_memory=memory_allowed())
    probability = None if np.isnan(best.probability) else best.probability
    return _json({"states": dict(best.items()), "probability": probability})


def conflict(net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return how far pieces of evidence contradict each other."""
    conflict = _changed.network(net, do).conflict(_given(given), max_memory=memory_allowed())
    return _json({"conflict": conflict.value, "pieces": conflict.pieces, "words": conflict.words})


def questions(net: BayesianNetwork, report: Report, target: str, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return which variables to ask about next."""
    acted = _changed.network(net, do)
    possible = acted.questions(target, given=_given(given), max_memory=memory_allowed())
    shown = [each for each in possible if each.variable not in do and each.information > 1e-12][:MOST_QUESTIONS]
    return _json(
        {"questions": [{"variable": q.variable, "information": q.information, "value": q.value} for q in shown]}
    )


def sensitivity(net: BayesianNetwork, report: Report, target: str, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return the numbers that a target's most probable state is most sensitive to, each changed up and down."""
    numbers = _changed.network(net, do).sensitivity(target, given=_given(given), max_memory=memory_allowed())
    bars: list[dict[str, Any]] = []
    seen = set()
    for number in numbers:
        # Of two states each number is one minus the other: one bar says both.
        row = (number.variable, *sorted(number.given.items()))
        if len(net.states[net.index(number.variable)]) == 2 and row in seen:
            continue
        seen.add(row)
        low, high = max(number.value - SWING, 0.0), min(number.value + SWING, 1.0)
        ends = sorted((number.probability_at(low), number.probability_at(high)))
        bars.append(
            {
                "number": str(number), "variable": number.variable, "state": number.state, "given": number.given,
                "value": number.value, "low": ends[0], "high": ends[1], "turns_below": number.low,
                "turns_above": number.high, "slope": number.slope,
            }
        )  # fmt: skip
    bars.sort(key=lambda bar: -round(bar["high"] - bar["low"], 12))
    return _json(
        {
            "state": numbers.state, "probability": numbers.probability, "swing": SWING,
            "numbers": [bar for bar in bars if bar["high"] - bar["low"] > 1e-9][:MOST_NUMBERS],
        }
    )  # fmt: skip


def separation(net: BayesianNetwork, report: Report, x: str, y: str, given: list[str], do: dict[str, Any]) -> bytes:
    """Return whether two variables are d-separated, with the reason."""
    answer = _changed.network(net, do).d_separated(x, y, given)
    return _json({"separated": answer.separated, "trail": answer.trail, "reason": answer.reason})


def table(net: BayesianNetwork, report: Report, variable: str) -> bytes:
    """Return the conditional table of a variable, row by row."""
    cpd = net[variable]
    if not cpd.states:
        return _json({"variable": variable, "equation": _equations(net, variable)})
    rows = cpd.array.reshape(-1, len(cpd.states))
    if rows.size > 20_000:
        raise TooLargeError(f"the table of {variable!r} has {rows.size} numbers; the page shows up to 20 000.")
    return _json(
        {
            "variable": variable, "states": cpd.states, "parents": cpd.parents, "parent_states": cpd.parent_states,
            "rows": rows.tolist(),
        }
    )  # fmt: skip


def _equations(net: BayesianNetwork, variable: str) -> str:
    """Return the linear equation of a real variable, one for each combination of states of its parents."""
    from bayeskit.network.formats.gaussian_text import line_text

    i = net.index(variable)
    cpd: Any = net.cpds[i]
    discrete = [p for p in net.parents[i] if net.states[p]]
    names = [net.names[p] for p in net.parents[i]]
    lines = []
    for k, combination in enumerate(product(*(net.states[p] for p in discrete))):
        where = ", ".join(f"{net.names[p]} = {state}" for p, state in zip(discrete, combination, strict=True))
        normal = f"Normal({line_text(cpd, k, names)}, sd {float(cpd.sd[k]):.6g})"
        lines.append(f"{where}: {normal}" if where else normal)
    return "\n".join(lines[:MOST_LINES] + ["…"] * (len(lines) > MOST_LINES))


TASKS: dict[str, Callable[..., bytes]] = {
    "posterior": posterior,
    "clicks": clicks,
    "report": report_page,
    "case": case,
    "explanation": explanation,
    "conflict": conflict,
    "questions": questions,
    "sensitivity": sensitivity,
    "separation": separation,
    "geometry": geometry,
    "table": table,
}
