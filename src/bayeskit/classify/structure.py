"""The structure of a classifier: which parents each feature has besides the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np

from bayeskit.counts.families import Families
from bayeskit.errors import BayeskitError


@dataclass(frozen=True)
class Structure:
    """The parents of each feature besides the class, which is a parent of all; prints as text and as DOT.

    Examples
    --------
    >>> structure = Structure(("sky", "wind", "sea"), ((), (0,), (1,)), "sail")
    >>> print(structure)
    sky  | sail
    wind | sail, sky
    sea  | sail, wind
    >>> structure.families
    ((0,), (0, 1), (1, 2))
    """

    names: tuple[str, ...]
    # For each feature the positions of its parents; None for a feature that takes no part.
    parents: tuple[tuple[int, ...] | None, ...]
    target: str = "class"

    def __post_init__(self) -> None:
        if len(self.parents) != len(self.names):
            raise BayeskitError(f"a structure needs parents for {len(self.names)} features; got {len(self.parents)}.")
        self.order  # noqa: B018 - refuses a cycle

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The features that take part, parents before children."""
        waiting = {j: set(parents) for j, parents in enumerate(self.parents) if parents is not None}
        children: dict[int, list[int]] = {j: [] for j in waiting}
        for j, parents in waiting.items():
            for parent in parents:
                if parent not in waiting:
                    raise BayeskitError(f"'{self.names[j]}' has the parent '{self.names[parent]}', which is left out.")
                children[parent].append(j)
        ready = [j for j, parents in waiting.items() if not parents]  # rising, and so a heap
        done: list[int] = []
        while ready:
            j = heappop(ready)
            done.append(j)
            for child in children[j]:
                waiting[child].discard(j)
                if not waiting[child]:
                    heappush(ready, child)
        if len(done) < len(waiting):
            raise BayeskitError(f"the parents form a cycle: {self._cycle(set(done))}; a structure must have none.")
        return tuple(done)

    def _cycle(self, placed: set[int]) -> str:
        path = [next(j for j, parents in enumerate(self.parents) if parents is not None and j not in placed)]
        while True:
            parent = next(p for p in self.parents[path[-1]] or () if p not in placed)
            if parent in path:
                return " → ".join(self.names[j] for j in [*path[path.index(parent) :], parent][::-1])
            path.append(parent)

    @cached_property
    def families(self) -> Families:
        """Parents and feature of each feature that takes part, parents' families first."""
        return tuple((*(self.parents[j] or ()), j) for j in self.order)

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """The arcs between features, parent first, by name."""
        return tuple(
            (self.names[parent], self.names[j]) for j, parents in enumerate(self.parents) for parent in parents or ()
        )

    def to_dot(self) -> str:
        """Return the network as DOT text, which Graphviz draws.

        >>> print(Structure(("sky",), ((),), "sail").to_dot())
        digraph {
          "sail" [shape=doublecircle];
          "sail" -> "sky";
        }
        """
        lines = [f"  {_quoted(self.target)} [shape=doublecircle];"]
        for j, parents in enumerate(self.parents):
            if parents is None:
                continue
            lines.append(f"  {_quoted(self.target)} -> {_quoted(self.names[j])};")
            lines.extend(f"  {_quoted(self.names[parent])} -> {_quoted(self.names[j])};" for parent in parents)
        return "\n".join(["digraph {", *lines, "}"])

    def __str__(self) -> str:
        width = max((len(self.names[j]) for j in self.order), default=0)
        lines = [
            f"{self.names[j]:{width}} | {', '.join([self.target, *(self.names[p] for p in parents)])}"
            for j, parents in enumerate(self.parents)
            if parents is not None
        ]
        left_out = [name for name, parents in zip(self.names, self.parents, strict=True) if parents is None]
        return "\n".join([*lines, *([f"left out: {', '.join(left_out)}"] if left_out else [])])


@dataclass(frozen=True)
class AveragedStructure:
    """The structures that a classifier averages over; prints and draws them one after the other."""

    members: tuple[Structure, ...]

    def to_dot(self) -> str:
        """Return one DOT graph for each structure."""
        return "\n".join(member.to_dot() for member in self.members)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.members))


def find_feature(feature: object, names: Sequence[str], what: str) -> int:
    """Return the position of a feature given by name or number; refuse, by name, what is none."""
    if isinstance(feature, str) and feature in names:
        return list(names).index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < len(names):
        return int(feature)
    raise BayeskitError(f"{what} is {feature!r}, which is not a feature; the features are {', '.join(names)}.")


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
