"""Dynamic networks on the page: some slices of time side by side, as one network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork
    from bayeskit.sequence.dynamic_network import DynamicNetwork

MOST_SLICES, FEWEST_SLICES, MOST_BOXES = 8, 3, 200
WIDE, HIGH = 195, 130  # from box to box
SLICES = "bayeskit_slices"  # the property that tells such a network from others


def in_slices(model: DynamicNetwork) -> BayesianNetwork:
    """Return the network of some slices, time from left to right.

    Examples
    --------
    >>> from bayeskit import DynamicNetwork
    >>> net = in_slices(DynamicNetwork("rain[t-1]->rain[t]"))
    >>> net.properties["rain[2]"]["position"], len(net.names)
    ('390 0', 8)
    """
    n = max(FEWEST_SLICES, model.order + 1, min(MOST_SLICES, MOST_BOXES // len(model.names)))
    net = model.unrolled(n)
    place = {name: k for k, name in enumerate(model.names)}
    properties = {"": {SLICES: str(n)}}
    for i in net.topological_order:
        name, t = split(net.names[i])
        properties[net.names[i]] = {"position": f"{WIDE * t} {HIGH * place[name]}"}
    net.properties = properties
    return net


def is_sliced(net: BayesianNetwork) -> bool:
    """Return whether a network is slices of a dynamic one."""
    return SLICES in net.properties.get("", {})


def split(name: str) -> tuple[str, int]:
    """Return the variable and the time of ``rain[3]``.

    Examples
    --------
    >>> split("rain[3]")
    ('rain', 3)
    """
    variable, _, time = name[:-1].rpartition("[")
    return variable, int(time)


def cells_in_slices(net: BayesianNetwork, names: Sequence[str], rows: Sequence[Sequence[Any]]) -> Mapping[str, Any]:
    """Return the cells of rows that follow each other as cells of the slices; rows that are not there are unknown."""
    columns = {name: k for k, name in enumerate(names)}
    cells = {}
    for each in net.names:
        name, t = split(each)
        if name in columns:
            cells[each] = rows[t][columns[name]] if t < len(rows) else None
    return cells
