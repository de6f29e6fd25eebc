"""Arcs as a user writes them: one line, pairs or a mapping, read into names, parents and states."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from bayeskit.errors import NetworkError
from bayeskit.network.variable_names import did_you_mean

# A variable in a line: a name without the signs of the line's grammar, then perhaps [3] or {low|high}.
_VARIABLE = re.compile(
    r"\s*([^\s\[\]{}|;,<>-](?:[^\[\]{}|;,<>]*?[^\s\[\]{}|;,<>-])?)\s*(?:\[\s*(\d+)\s*\]|\{([^{}]*)\})?\s*"
)
_ARROW = re.compile(r"->|<-")


@dataclass
class Sketch:
    """The parents of each variable in the order of its arcs, and states where given; variables in the order seen."""

    parents: dict[str, list[str]] = field(default_factory=dict)
    states: dict[str, list[str] | int | None] = field(default_factory=dict)

    @property
    def names(self) -> list[str]:
        """The variables in the order of their first mention."""
        return list(self.parents)

    def variable(self, name: str) -> str:
        """Add a variable, if it is new."""
        if name not in self.parents:
            self.parents[name] = []
            self.states[name] = None
        return name

    def arc(self, parent: str, child: str) -> None:
        """Add an arc; a repeated arc is an error."""
        self.variable(parent)
        if parent in self.parents[self.variable(child)]:
            raise NetworkError(f"the arc {parent}->{child} appears twice; give it once.")
        self.parents[child].append(parent)

    def set_states(self, name: str, states: list[str] | int) -> None:
        """Set the states of a variable; given a second time, they must be the same."""
        known = self.states[name]
        if known is not None and known != states:
            raise NetworkError(f"variable {name!r} has the states {known!r} and also {states!r}; give them once.")
        self.states[name] = states


def read_arcs(
    structure: str | Iterable[str | tuple[str, str]] | Mapping[str, Sequence[str]],
    states: Mapping[str, Sequence[Any]],
    tables: Mapping[str, Any],
) -> Sketch:
    """Read a line, pairs or a mapping of child to parents."""
    sketch = Sketch()
    if isinstance(structure, str):
        _read_line(structure, sketch)
    elif isinstance(structure, Mapping):
        for child, parents in structure.items():
            sketch.variable(str(child))
            for parent in [parents] if isinstance(parents, str) else parents:
                sketch.arc(str(parent), str(child))
    else:
        _read_pairs(structure, sketch)
    for what, mapping in (("states", states), ("tables", tables)):
        for name in mapping:
            if name not in sketch.parents and sketch.names:
                raise NetworkError(
                    f"{what} names {name!r}, which is not a variable; {did_you_mean(name, sketch.names)}"
                )
    for name, listed in states.items():
        if isinstance(listed, str) or not isinstance(listed, Iterable):
            raise NetworkError(f"states[{name!r}] must be a list of states; got {listed!r}.")
        sketch.states[name] = [str(state) for state in listed]
    return sketch


def _read_pairs(pairs: Iterable[Any], sketch: Sketch) -> None:
    for pair in pairs:
        if isinstance(pair, str):
            sketch.variable(pair)
        elif isinstance(pair, Sequence) and len(pair) == 2:
            sketch.arc(str(pair[0]), str(pair[1]))
        else:
            raise NetworkError(f"an arc is a pair (parent, child); got {pair!r}.")


def _read_line(line: str, sketch: Sketch) -> None:
    for part in line.split(";"):
        if not part.strip():
            continue
        arrows = _ARROW.findall(part)
        groups = [[_read_variable(text, line, sketch) for text in group.split(",")] for group in _ARROW.split(part)]
        for left, arrow, right in zip(groups, arrows, groups[1:], strict=False):
            for a in left:
                for b in right:
                    sketch.arc(a, b) if arrow == "->" else sketch.arc(b, a)


def _read_variable(text: str, line: str, sketch: Sketch) -> str:
    match = _VARIABLE.fullmatch(text)
    if not match:
        raise NetworkError(
            f"cannot read {text.strip()!r} as a variable in {line!r}; write arcs as 'A->B<-C; D', states as "
            "'A[3]' or 'A{low|high}'."
        )
    name, card, states = match.groups()
    sketch.variable(name)
    if card is not None:
        if len(card) > 6:
            raise NetworkError(f"variable {name!r} would have {card[:20]} states; at most 999999 are made.")
        sketch.set_states(name, int(card))
    if states is not None:
        sketch.set_states(name, [state.strip() for state in states.split("|")])
    return name


def read_networkx(graph: Any) -> dict[str, Any]:
    """Read the structure, states and tables of a ``networkx.DiGraph``."""
    if not graph.is_directed() or graph.is_multigraph():
        raise NetworkError("a Bayesian network needs a directed graph without parallel arcs (networkx.DiGraph).")
    structure = {name: data.get("parents", list(graph.predecessors(name))) for name, data in graph.nodes(data=True)}
    for name, above in structure.items():
        if set(above) != set(graph.predecessors(name)):
            raise NetworkError(f"node {name!r} says the parents {above!r}, but its arcs come from others.")
    states = {name: data["states"] for name, data in graph.nodes(data=True) if "states" in data}
    tables = {str(name): data["table"] for name, data in graph.nodes(data=True) if "table" in data}
    return {"structure": structure, "states": states, "tables": tables or None}
