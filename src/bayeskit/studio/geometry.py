"""The drawing of a network for the page: boxes of variables and of folded groups, and curves of arcs."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bayeskit.network import BayesianNetwork
from bayeskit.network.influence import influence_of_axis
from bayeskit.studio.groups import group_variables

ROWS_OF_REAL = 4  # a density takes the room of so many states
MIDDLE = 0.4  # the width of an arc whose strength is not measured
MOST_NEAR = 40  # boxes that are shown around what is asked for


@dataclass(frozen=True)
class Box:
    """A variable, or a folded group of several."""

    name: str
    members: tuple[int, ...]
    group: str  # "" for none
    folded: bool


def geometry(
    net: BayesianNetwork,
    report: Callable[[dict[str, Any]], None],
    groups: dict[str, str] | None = None,
    folded: list[str] | None = None,
    near: list[str] | None = None,
) -> bytes:
    """Return the drawing: boxes, curves, influence of each arc.

    ``groups`` says the group of a variable. Of the groups in ``folded`` (those that the graph suggests: all, unless it
    is said) the members are one box, but for the variables in ``near`` and their neighbours.
    """
    from bayeskit.plot.network_svg import FONT, MARGIN, PAD, PERCENT, ROW, network_geometry

    arcs = [(p, i) for i, parents in enumerate(net.parents) for p in parents]
    said = {name: group for name, group in (groups or {}).items() if group}
    grouped = group_variables(net.names, arcs, said)
    if folded is None:
        folded = [] if any(name in net for name in said) else list(grouped)
    boxes = _boxes(net, grouped, set(folded), _neighbourhood(net, near or []))
    links = _links(net, boxes, arcs)
    states = [_rows(net, box) for box in boxes]
    drawing = network_geometry([box.name for box in boxes], states, [(a, b) for a, b, _ in links])
    nodes = [
        _node(net, box) | {
            "x": round(x, 1), "y": round(y, 1), "width": round(w, 1), "height": round(h, 1),
            "label": round(drawing.label_rooms[k], 1), "shown": drawing.shown[k],
        }
        for k, (box, (x, y), (w, h)) in enumerate(zip(boxes, drawing.layout.centres, drawing.sizes, strict=True))
    ]  # fmt: skip
    curves = [
        {"from": boxes[a].name, "to": boxes[b].name, "points": [[round(x, 1), round(y, 1)] for x, y in curve], **about}
        for (a, b, about), curve in zip(links, drawing.layout.curves, strict=True)
    ]
    shown = {box.members[0] for box in boxes if not box.folded}
    answer = {
        "width": drawing.layout.width,
        "height": drawing.layout.height,
        "measures": {"font": FONT, "pad": PAD, "row": ROW, "percent": PERCENT, "margin": MARGIN},
        "nodes": nodes,
        "arcs": curves,
        "hidden": [_variable(net, i) for i in range(len(net.names)) if i not in shown],
        "groups": [
            {"name": name, "members": [net.names[i] for i in members], "folded": name in folded}
            for name, members in grouped.items()
        ],
        "suggested": bool(grouped) and not any(name in net for name in said),
    }
    return json.dumps(answer, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()


def _neighbourhood(net: BayesianNetwork, near: list[str]) -> set[int]:
    """Return variables and what is near them: parents and children first, then the other parents of children."""
    chosen = [net.index(name) for name in near if name in net]  # a bookmark may name others
    close = [each for i in chosen for each in (*net.parents[i], *net.children[i])]
    further = [p for i in chosen for child in net.children[i] for p in net.parents[child]]
    return set([*dict.fromkeys([*chosen, *close, *further])][: max(MOST_NEAR, len(chosen))])


def _boxes(net: BayesianNetwork, grouped: dict[str, list[int]], folded: set[str], near: set[int]) -> list[Box]:
    group_of = {i: name for name, members in grouped.items() for i in members}
    boxes = [Box(net.names[i], (i,), group_of.get(i, ""), False) for i in range(len(net.names))
             if group_of.get(i) not in folded or i in near]  # fmt: skip
    for name, members in grouped.items():
        inside = tuple(i for i in members if i not in near)
        if name in folded and inside:
            label = f"⊞ {name}"
            while label in net:
                label = f"⊞{label}"
            boxes.append(Box(label, inside, name, True))
    return boxes


def _rows(net: BayesianNetwork, box: Box) -> list[str]:
    if box.folded:
        return ["9999 variables"]
    return list(net.states[box.members[0]]) or [""] * ROWS_OF_REAL


def _variable(net: BayesianNetwork, i: int) -> dict[str, Any]:
    real = {"real": True} if not net.states[i] else {}
    return {"name": net.names[i], "states": net.states[i], "parents": [net.names[p] for p in net.parents[i]], **real}


def _node(net: BayesianNetwork, box: Box) -> dict[str, Any]:
    if not box.folded:
        return _variable(net, box.members[0]) | ({"group": box.group} if box.group else {})
    return {
        "name": box.name, "states": [], "parents": [], "group": box.group,
        "members": [net.names[i] for i in box.members],
    }  # fmt: skip


def _links(
    net: BayesianNetwork, boxes: list[Box], arcs: list[tuple[int, int]]
) -> list[tuple[int, int, dict[str, Any]]]:
    """Return the arcs between boxes, each from the box that stands higher.

    Arcs of several variables of a folded group are one, as wide as the strongest; it may point both ways.
    """
    rank = {i: k for k, i in enumerate(net.topological_order)}
    height = [sum(rank[i] for i in box.members) / len(box.members) for box in boxes]
    box_of = {i: k for k, box in enumerate(boxes) for i in box.members}
    influence = _influence(net)
    merged: dict[tuple[int, int], dict[str, Any]] = {}
    for p, i in arcs:
        a, b = box_of[p], box_of[i]
        if a == b:
            continue
        down = (height[a], a) < (height[b], b)
        about = merged.setdefault((a, b) if down else (b, a), {"influence": 0.0, "down": False, "up": False, "n": 0})
        about["influence"] = max(about["influence"], round(influence[p, i], 6))
        about["down" if down else "up"] = True
        about["n"] += 1
    return [(a, b, about) for (a, b), about in merged.items()]


def _influence(net: BayesianNetwork) -> dict[tuple[int, int], float]:
    """Return the strength of each arc by places; of an arc to a real variable, which has no rows to compare, MIDDLE."""
    return {
        (p, i): influence_of_axis(net.tables[i], axis) if net.states[i] else MIDDLE
        for i, above in enumerate(net.parents)
        for axis, p in enumerate(above)
    }
