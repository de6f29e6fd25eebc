"""Chapter 11, belief networks."""

from __future__ import annotations

from typing import Any

from bayeskit import BayesianNetwork, datasets


def fire() -> Any:
    """Return the little network; tables list "no" before "yes"."""
    campfire = [[[0.8, 0.2], [0.2, 0.8]], [[0.9, 0.1], [0.6, 0.4]]]
    tables = {"Storm": [0.9, 0.1], "BusTourGroup": [0.5, 0.5], "Campfire": campfire}
    return BayesianNetwork("Storm->Campfire<-BusTourGroup", tables=tables)


def storm(given: dict[str, str]) -> float:
    """Return P(Storm | evidence)."""
    return float(fire().posterior("Storm", given=given)["yes"])


def full_table() -> int:
    """Return the free numbers of the full joint table of asia's variables: a network with all arcs."""
    names = datasets.load_asia().names
    whole = BayesianNetwork({name: list(names[:k]) for k, name in enumerate(names)})
    return int(whole.n_parameters)


ANSWERS = {
    "11.1": lambda: storm({"Campfire": "yes"}),
    "11.2": lambda: storm({"Campfire": "yes", "BusTourGroup": "no"}),
    "11.3": lambda: datasets.load_asia().n_parameters,
    "11.4": full_table,
    "11.5": lambda: datasets.load_burglary().posterior("Burglary", given={"JohnCalls": "yes", "MaryCalls": "yes"})[
        "yes"
    ],
    "11.6": lambda: bool(datasets.load_burglary().d_separated("Burglary", "Earthquake", given="Alarm")),
    "11.7": lambda: datasets.load_asia().posterior("lung", given={"xray": "yes", "smoke": "no"})["yes"],
    "11.8": lambda: bool(fire().d_separated("Storm", "BusTourGroup")),
    "11.9": lambda: fire().joint(["Storm", "BusTourGroup", "Campfire"])["yes", "no", "yes"],
    "11.10": lambda: len(datasets.load_asia().elimination("lung", given={"xray": "yes", "smoke": "no"}).steps),
}
