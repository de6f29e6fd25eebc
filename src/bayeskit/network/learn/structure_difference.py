"""Comparison of two structures: their differences, counted between CPDAGs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.learn.pdag import PartialGraph, draw_partial, line_ends
from bayeskit.network.named_graph import NamedGraph
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.plot.network_svg import Drawing

Arc = tuple[str, str]
_MEANINGS = {
    "same": "in both",
    "missing": "in the first only",
    "extra": "in the second only",
    "turned": "in both, with another direction (as in the first)",
}


@dataclass(frozen=True)
class NetworkComparison(Result):
    """How a network differs from another one, the truth.

    All is counted between CPDAGs, so that equivalent networks do not differ.

    Attributes
    ----------
    shd : int
        The structural Hamming distance: the pairs of variables that are joined otherwise (Tsamardinos et al. 2006).
    correct, missing, extra, reversed : tuples of (a, b)
        Pairs joined in the same way in both, in the truth only, in the other only, and in both but with another
        direction (or with a direction in one of them only), as the truth has them (those of ``extra`` as the other has
        them).
    undirected : tuple of (a, b)
        Those of all these that have no direction there.
    """

    names: tuple[str, ...]
    correct: tuple[Arc, ...]
    missing: tuple[Arc, ...]
    extra: tuple[Arc, ...]
    reversed: tuple[Arc, ...]
    undirected: tuple[Arc, ...] = ()

    @property
    def shd(self) -> int:
        """The structural Hamming distance."""
        return len(self.missing) + len(self.extra) + len(self.reversed)

    def __repr__(self) -> str:
        return (
            f"SHD {self.shd}: {len(self.missing)} missing, {len(self.extra)} extra, {len(self.reversed)} with another "
            f"direction; {len(self.correct)} correct"
        )

    def draw(self) -> Drawing:
        """Draw both in one picture: correct grey, missing red and dashed, extra blue, another direction orange.

        An arc points as in the truth (an extra one as in the other), and an edge without a direction has no arrowhead.
        """
        styles = {"same": self.correct, "missing": self.missing, "extra": self.extra, "turned": self.reversed}
        kinds = {arc: kind for kind, arcs in styles.items() for arc in arcs}
        legend = {kind: f"{_MEANINGS[kind]} ({len(arcs)})" for kind, arcs in styles.items() if arcs}
        return draw_partial(self.names, line_ends(kinds, self.undirected), kinds, legend)


def compare_networks(truth: NamedGraph | PartialGraph, other: NamedGraph | PartialGraph) -> NetworkComparison:
    """Compare the structure of a network with another one that is taken for the truth.

    Parameters
    ----------
    truth, other : BayesianNetwork or PartialGraph
        Over the same variables.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork, compare_networks
    >>> compare_networks(BayesianNetwork("A->C<-B"), BayesianNetwork("A->C->B"))
    SHD 2: 0 missing, 0 extra, 2 with another direction; 0 correct
    """
    if set(truth.names) != set(other.names):
        strange = sorted(set(truth.names) ^ set(other.names))
        raise NetworkError(f"the two networks are over different variables: {strange[0]!r} is in one of them only.")
    names = truth.names
    ours = _class_of(truth).marks()
    place = [other.names.index(name) for name in names]
    theirs = _class_of(other).marks()[np.ix_(place, place)]
    pairs: dict[str, list[Arc]] = {"correct": [], "missing": [], "extra": [], "reversed": [], "undirected": []}
    for a in range(len(names)):
        for b in range(a + 1, len(names)):
            one, two = (bool(ours[a, b]), bool(ours[b, a])), (bool(theirs[a, b]), bool(theirs[b, a]))
            if not any(one) and not any(two):
                continue
            kind = "correct" if one == two else "missing" if not any(two) else "extra" if not any(one) else "reversed"
            shown = two if kind == "extra" else one
            pairs[kind].append((names[a], names[b]) if shown[0] else (names[b], names[a]))
            if all(shown):
                pairs["undirected"].append((names[a], names[b]))
    return NetworkComparison(names, **{kind: tuple(arcs) for kind, arcs in pairs.items()})


def _class_of(graph: NamedGraph | PartialGraph) -> PartialGraph:
    return graph if isinstance(graph, PartialGraph) else PartialGraph.of_parents(graph.names, graph.parents)
