"""How the variables of a network are drawn: places, notes, colours, groups; and where that is kept.

The network's own file keeps it as far as its format can (as `properties` of its variables); what it cannot hold stands
beside it, in a file of the same name with ``.look.json``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError
from bayeskit.io.container import atomic_write
from bayeskit.studio.shapes import LOOK, check

if TYPE_CHECKING:
    from bayeskit.network import BayesianNetwork

# A variable's place ("at"), "note", "colour" and "group"; variables without any of them are not in it.
Look = Mapping[str, Mapping[str, Any]]
COLOURS = ("a", "b", "c", "d", "e", "f", "g", "h")
MOST_NOTE, MOST_GROUP = 2_000, 100  # characters
MOST_LOOK = 4 << 20  # bytes of the file beside a network
# The names under which files keep each; the first two are those of GeNIe, Netica and Hugin.
PROPERTIES = {"at": "position", "note": "comment", "colour": "bayeskit_colour", "group": "bayeskit_group"}
CHANGES = ("move", "note", "colour", "layout", "group")
_PLACE = re.compile(r"\s*(-?\d{1,9}(?:\.\d*)?)[\s,]+(-?\d{1,9}(?:\.\d*)?)\s*")


def drawn(net: BayesianNetwork, before: Look, body: dict[str, Any]) -> Look:
    """Return the look after a change of it; empty entries are left out."""
    look = {name: dict(each) for name, each in before.items()}
    change = body["change"]
    if change == "layout":  # automatic again
        for each in look.values():
            each.pop("at", None)
    elif change == "move":
        for name, (x, y) in body["places"].items():
            net.index(name)
            look.setdefault(name, {})["at"] = [round(float(x)), round(float(y))]  # GeNIe's files have whole numbers
    elif change == "group":
        _refuse_long("a group's name", body["group"], MOST_GROUP)
        for name in body["variables"]:
            net.index(name)
            look.setdefault(name, {})["group"] = body["group"].strip()
    else:
        net.index(body["variable"])
        value = body[change]
        if change == "colour" and value not in ("", *COLOURS):
            raise BayeskitError(f"colour must be one of {', '.join(COLOURS)} or empty; got {value[:20]!r}.")
        if change == "note":
            _refuse_long("a note", value, MOST_NOTE)
        look.setdefault(body["variable"], {})[change] = value
    return _without_empty(look)


def _refuse_long(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise BayeskitError(f"{what} has at most {most} characters; this one has {len(text)}.")


def _without_empty(look: Mapping[str, Mapping[str, Any]]) -> Look:
    return {
        name: {key: value for key, value in each.items() if value} for name, each in look.items() if any(each.values())
    }


def look_of(net: BayesianNetwork) -> Look:
    """Return how the variables are drawn as far as the network's own file says so."""
    look: dict[str, dict[str, Any]] = {}
    for name, said in net.properties.items():
        if name not in net:
            continue
        place = _PLACE.fullmatch(said.get("position", ""))
        each: dict[str, Any] = {"at": [float(place[1]), float(place[2])] if place else None}
        each["note"] = said.get(PROPERTIES["note"], "")[:MOST_NOTE]
        each["group"] = said.get(PROPERTIES["group"], "")[:MOST_GROUP]
        each["colour"] = said.get(PROPERTIES["colour"]) if said.get(PROPERTIES["colour"]) in COLOURS else None
        look[name] = each
    return _without_empty(look)


def with_look(net: BayesianNetwork, look: Look) -> BayesianNetwork:
    """Return the network with its look among its properties, as a file keeps it."""
    if look_of(net) == look:
        return net
    kept = {name: {key: text for key, text in said.items() if key not in PROPERTIES.values()}
            for name, said in net.properties.items()}  # fmt: skip
    for name, each in look.items():
        mine = kept.setdefault(name, {})
        for key, value in each.items():
            mine[PROPERTIES[key]] = f"{value[0]:.10g} {value[1]:.10g}" if key == "at" else value
    changed = copy(net)
    changed.properties = {name: said for name, said in kept.items() if said}
    return changed


def look_file(path: Path) -> Path:
    """Return where that of the look is kept which the network's file cannot hold: beside it."""
    return path.with_name(f"{path.name}.look.json")


def read_look(path: Path, net: BayesianNetwork) -> Look:
    """Return how the variables of a file are drawn, as it and what is beside it say."""
    look = {name: dict(each) for name, each in look_of(net).items()}
    with suppress(OSError, ValueError, RecursionError), look_file(path).open("rb") as file:
        check(beside := json.loads(file.read(MOST_LOOK)), LOOK)
        for name, each in beside.items():
            if name in net:
                look.setdefault(name, {}).update(each)
    return look


def write_look(path: Path, written: Look, look: Look) -> None:
    """Write beside a file what it does not say itself; where nothing is left to say, no file is made."""
    beside = look_file(path.resolve())
    rest = {
        name: {key: value for key, value in each.items() if written.get(name, {}).get(key) != value}
        for name, each in look.items()
    }
    rest = {name: each for name, each in rest.items() if each}
    if rest:
        with atomic_write(beside) as file:
            file.write(json.dumps(rest, ensure_ascii=False, indent=1).encode())
    else:
        beside.unlink(missing_ok=True)
