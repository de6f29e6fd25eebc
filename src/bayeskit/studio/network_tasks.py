"""What a worker does with a network: each task asks the library and returns JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from bayeskit.defaults import STUDIO_MEMORY
from bayeskit.network import BayesianNetwork
from bayeskit.network.infer.evidence import Marginal

Report = Callable[[dict[str, Any]], None]
MOST_MOVED, MOST_QUESTIONS, MOST_NUMBERS = 8, 12, 14
# A number of a table is moved by this much to either side in a tornado.
SWING = 0.1


def _json(value: Any) -> bytes:
    return json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _given(given: dict[str, Any]) -> dict[str, Any]:
    evidence: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, dict):
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
            self._prior = (net, net.posterior(max_memory=STUDIO_MEMORY))
        return self._prior[1]


_changed = _Changed()


def posterior(
    net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any], target: str | None = None
) -> bytes:
    """Return the distribution of every variable, what changed most, and what is independent of the target."""
    prior, acted, known = _changed.prior(net), _changed.network(net, do), _given(given)
    answer = acted.posterior(given=known, max_memory=STUDIO_MEMORY) if known or do else prior
    moved = answer.moved_from(prior)
    aside = {*given, *do}
    result: dict[str, Any] = {
        "p": {name: values.tolist() for name, values in answer.arrays.items()},
        "log_evidence": None if np.isnan(answer.log_evidence) else answer.log_evidence,
        "moved": [
            {"variable": name, "distance": far, "before": prior[name].array.tolist()}
            for name, far in moved.items()
            if name not in aside and far > 1e-9
        ][:MOST_MOVED],
        "separated": [],
    }
    if target is not None and target not in aside:
        # Soft evidence leaves its variable open: it is not known, only informed.
        hard = [name for name, value in given.items() if isinstance(value, str)]
        near = {*acted.d_connected(target, hard), target, *aside}
        result["separated"] = [name for name in acted.names if name not in near]
    return _json(result)


def explanation(net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return the most probable states of all variables together."""
    best = _changed.network(net, do).most_probable(given=_given(given), max_memory=STUDIO_MEMORY)
    return _json({"states": dict(best.items()), "probability": best.probability})


def conflict(net: BayesianNetwork, report: Report, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return how far pieces of evidence contradict each other."""
    conflict = _changed.network(net, do).conflict(_given(given), max_memory=STUDIO_MEMORY)
    return _json({"conflict": conflict.value, "pieces": conflict.pieces, "words": conflict.words})


def questions(net: BayesianNetwork, report: Report, target: str, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return which variables to ask about next."""
    acted = _changed.network(net, do)
    asked = [
        each
        for each in acted.questions(target, given=_given(given), max_memory=STUDIO_MEMORY)
        if each.variable not in do
    ]
    shown = [each for each in asked if each.information > 1e-12][:MOST_QUESTIONS]
    return _json(
        {"questions": [{"variable": q.variable, "information": q.information, "value": q.value} for q in shown]}
    )


def sensitivity(net: BayesianNetwork, report: Report, target: str, given: dict[str, Any], do: dict[str, Any]) -> bytes:
    """Return the numbers that a target's most probable state is most sensitive to, each changed up and down."""
    numbers = _changed.network(net, do).sensitivity(target, given=_given(given), max_memory=STUDIO_MEMORY)
    bars: list[dict[str, Any]] = []
    for number in numbers:
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


def geometry(net: BayesianNetwork, report: Report) -> bytes:
    """Return the drawing: boxes, curves, influence of each arc."""
    from bayeskit.plot.network_svg import FONT, MARGIN, PAD, PERCENT, ROW, network_geometry

    arcs = [(p, i) for i, parents in enumerate(net.parents) for p in parents]
    drawing = network_geometry(net.names, net.states, arcs)
    influence = list(net.arc_influence().values())
    nodes = [
        {
            "name": name, "states": net.states[i], "x": round(x, 1), "y": round(y, 1), "width": round(w, 1),
            "height": round(h, 1), "label": round(drawing.label_rooms[i], 1), "shown": drawing.shown[i],
            "parents": [net.names[p] for p in net.parents[i]],
        }
        for i, (name, (x, y), (w, h)) in enumerate(zip(net.names, drawing.layout.centres, drawing.sizes, strict=True))
    ]  # fmt: skip
    curves = [
        {"from": net.names[p], "to": net.names[i], "influence": round(influence[k], 6),
         "points": [[round(x, 1), round(y, 1)] for x, y in drawing.layout.curves[k]]}
        for k, (p, i) in enumerate(arcs)
    ]  # fmt: skip
    measures = {"font": FONT, "pad": PAD, "row": ROW, "percent": PERCENT, "margin": MARGIN}
    return _json(
        {
            "width": drawing.layout.width,
            "height": drawing.layout.height,
            "measures": measures,
            "nodes": nodes,
            "arcs": curves,
        }
    )


def table(net: BayesianNetwork, report: Report, variable: str) -> bytes:
    """Return the conditional table of a variable, row by row."""
    cpd = net[variable]
    rows = cpd.array.reshape(-1, len(cpd.states))
    if rows.size > 20_000:
        from bayeskit.errors import TooLargeError

        raise TooLargeError(f"the table of {variable!r} has {rows.size} numbers; the page shows up to 20 000.")
    return _json(
        {
            "variable": variable, "states": cpd.states, "parents": cpd.parents, "parent_states": cpd.parent_states,
            "rows": rows.tolist(),
        }
    )  # fmt: skip


TASKS: dict[str, Callable[..., bytes]] = {
    "posterior": posterior,
    "explanation": explanation,
    "conflict": conflict,
    "questions": questions,
    "sensitivity": sensitivity,
    "separation": separation,
    "geometry": geometry,
    "table": table,
}
