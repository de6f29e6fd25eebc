"""Changes of a network that a page asks for: what each does and touches, and what two networks differ in."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError
from bayeskit.studio import look
from bayeskit.studio.look import Look

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

NEEDS = {
    "table": ("variable", "rows"), "states": ("variable", "states"), "add-arc": ("arc",), "remove-arc": ("arc",),
    "rename": ("variable", "name"), "move": ("places",), "note": ("variable", "note"),
    "colour": ("variable", "colour"), "layout": (), "group": ("variables", "group"),
}  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """A network, and how its variables are drawn."""

    net: BayesianNetwork
    look: Look = field(default_factory=dict)


def changed(draft: Draft, body: dict[str, Any]) -> Draft:
    """Return the draft after one change."""
    change = body["change"]
    for name in NEEDS.get(change, ("variable",)):
        if name not in body:
            raise BayeskitError(f"the change {change!r} needs {name!r}.")
    if change in look.CHANGES:
        return Draft(draft.net, look.drawn(draft.net, draft.look, body))
    net = _changed_network(draft.net, body)
    kept = {name: each for name, each in draft.look.items() if name in net}
    if change == "rename" and body["variable"] in draft.look:
        kept[body["name"]] = draft.look[body["variable"]]
    return Draft(net, kept)


def _changed_network(net: BayesianNetwork, body: dict[str, Any]) -> BayesianNetwork:
    import numpy as np

    change = body["change"]
    if change == "table":
        i = net.index(body["variable"])
        rows = body["rows"]
        if len(rows) * net.cards[i] != net.tables[i].size or any(len(row) != net.cards[i] for row in rows):
            raise BayeskitError(f"the table of {body['variable']!r} has another number of rows or states.")
        return net.with_table(body["variable"], np.array(rows).reshape(net.tables[i].shape))
    if change == "states":
        return with_states(net, body["variable"], body["states"], body.get("sources"))
    if change == "add-arc":
        return net.with_arc(*body["arc"])
    if change == "remove-arc":
        return net.without_arc(*body["arc"])
    if change == "add-variable":
        return net.with_variable(body["variable"], body.get("states") or None)
    if change == "remove-variable":
        return net.without_variable(body["variable"])
    return net.rename({body["variable"]: body["name"]})


def with_states(
    net: BayesianNetwork, variable: str, states: list[str], sources: list[str] | None = None
) -> BayesianNetwork:
    """Return the network with other states of a variable.

    ``sources[k]`` is the state that the k-th one was before, or "" for a new one; without sources, states of the same
    name stay. A new state has probability 0, and children do not prefer any of their states given it. Rows are divided
    by their sum where a state went.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.75, 0.25], "wet": [[1, 0], [0.5, 0.5]]})
    >>> changed = with_states(net, "rain", ["none", "some", "snow"], ["no", "yes", ""])
    >>> changed["rain"].array.tolist(), changed["wet"].array.tolist()
    ([0.75, 0.25, 0.0], [[1.0, 0.0], [0.5, 0.5], [0.5, 0.5]])
    """
    import numpy as np

    from bayeskit.network import BayesianNetwork

    i = net.index(variable)
    before = sources if sources is not None else [state if state in net.states[i] else "" for state in states]
    if len(before) != len(states):
        raise BayeskitError(f"{variable!r}: there are {len(states)} states and {len(before)} sources.")
    if len(states) < 1:
        raise BayeskitError(f"{variable!r} needs at least one state.")
    places = [net.state(variable, state) if state else -1 for state in before]
    kept, new = np.array([max(place, 0) for place in places]), np.array(places) < 0
    tables = [np.array(table) for table in net.tables]
    table = tables[i][..., kept]
    table[..., new] = 0.0
    total = table.sum(axis=-1, keepdims=True)
    tables[i] = np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / len(states))
    for child in net.children[i]:
        axis = net.parents[child].index(i)
        rows = np.take(tables[child], kept, axis=axis)
        rows[(slice(None),) * axis + (new,)] = 1.0 / net.cards[child]
        tables[child] = rows
    all_states = [list(states) if v == i else list(each) for v, each in enumerate(net.states)]
    return BayesianNetwork.from_tables(net.names, all_states, net.parents, tables, target=net.target)


def touches(net: BayesianNetwork, body: dict[str, Any]) -> set[str]:
    """Return what a change touches, in the words of :func:`differences`; moves touch nothing."""
    change = body["change"]
    if change in ("move", "layout"):
        return set()
    if change in ("note", "colour"):
        return {f"{change} of {body['variable']}"}
    if change == "group":
        return {f"group of {name}" for name in body["variables"]}
    if change in ("add-arc", "remove-arc"):
        return {body["arc"][1]}
    touched = {body["variable"]}
    if change in ("states", "remove-variable") and body["variable"] in net:
        touched |= {net.names[child] for child in net.children[net.index(body["variable"])]}
    return touched


def differences(before: Draft, after: Draft) -> set[str]:
    """Return the variables whose states, parents or table differ, and "note of …", "colour of …", "group of …"."""
    import numpy as np

    def shape(net: BayesianNetwork, name: str) -> Any:
        table = net[name]
        return [*map(tuple, (table.states, table.parents, *table.parent_states))]

    found = set(before.net.names) ^ set(after.net.names)
    for name in set(before.net.names) & set(after.net.names):
        old, new = before.net.tables[before.net.index(name)], after.net.tables[after.net.index(name)]
        if shape(before.net, name) != shape(after.net, name) or not (old is new or np.array_equal(old, new)):
            found.add(name)
    for name in {*before.look, *after.look}:
        for what in ("note", "colour", "group"):
            if before.look.get(name, {}).get(what) != after.look.get(name, {}).get(what):
                found.add(f"{what} of {name}")
    return found


def compare(here: BayesianNetwork, there: BayesianNetwork, most: int = 12) -> dict[str, Any]:
    """Return what two networks differ in, for a reader: variables and arcs on one side only, and tables of both."""
    both = differences(Draft(here), Draft(there)) & set(here.names) & set(there.names)
    tables = []
    for name in sorted(both)[:most]:
        sides = [net[name] for net in (here, there)]
        tables.append(
            {
                "variable": name,
                **{
                    side: {"states": table.states, "parents": table.parents, "rows": _rows(table)}
                    for side, table in zip(("here", "there"), sides, strict=True)
                },
            }
        )
    return {
        "only_here": [name for name in here.names if name not in there],
        "only_there": [name for name in there.names if name not in here],
        "differ": sorted(both),
        "tables": tables,
    }


def _rows(table: Any, most: int = 8) -> list[list[float]]:
    rows: list[list[float]] = table.array.reshape(-1, len(table.states))[:most].tolist()
    return rows


def write(net: BayesianNetwork, path: Path, like: Path | None = None) -> None:
    """Write a network to a path, in the format of its extension or of that of ``like`` (a link with another name)."""
    like = like or path
    if like.suffix == path.suffix:
        net.save(path) if path.suffix == ".bayes" else net.write(path)
        return
    beside = path.with_name(f".{secrets.token_hex(6)}{like.suffix}")
    try:
        write(net, beside)
        with suppress(FileNotFoundError):
            os.chmod(beside, path.stat().st_mode & 0o7777)
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
