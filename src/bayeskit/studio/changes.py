"""Changes of a network that a page asks for; each is a method of the library."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork


NEEDS = {"table": ("variable", "rows"), "add-arc": ("arc",), "remove-arc": ("arc",), "rename": ("variable", "name")}


def changed(net: BayesianNetwork, body: dict[str, Any]) -> BayesianNetwork:
    """Return the network after one change."""
    import numpy as np

    change = body["change"]
    for field in NEEDS.get(change, ("variable",)):
        if field not in body:
            raise BayeskitError(f"the change {change!r} needs {field!r}.")
    if change == "table":
        i = net.index(body["variable"])
        rows = body["rows"]
        if len(rows) * net.cards[i] != net.tables[i].size or any(len(row) != net.cards[i] for row in rows):
            raise BayeskitError(f"the table of {body['variable']!r} has another number of rows or states.")
        return net.with_table(body["variable"], np.array(rows).reshape(net.tables[i].shape))
    if change == "add-arc":
        return net.with_arc(*body["arc"])
    if change == "remove-arc":
        return net.without_arc(*body["arc"])
    if change == "add-variable":
        return net.with_variable(body["variable"], body.get("states") or None)
    if change == "remove-variable":
        return net.without_variable(body["variable"])
    return net.rename({body["variable"]: body["name"]})


def write(net: BayesianNetwork, path: Path) -> None:
    """Write a network in the format of the path's extension."""
    if path.suffix == ".bayes":
        net.save(path)
    else:
        net.write(path)
