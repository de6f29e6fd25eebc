"""The structure of a classifier: which parents each feature has besides the class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bayeskit.counts.families import Families
from bayeskit.errors import BayeskitError
from bayeskit.network import dag
from bayeskit.network.dot_text import dot_text
from bayeskit.result import Result


@dataclass(frozen=True, repr=False)
class Structure(Result):
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
        """The features that are used, parents before children."""
        for j, parents in enumerate(self.parents):
            for parent in parents or ():
                if self.parents[parent] is None:
                    raise BayeskitError(f"'{self.names[j]}' has the parent '{self.names[parent]}', which is left out.")
        graph = [parents or () for parents in self.parents]
        order = dag.topological_order(graph)
        if len(order) < len(graph):
            cycle = " → ".join(self.names[j] for j in dag.find_cycle(graph))
            raise BayeskitError(f"the parents form a cycle: {cycle}; a structure must have none.")
        return tuple(j for j in order if self.parents[j] is not None)

    @cached_property
    def families(self) -> Families:
        """Parents and feature of each feature that is used, parents' families first."""
        return tuple((*(self.parents[j] or ()), j) for j in self.order)

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs between features, parent first, by name."""
        return tuple(
            (self.names[parent], self.names[j]) for j, parents in enumerate(self.parents) for parent in parents or ()
        )

    def to_dot(self) -> str:
        """Return the network as DOT text, which Graphviz draws.

        >>> print(Structure(("sky",), ((),), "sail").to_dot())
        digraph {
          "sail" [shape="doublecircle"];
          "sail" -> "sky";
        }
        """
        arcs = [
            (parent, self.names[j])
            for j, parents in enumerate(self.parents)
            if parents is not None
            for parent in (self.target, *(self.names[p] for p in parents))
        ]
        return dot_text({self.target: {"shape": "doublecircle"}}, arcs)

    def __str__(self) -> str:
        width = max((len(self.names[j]) for j in self.order), default=0)
        lines = [
            f"{self.names[j]:{width}} | {', '.join([self.target, *(self.names[p] for p in parents)])}"
            for j, parents in enumerate(self.parents)
            if parents is not None
        ]
        left_out = [name for name, parents in zip(self.names, self.parents, strict=True) if parents is None]
        return "\n".join([*lines, *([f"left out: {', '.join(left_out)}"] if left_out else [])])


@dataclass(frozen=True, repr=False)
class AveragedStructure(Result):
    """The structures that a classifier averages over; prints and draws them one after the other."""

    members: tuple[Structure, ...]

    def to_dot(self) -> str:
        """Return one DOT graph for each structure."""
        return "\n".join(member.to_dot() for member in self.members)

    def __str__(self) -> str:
        return "\n\n".join(map(str, self.members))


def find_feature(feature: object, names: Sequence[str], what: str) -> int:
    """Return the position of a feature given by name or number; raise an error for anything else."""
    if isinstance(feature, str) and feature in names:
        return list(names).index(feature)
    if isinstance(feature, int | np.integer) and not isinstance(feature, bool) and 0 <= feature < len(names):
        return int(feature)
    raise BayeskitError(f"{what} is {feature!r}, which is not a feature; the features are {', '.join(names)}.")
