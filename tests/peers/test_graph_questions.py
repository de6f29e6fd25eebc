"""Graph questions are answered as networkx answers them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit.network import dag
from networks import dags

networkx = pytest.importorskip("networkx", reason="networkx is not installed")


def digraph(parents):
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(parents)))
    graph.add_edges_from((p, i) for i, own in enumerate(parents) for p in own)
    return graph


@given(dags(8), st.data())
@settings(deadline=None)
def test_separation_ancestors_and_moral_graph_agree_with_networkx(parents, data):
    graph = digraph(parents)
    n = len(parents)
    side = data.draw(st.lists(st.sampled_from("xyz-"), min_size=n, max_size=n))
    x, y, z = ({i for i in range(n) if side[i] == name} for name in "xyz")
    if x and y:
        assert (dag.open_trail(parents, x, y, z) is None) == networkx.is_d_separator(graph, x, y, z)
    i = data.draw(st.integers(0, n - 1))
    assert dag.ancestors(parents, [i]) == networkx.ancestors(graph, i) | {i}
    assert dag.moral_edges(parents) == {tuple(sorted(edge)) for edge in networkx.moral_graph(graph).edges}
