"""The network as the engine sees it: a distribution with a chain becomes hidden variables of two parents each.

A noisy-OR of 40 parents has a table of 2^41 cells. As a chain, a running state meets one parent after another, and no
table holds more than three variables (Zhang & Poole 1996, with positive numbers only). Where the full table gives the
smaller junction tree it is taken instead.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import log2, prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import InferenceEngine
from bayeskit.errors import TooLargeError
from bayeskit.network.cpd.distribution import table_fits
from bayeskit.network.infer.evidence import Evidence

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

Table = NDArray[np.float64]
# Up to this many parents the full table is tried beside the chain.
SMALL_FAMILY = 12
# Beyond this many parents of all chains together no trees are made to compare forms: each would take minutes.
MOST_LINKS_COMPARED = 5000
# Neighbours that are joined when a variable leaves the greedy order.
LARGEST_JOIN = 200


@dataclass(frozen=True, eq=False)
class Factored:
    """Cards, parents and tables of the network's variables, and of hidden ones after them.

    Attributes
    ----------
    names : list of str
        Of all variables; a hidden one says whose it is.
    resting : dict of variable to (state, hidden variables)
        Seen in that state, the variable says that all its hidden variables are in state 0.
    chained : set of int
        The variables whose distribution is a chain here.
    """

    names: list[str]
    cards: list[int]
    parents: list[list[int]]
    tables: list[Table]
    resting: dict[int, tuple[int, list[int]]] = field(default_factory=dict)
    chained: frozenset[int] = frozenset()

    @classmethod
    def of(cls, net: BayesianNetwork) -> Factored:
        """Return the form of the network with the smallest tree of those that are tried."""
        chains = [i for i, cpd in enumerate(net.cpds) if len(net.parents[i]) > 1 and cpd.steps() is not None]
        if not chains:
            return cls._with(net, frozenset(), {})
        if sum(len(net.parents[i]) for i in chains) > MOST_LINKS_COMPARED:
            return cls._with(net, frozenset(chains), _elimination_order(net, frozenset(chains)))
        orders = [_sweep_order(net, frozenset(chains)), _elimination_order(net, frozenset(chains))]
        must = frozenset(i for i in chains if not table_fits(net.cpds[i].shape))
        large = frozenset(i for i in chains if len(net.parents[i]) > SMALL_FAMILY)
        tried = list(dict.fromkeys([frozenset(chains), must | large]))
        forms = [cls._with(net, chosen, place) for chosen in tried for place in orders]
        return min(forms, key=lambda form: form.engine_cells())

    @classmethod
    def to_sample(cls, net: BayesianNetwork) -> Factored:
        """Return the network with every chain in the order of its parents: samples need no small tree."""
        chains = [i for i, cpd in enumerate(net.cpds) if len(net.parents[i]) > 1 and cpd.steps() is not None]
        return cls._with(net, frozenset(chains), {v: v for v in range(len(net.names))})

    @classmethod
    def full(cls, net: BayesianNetwork) -> Factored:
        """Return the network with full tables only."""
        return cls._with(net, frozenset(), {})

    @classmethod
    def _with(cls, net: BayesianNetwork, chained: frozenset[int], place: dict[int, int]) -> Factored:
        form = cls(list(net.names), list(net.cards), [list(above) for above in net.parents], [], chained=chained)
        for i, cpd in enumerate(net.cpds):
            if i not in chained:
                if not table_fits(cpd.shape):
                    raise TooLargeError(
                        f"variable {net.names[i]!r}: a {cpd!r} has a full table of {prod(map(float, cpd.shape)):.3g} "
                        "numbers, and its kind needs the table here. Give it fewer parents, or a form that has a chain "
                        "(NoisyOr, NoisyMax, TreeTable)."
                    )
                form.tables.append(np.ascontiguousarray(cpd.values))
            else:
                form.tables.append(np.empty(0))
        for i in sorted(chained):
            form._add_chain(net, i, place)
        return form

    def _add_chain(self, net: BayesianNetwork, i: int, place: dict[int, int]) -> None:
        above, cpd = net.parents[i], net.cpds[i]
        order = None if cpd.keeps_order else sorted(range(len(above)), key=lambda k: place[above[k]])
        steps = cpd.steps(order)
        assert steps is not None
        hidden: list[int] = []
        for step in steps:
            table, parents = step.table, [above[step.parent]]
            if hidden:
                parents = [hidden[-1], *parents]
            else:
                table = table[0]
            table = np.ascontiguousarray(table)
            if step is steps[-1]:
                self.parents[i], self.tables[i] = parents, table
            else:
                hidden.append(len(self.names))
                self.names.append(f"{net.names[i]} (hidden)")
                self.cards.append(table.shape[-1])
                self.parents.append(parents)
                self.tables.append(table)
        below = [state for state in range(net.cards[i]) if cpd.rests_below(state)]
        if below and hidden:
            self.resting[i] = (below[0], hidden)

    def native(self) -> InferenceEngine:
        """Return a new engine over these tables."""
        return InferenceEngine(self.cards, self.parents, self.tables)

    def engine_cells(self) -> float:
        """Return the logarithm of the cells of a greedy tree."""
        engine = self.native()
        engine.compile_quick()
        return log2(engine.entries) if engine.entries < float("inf") else float("inf")

    def evidence(self, evidence: Evidence) -> Evidence:
        """Return evidence with what it says of the hidden variables: an effect that is absent had no cause."""
        more = {h: 0 for i, (state, hidden) in self.resting.items() if evidence.states.get(i) == state for h in hidden}
        if not more:
            return evidence
        return Evidence({**evidence.states, **more}, evidence.likelihoods, evidence.marginals)


def _sweep_order(net: BayesianNetwork, chained: frozenset[int]) -> dict[int, int]:
    """Return an order in which variables with arcs between them stand near each other; chains do not count.

    All chains then run along one line, and a cut through it meets each of them once.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    arcs = [(p, i) for i, above in enumerate(net.parents) if i not in chained for p in above]
    ends = np.array([*arcs, *((b, a) for a, b in arcs)], dtype=np.int64).reshape(-1, 2)
    n = len(net.names)
    graph = coo_array((np.ones(len(ends), dtype=np.int8), (ends[:, 0], ends[:, 1])), shape=(n, n)).tocsr()
    return {int(v): k for k, v in enumerate(reverse_cuthill_mckee(graph, symmetric_mode=True))}


def _elimination_order(net: BayesianNetwork, chained: frozenset[int]) -> dict[int, int]:
    """Return when each variable leaves in a greedy elimination in which a chain joins no two parents.

    The chain then meets its parents in the order in which they leave, so that its running state is open for as short
    as it can be.
    """
    near: list[set[int]] = [set() for _ in net.names]
    for i, above in enumerate(net.parents):
        joined = (
            [(i, p) for p in above] if i in chained else [(a, b) for a in (*above, i) for b in (*above, i) if a < b]
        )
        for a, b in joined:
            near[a].add(b)
            near[b].add(a)
    heap = [(len(each), v) for v, each in enumerate(near)]
    heapify(heap)
    place: dict[int, int] = {}
    while heap:
        size, v = heappop(heap)
        if v in place or size != len(near[v]):
            continue
        place[v] = len(place)
        around = near[v]
        # Beyond this the greedy choice says little, and joining all pairs would take long.
        joins = len(around) <= LARGEST_JOIN
        for u in around:
            near[u].discard(v)
            if joins:
                near[u] |= around - {u}
            heappush(heap, (len(near[u]), u))
    return place
