"""Graph questions agree with their definitions, checked by enumeration on small graphs."""

from itertools import combinations, pairwise, permutations, product

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayeskit.network import dag
from networks import dags


def separated_by_moral_graph(parents, x, y, z):
    """Lauritzen et al. (1990): x and y are cut in the moral graph of the ancestors of all three sets."""
    kept = dag.ancestors(parents, {*x, *y, *z})
    inner = [[p for p in own if p in kept] if i in kept else [] for i, own in enumerate(parents)]
    edges = dag.moral_edges(inner)
    reached, stack = set(x), list(x)
    while stack:
        a = stack.pop()
        for b in range(len(parents)):
            if (min(a, b), max(a, b)) in edges and b not in reached and b not in z:
                reached.add(b)
                stack.append(b)
    return not reached & set(y)


@st.composite
def questions(draw):
    parents = draw(dags(7))
    place = draw(st.lists(st.sampled_from("xyz-"), min_size=len(parents), max_size=len(parents)))
    return parents, *([i for i, side in enumerate(place) if side == name] for name in "xyz")


@given(questions())
@settings(max_examples=300)
def test_an_open_trail_is_found_unless_the_moral_graph_of_the_ancestors_is_cut(question):
    parents, x, y, z = question
    trail = dag.open_trail(parents, x, y, z)
    assert (trail is None) == separated_by_moral_graph(parents, x, y, z)


@given(questions())
def test_the_trail_is_open_by_the_definition_and_visits_no_node_twice(question):
    parents, x, y, z = question
    trail = dag.open_trail(parents, x, y, z)
    assume(trail is not None)
    assert trail[0] in x
    assert trail[-1] in y
    assert len(set(trail)) == len(trail)
    opened = dag.ancestors(parents, z)
    for a, b in pairwise(trail):
        assert a in parents[b] or b in parents[a]
    for a, c, b in zip(trail, trail[1:], trail[2:], strict=False):
        collider = a in parents[c] and b in parents[c]
        assert (c in opened) if collider else (c not in z)


def all_dags(edges, n):
    """Every DAG with these edges, each turned either way."""
    for turns in product((False, True), repeat=len(edges)):
        parents = [[] for _ in range(n)]
        for (a, b), turn in zip(edges, turns, strict=True):
            parents[a if turn else b].append(b if turn else a)
        if len(dag.topological_order(parents)) == n:
            yield parents


def separations(parents):
    """All d-separations of pairs, as their definition has them."""
    n = len(parents)
    return {
        (x, y, z)
        for x, y in combinations(range(n), 2)
        for r in range(n - 1)
        for z in combinations([i for i in range(n) if i not in (x, y)], r)
        if separated_by_moral_graph(parents, [x], [y], z)
    }


@given(dags(4))
@settings(max_examples=60, deadline=None)
def test_the_cpdag_holds_what_all_graphs_with_the_same_separations_share(parents):
    edges = sorted(dag.skeleton(parents))
    mine = separations(parents)
    same = [other for other in all_dags(edges, len(parents)) if separations(other) == mine]
    shared = {(a, b) for a, b in permutations(range(len(parents)), 2) if all(a in other[b] for other in same)}
    arcs, free = dag.cpdag(parents)
    assert arcs == shared
    assert free == {(a, b) for a, b in edges if (a, b) not in shared and (b, a) not in shared}


@given(dags(4), dags(4))
@settings(max_examples=100, deadline=None)
def test_graphs_are_equivalent_when_their_separations_are_the_same(one, two):
    if len(one) == len(two):
        assert dag.equivalent(one, two) == (separations(one) == separations(two))


@given(dags(7), st.data())
def test_given_its_blanket_a_node_is_separated_from_all_others(parents, data):
    i = data.draw(st.integers(0, len(parents) - 1))
    blanket = dag.markov_blanket(parents, i)
    others = [j for j in range(len(parents)) if j != i and j not in blanket]
    assert dag.open_trail(parents, [i], others, blanket) is None
    for left_out in blanket:  # and no smaller set will do
        assert dag.open_trail(parents, [i], [left_out, *others], blanket - {left_out}) is not None
