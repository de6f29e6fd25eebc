"""Chapter 14, time."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit import DynamicNetwork, HiddenMarkov, datasets


def rain() -> Any:
    """Return the umbrella network."""
    tables = {"rain[0]": [0.5, 0.5], "rain[t]": [[0.7, 0.3], [0.3, 0.7]], "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]]}
    return DynamicNetwork("rain[t-1]->rain[t]; rain[t]->umbrella[t]", tables=tables)


def filtered(*umbrella: str | None) -> float:
    """Return P(rain) on the last day, given the days so far."""
    return float(rain().filter({"umbrella": list(umbrella)}).of("rain", "yes")[-1])


def year_of_change() -> int:
    """Return the year in which the flow of the Nile changes its state."""
    nile = datasets.load_nile()
    states = HiddenMarkov(2, transitions="left-to-right").fit(nile, time="year").predict(nile)
    return next(int(year) for year, a, b in zip(nile["year"][1:], states, states[1:], strict=False) if a != b)


def long_run() -> float:
    """Return P(rain) after very many days with nothing seen."""
    tables = {"rain[0]": [0.5, 0.5], "rain[t]": [[0.7, 0.3], [0.1, 0.9]], "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]]}
    net = DynamicNetwork("rain[t-1]->rain[t]; rain[t]->umbrella[t]", tables=tables)
    return float(net.filter({"umbrella": ["yes", *[None] * 80]}).of("rain", "yes")[-1])


ANSWERS = {
    "14.1": lambda: filtered("yes"),
    "14.2": lambda: filtered("yes", None),
    "14.3": lambda: filtered("yes", "no"),
    "14.4": lambda: rain().smooth({"umbrella": ["yes", "yes"]}).of("rain", "yes")[0],
    "14.5": lambda: filtered("yes", *[None] * 60),
    "14.6": year_of_change,
    "14.7": lambda: np.exp(rain().log_likelihood({"umbrella": ["yes"]})).sum(),
    "14.8": lambda: np.exp(rain().log_likelihood({"umbrella": ["yes", "yes"]})).sum(),
    "14.9": lambda: rain().smooth({"umbrella": ["yes", None, "yes"]}).of("rain", "yes")[1],
    "14.10": long_run,
}
