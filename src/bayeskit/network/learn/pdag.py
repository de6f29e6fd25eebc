"""A graph with arcs and with edges of unknown direction: as much of a structure as data can identify."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.network import dag
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.plot.network_svg import Drawing, Ends


@dataclass(frozen=True)
class PartialGraph(Result):
    """Arcs that all equivalent networks share, and edges that point either way (a CPDAG).

    Attributes
    ----------
    names : tuple of str
        The variables.
    arcs : tuple of (parent, child)
        Directed.
    edges : tuple of (a, b)
        Undirected; a stands before b in `names`.

    Examples
    --------
    >>> PartialGraph.of_parents(("A", "B", "C"), [[], [0], [1]])
    PartialGraph(3 variables, 0 arcs, 2 edges)
    """

    names: tuple[str, ...]
    arcs: tuple[tuple[str, str], ...]
    edges: tuple[tuple[str, str], ...]

    @classmethod
    def of_parents(cls, names: Sequence[str], parents: Sequence[Sequence[int]]) -> PartialGraph:
        """Return the CPDAG of a directed acyclic graph."""
        arcs, edges = dag.cpdag(parents)
        return cls.of_positions(names, arcs, edges)

    @classmethod
    def of_positions(
        cls, names: Sequence[str], arcs: set[tuple[int, int]], edges: set[tuple[int, int]]
    ) -> PartialGraph:
        """Return the graph of arcs and edges between positions."""
        pairs = {(min(a, b), max(a, b)) for a, b in edges}
        return cls(
            tuple(names),
            tuple((names[a], names[b]) for a, b in sorted(arcs)),
            tuple((names[a], names[b]) for a, b in sorted(pairs)),
        )

    def __repr__(self) -> str:
        return f"PartialGraph({len(self.names)} variables, {len(self.arcs)} arcs, {len(self.edges)} edges)"

    def marks(self) -> NDArray[np.bool_]:
        """Return m[a, b], true for an arc a → b and, both ways, for an edge."""
        place = {name: i for i, name in enumerate(self.names)}
        marks = np.zeros((len(place), len(place)), dtype=bool)
        for a, b in self.arcs:
            marks[place[a], place[b]] = True
        for a, b in self.edges:
            marks[place[a], place[b]] = marks[place[b], place[a]] = True
        return marks

    def draw(self) -> Drawing:
        """Draw the graph; an edge without a direction has no arrowhead."""
        return draw_partial(self.names, line_ends((*self.arcs, *self.edges), self.edges))

    def to_parents(self) -> list[list[int]]:
        """Return the parents of each node in a directed graph with these arcs and no new v-structure, if there is one.

        Examples
        --------
        >>> PartialGraph(("A", "B", "C"), (), (("A", "B"), ("B", "C"))).to_parents()
        [[1], [2], []]
        """
        return extend_to_dag(self.marks())


def line_ends(arcs: Iterable[tuple[str, str]], undirected: Iterable[tuple[str, str]]) -> dict[tuple[str, str], Ends]:
    """Return the marks at both ends of each arc; the undirected ones have none.

    Examples
    --------
    >>> line_ends([("A", "B"), ("B", "C")], [("C", "B")])
    {('A', 'B'): ('none', 'arrow'), ('B', 'C'): ('none', 'none')}
    """
    plain = {frozenset(pair) for pair in undirected}
    return {pair: ("none", "none" if frozenset(pair) in plain else "arrow") for pair in arcs}


def draw_partial(
    names: Sequence[str],
    lines: Mapping[tuple[str, str], Ends],
    kinds: Mapping[tuple[str, str], str] | None = None,
    legend: Mapping[str, str] | None = None,
) -> Drawing:
    """Draw lines, whose arrows may form cycles, with marks at their ends."""
    from bayeskit.plot.network_svg import draw_network

    place = {name: i for i, name in enumerate(names)}
    # A drawing in layers needs a graph without cycles: the line that would close one is drawn upwards.
    above: list[list[int]] = [[] for _ in names]
    drawn: dict[tuple[int, int], Ends] = {}
    styles: dict[tuple[int, int], str] = {}
    for pair, ends in lines.items():
        a, b = (place[name] for name in pair)
        line = (b, a) if b in dag.ancestors(above, [a]) else (a, b)
        above[line[1]].append(line[0])
        drawn[line] = ends if line == (a, b) else (ends[1], ends[0])
        if kinds and pair in kinds:
            styles[line] = kinds[pair]
    return draw_network(names, list(drawn), arc_kinds=styles, ends=drawn, legend=legend)


def extend_to_dag(marks: NDArray[np.bool_]) -> list[list[int]]:
    """Direct all edges without a cycle, and without a new v-structure where that can be (Dor & Tarsi 1992).

    A node can be made a sink when no arc leaves it and each of its undirected neighbours is joined to all of its
    neighbours; its edges then point at it, and it is removed. Where no node fits, as tests that contradict each
    other may have it, the node with fewest undirected neighbours among those that no arc leaves is taken.
    """
    left, n = marks.copy(), len(marks)
    parents: list[list[int]] = [[] for _ in range(n)]
    alive = list(range(n))
    while alive:
        sinks = [x for x in alive if not (left[x] & ~left[:, x]).any()]
        if not sinks:  # a cycle of arcs: only where the input had one
            sinks = alive
        x = next((x for x in sinks if _fits(left, x)), None)
        if x is None:
            x = min(sinks, key=lambda node: int((left[node] & left[:, node]).sum()))
        parents[x] = np.flatnonzero(left[:, x]).tolist()
        left[x], left[:, x] = False, False
        alive.remove(x)
    return parents


def _fits(marks: NDArray[np.bool_], x: int) -> bool:
    near = marks[x] | marks[:, x]
    for y in np.flatnonzero(marks[x] & marks[:, x]):
        joined = marks[y] | marks[:, y]
        rest = near.copy()
        rest[y] = False
        if (rest & ~joined).any():
            return False
    return True


def meek(marks: NDArray[np.bool_]) -> None:
    """Direct every edge whose other direction would make a cycle or a new v-structure; in place.

    ``marks[a, b]`` and ``marks[b, a]`` is an edge a — b, ``marks[a, b]`` alone an arc a → b.
    """
    joined, arcs, both = marks | marks.T, marks & ~marks.T, marks & marks.T
    near, into = ([set(np.flatnonzero(row).tolist()) for row in matrix] for matrix in (joined, arcs.T))
    edges = dag.direct_edges(near, into, set(zip(*(side.tolist() for side in np.nonzero(both)), strict=True)))
    for b, above in enumerate(into):
        marks[b, list(above)] = False
    assert (marks & marks.T).sum() == len(edges)
