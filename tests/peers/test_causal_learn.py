"""Distances between structures, and graphs found by tests, are causal-learn's."""

import numpy as np
import pytest

from bayeskit import BayesianNetwork, compare_networks, learn_pag
from bayeskit.network.learn.pdag import PartialGraph

pytest.importorskip("causallearn", reason="causal-learn is not installed")


def random_graph(seed, n=8, p=0.35):
    rng = np.random.default_rng(seed)
    names = [f"v{i}" for i in range(n)]
    order = rng.permutation(n)
    parents = {names[order[j]]: [names[order[i]] for i in range(j) if rng.random() < p] for j in range(n)}
    return BayesianNetwork({name: parents[name] for name in names}, random_tables=seed)


def theirs(graph):
    """The CPDAG as a graph of causal-learn."""
    from causallearn.graph.Edge import Edge
    from causallearn.graph.Endpoint import Endpoint
    from causallearn.graph.GeneralGraph import GeneralGraph
    from causallearn.graph.GraphNode import GraphNode

    cpdag = PartialGraph.of_parents(graph.names, graph.parents)
    nodes = {name: GraphNode(name) for name in graph.names}
    made = GeneralGraph(list(nodes.values()))
    for a, b in cpdag.arcs:
        made.add_edge(Edge(nodes[a], nodes[b], Endpoint.TAIL, Endpoint.ARROW))
    for a, b in cpdag.edges:
        made.add_edge(Edge(nodes[a], nodes[b], Endpoint.TAIL, Endpoint.TAIL))
    return made


@pytest.mark.parametrize("seed", range(0, 40, 2))
def test_the_distance_of_two_cpdags_is_causal_learns(seed):
    from causallearn.graph.SHD import SHD

    a, b = random_graph(seed), random_graph(seed + 1)
    assert compare_networks(a, b).shd == SHD(theirs(a), theirs(b)).get_shd()


def test_fci_finds_the_graph_of_causal_learn():
    from causallearn.search.ConstraintBased.FCI import fci

    truth = BayesianNetwork("a->b<-h->c<-d; b->e", random_tables=4)
    rows = truth.sample(20_000, random_state=0)
    del rows["h"]
    codes = np.stack([np.unique(rows[name], return_inverse=True)[1] for name in rows], axis=1)
    graph, _ = fci(codes, "gsq", 0.01, show_progress=False, verbose=False)
    ends = {-1: "tail", 1: "arrow", 2: "circle"}
    names, found = list(rows), {}
    for i, a in enumerate(names):
        for j, b in enumerate(names):
            if graph.graph[i, j]:
                found[a, b] = ends[int(graph.graph[i, j])]  # the mark at a's end of a — b
    ours = learn_pag(rows, alpha=0.01, test="g2").pag
    assert marks_of(ours) == found


def marks_of(pag):
    """The mark at the first's end, of each pair that is joined."""
    words = {"-": "tail", "<": "arrow", ">": "arrow", "o": "circle"}
    return {(a, b): words[pag.edge(a, b)[0]] for a in pag.names for b in pag.names if a != b and pag.edge(a, b)}
