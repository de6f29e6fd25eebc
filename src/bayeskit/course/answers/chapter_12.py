"""Chapter 12, learning networks."""

from __future__ import annotations

from typing import Any

from bayeskit import BayesianNetwork, datasets, learn_structure
from bayeskit.network.learn.methods.k2 import K2

_ROWS = {"x": ["yes", "yes", "no", "no", "yes", "no"], "y": ["yes", "yes", "no", "no", "no", "no"]}


def hidden() -> Any:
    """Return the network with a hidden cause."""
    tables = {"h": [0.6, 0.4], "x": [[0.7, 0.3], [0.2, 0.8]], "y": [[0.8, 0.2], [0.3, 0.7]]}
    return BayesianNetwork("h->x; h->y", tables=tables)


def history() -> Any:
    """Return EM's history from those tables."""
    return hidden().fitted(_ROWS, smoothing=0, missing="em", start="tables", record=True).history


def rain_gradient() -> float:
    """Return the gradient by P(rain) at (0.8, 0.2)."""
    net = BayesianNetwork(["rain"], tables={"rain": [0.8, 0.2]})
    return float(net.gradient({"rain": ["no"] * 7 + ["yes"] * 3})["rain"][1])


def wet() -> float:
    """Return P(wet | rain) of 8 in 10 rows with λ = 1."""
    rows = {"rain": ["yes"] * 10, "wet": ["yes"] * 8 + ["no"] * 2}
    return float(BayesianNetwork("rain->wet").fitted(rows, smoothing=1).posterior("wet", given={"rain": "yes"})["yes"])


def k2() -> Any:
    """Return what K2 finds in the tennis table."""
    order = ["play", "outlook", "humidity", "wind", "temperature"]
    return learn_structure(datasets.load_tennis(), method=K2(ordering=order))


def rain_log_likelihood() -> float:
    """Return ln P(D) of the days at the maximum."""
    days = {"rain": ["no"] * 7 + ["yes"] * 3}
    return float(BayesianNetwork(["rain"]).fitted(days, smoothing=0).log_likelihood(days))


def literal_step() -> float:
    """Return w after a step of the literal rule from the maximum."""
    net = BayesianNetwork(["rain"], tables={"rain": [0.7, 0.3]})
    moved = net.tables[0] + 0.05 * net.gradient({"rain": ["no"] * 7 + ["yes"] * 3})["rain"]
    return float(moved[0] / moved.sum())


ANSWERS = {
    "12.1": rain_gradient,
    "12.2": lambda: hidden().posterior("h", given={"x": "yes", "y": "yes"})["yes"],
    "12.3": lambda: history().steps[1].parameters[0][1],
    "12.4": lambda: any(step.gain < -1e-12 for step in history().steps),
    "12.5": wet,
    "12.6": lambda: k2().history.steps[-1].parameters.parents[0],
    "12.7": rain_log_likelihood,
    "12.8": literal_step,
    "12.9": lambda: len(k2().arcs),
    "12.10": lambda: next(s.parameters.variable for s in k2().history.steps[2:] if not s.parameters.parents),
}
