from itertools import combinations, pairwise, permutations, product

import pytest
from hypothesis import given, settings

from bayeskit.plot.layers import count_crossings, layer, rank_nodes
from networks import dags, public


def arcs_of(parents):
    return [(p, i) for i, own in enumerate(parents) for p in own]


def crossings_by_pairs(layers):
    """Every pair of segments between the same rows whose ends are in opposite order."""
    row = {node: r for r, nodes in enumerate(layers.rows) for node in nodes}
    place = {node: k for nodes in layers.rows for k, node in enumerate(nodes)}
    segments = [(a, b) for chain in layers.chains for a, b in pairwise(chain)]
    return sum(
        row[a] == row[c] and (place[a] - place[c]) * (place[b] - place[d]) < 0
        for (a, b), (c, d) in combinations(segments, 2)
    )


@given(dags(7))
@settings(deadline=None)
def test_every_arc_goes_down_one_row_at_a_time_and_every_node_stands_once(parents):
    layers = layer(len(parents), arcs_of(parents))
    row = {node: r for r, nodes in enumerate(layers.rows) for node in nodes}
    assert sorted(node for nodes in layers.rows for node in nodes) == list(range(len(row)))
    for (a, b), chain in zip(arcs_of(parents), layers.chains, strict=True):
        assert (chain[0], chain[-1]) == (a, b)
        assert [row[node] for node in chain] == list(range(row[a], row[b] + 1))


@given(dags(7))
@settings(deadline=None)
def test_the_crossings_that_are_told_are_those_in_the_picture(parents):
    layers = layer(len(parents), arcs_of(parents))
    assert layers.crossings == crossings_by_pairs(layers)


@given(dags(5))
@settings(max_examples=40, deadline=None)
def test_the_total_length_of_arcs_is_the_least(parents):
    arcs = arcs_of(parents)
    rank = rank_nodes(len(parents), arcs)
    length = sum(rank[b] - rank[a] for a, b in arcs)
    n = len(parents)
    least = min(
        sum(r[b] - r[a] for a, b in arcs) for r in product(range(n), repeat=n) if all(r[b] > r[a] for a, b in arcs)
    )
    assert length == least


@given(dags(5))
@settings(max_examples=40, deadline=None)
def test_no_order_of_the_rows_of_a_small_graph_crosses_less(parents):
    layers = layer(len(parents), arcs_of(parents))
    n = sum(map(len, layers.rows))
    below = [[] for _ in range(n)]
    for a, b in layers.segments:
        below[a].append(b)
    if layers.crossings:
        least = min(
            sum(count_crossings(one, two, below) for one, two in pairwise(rows))
            for rows in product(*(list(permutations(row)) for row in layers.rows))
        )
        assert layers.crossings == least


# What Graphviz 2.43 reaches with `dot -v` on the same arcs.
GRAPHVIZ = {"asia": 0, "alarm": 7, "child": 1, "insurance": 21, "hailfinder": 4, "win95pts": 93, "mildew": 6}


@pytest.mark.parametrize("name", GRAPHVIZ)
def test_public_networks_cross_no_more_than_in_graphviz(name):
    net = public(name)
    assert layer(len(net.names), arcs_of(net.parents)).crossings <= GRAPHVIZ[name]


def test_the_same_graph_is_drawn_in_the_same_way_each_time():
    net = public("insurance")
    arcs = arcs_of(net.parents)
    assert layer(len(net.names), arcs).rows == layer(len(net.names), arcs).rows
