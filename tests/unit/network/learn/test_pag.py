"""FCI: the graph of what tests say where causes are hidden, against a list of all graphs that say the same."""

import json
from itertools import chain, combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeskit import BayesianNetwork, learn_pag
from bayeskit.errors import BayeskitWarning, NetworkError
from bayeskit.network import PAG, dag
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.fci import HiddenOracle, PAGSearch
from bayeskit.network.learn.pag import ARROW, CIRCLE, TAIL

# ------------------------------------------------------------------ a plain list of all ancestral graphs on few nodes


def subsets(items):
    return chain.from_iterable(combinations(items, size) for size in range(len(items) + 1))


def ancestors_in(marks, nodes):
    """All nodes with a directed path to one of these, and these."""
    above = set(nodes)
    while True:
        more = {a for a in range(len(marks)) for b in above if marks[a, b] == ARROW and marks[b, a] == TAIL} - above
        if not more:
            return above
        above |= more


def m_separated(marks, x, y, given_):
    """No path between x and y is open: inner colliders are above the given, and nothing else on it is given."""
    inner = [v for v in range(len(marks)) if v not in (x, y)]
    above = ancestors_in(marks, given_)
    for size in range(len(inner) + 1):
        for middle in permutations(inner, size):
            path = (x, *middle, y)
            if not all(marks[a, b] for a, b in pairwise(path)):
                continue
            colliders = [
                marks[a, c] == ARROW and marks[b, c] == ARROW for a, c, b in zip(path, path[1:], path[2:], strict=False)
            ]
            if all(c in above if hit else c not in given_ for c, hit in zip(middle, colliders, strict=True)):
                return False
    return True


def independences(marks):
    n = len(marks)
    return {
        (x, y, given_)
        for x, y in combinations(range(n), 2)
        for given_ in subsets([v for v in range(n) if v not in (x, y)])
        if m_separated(marks, x, y, given_)
    }


def is_ancestral(marks):
    """No arrow points at an ancestor of its other end, and none at the end of an undirected edge."""
    n = len(marks)
    for a, b in permutations(range(n), 2):
        if marks[a, b] == ARROW and b in ancestors_in(marks, [a]):
            return False
        undirected = marks[a, b] == TAIL and marks[b, a] == TAIL
        if undirected and any(marks[v, a] == ARROW for v in range(n)):
            return False
    return True


def ancestral_graph(parents, seen, selected):
    """The maximal ancestral graph of the variables that are seen (Richardson & Spirtes 2002)."""
    oracle, n = HiddenOracle(parents, seen, selected), len(seen)
    marks = np.zeros((n, n), dtype=np.int8)
    for x, y in combinations(range(n), 2):
        others = [v for v in range(n) if v not in (x, y)]
        if not any(oracle.p_value(x, y, each) for each in subsets(others)):
            for a, b in ((x, y), (y, x)):
                causes = dag.ancestors(parents, [seen[a], *selected])
                marks[a, b] = TAIL if seen[b] in causes else ARROW
    return marks


def unshielded_colliders(marks):
    n = len(marks)
    return {
        (a, c, b)
        for c in range(n)
        for a, b in combinations([v for v in range(n) if marks[v, c] == ARROW], 2)
        if not marks[a, b]
    }


def listed_pag(truth):
    """The marks that all ancestral graphs with the same independences share; circles elsewhere."""
    pairs, wanted, colliders = np.argwhere(np.triu(truth)), independences(truth), unshielded_colliders(truth)
    ends = [(ARROW, TAIL), (TAIL, ARROW), (ARROW, ARROW)] + ([(TAIL, TAIL)] if len(pairs) < 7 else [])
    shared = truth.copy()
    for choice in product(ends, repeat=len(pairs)):
        marks = np.zeros_like(truth)
        for (a, b), (one, two) in zip(pairs, choice, strict=True):
            marks[a, b], marks[b, a] = one, two
        differs = (marks != shared) & (shared != CIRCLE)
        same = differs.any() and unshielded_colliders(marks) == colliders and is_ancestral(marks)
        if same and independences(marks) == wanted:
            shared[differs] = CIRCLE
    return shared


@st.composite
def partly_seen(draw, most_seen, most_edges, selection=False):
    """Parents of a random graph with some nodes hidden, the nodes that are seen, and those that select the rows."""
    n_seen = draw(st.integers(2, most_seen))
    n_hidden, n_selected = draw(st.integers(0, 3)), draw(st.integers(1, 2)) if selection else 0
    n = n_seen + n_hidden + n_selected
    order = draw(st.permutations(range(n_seen + n_hidden)))
    parents = [[] for _ in range(n)]
    for k, child in enumerate(order):
        parents[child] = [p for p in order[:k] if draw(st.integers(0, 2)) == 0]
    for child in range(n_seen + n_hidden, n):
        parents[child] = draw(st.lists(st.integers(0, n_seen + n_hidden - 1), max_size=3, unique=True))
    seen, selected = list(range(n_seen)), list(range(n_seen + n_hidden, n))
    marks = ancestral_graph(parents, seen, selected)
    if (marks > 0).sum() > 2 * most_edges:
        parents = [[] for _ in range(n)]
    return parents, seen, selected


def by_oracle(parents, seen, selected, method="fci"):
    names = [f"v{i}" for i in seen]
    return PAGSearch(HiddenOracle(parents, seen, selected), Constraints.of(names), method).run()


@given(partly_seen(most_seen=5, most_edges=6))
@settings(max_examples=60, deadline=None)
def test_with_an_oracle_it_gives_what_all_equivalent_graphs_share(case):
    assert by_oracle(*case).tolist() == listed_pag(ancestral_graph(*case)).tolist()


@given(partly_seen(most_seen=4, most_edges=6, selection=True))
@settings(max_examples=60, deadline=None)
def test_also_where_rows_were_selected(case):
    assert by_oracle(*case).tolist() == listed_pag(ancestral_graph(*case)).tolist()


@given(partly_seen(most_seen=9, most_edges=99))
@settings(max_examples=80, deadline=None)
def test_what_rfci_says_of_an_end_is_true(case):
    parents, seen, selected = case
    marks, truth = by_oracle(*case, "rfci"), ancestral_graph(*case)
    assert ((marks > 0) | (truth == 0)).all()  # an edge too many may stand, none is missing
    for a, b in permutations(range(len(seen)), 2):
        is_cause = seen[b] in dag.ancestors(parents, [seen[a], *selected])
        if marks[a, b] in (ARROW, TAIL):
            assert is_cause == (marks[a, b] == TAIL)


@given(partly_seen(most_seen=9, most_edges=99))
@settings(max_examples=60, deadline=None)
def test_the_edges_of_fci_are_those_of_the_ancestral_graph(case):
    assert ((by_oracle(*case) > 0) == (ancestral_graph(*case) > 0)).all()


def selected_cycle(extra=""):
    """A graph a, b, c, d in a circle, where each neighbouring pair decided which rows came into the table."""
    net = BayesianNetwork("a->s1<-b; b->s2<-c; c->s3<-d; d->s4<-a" + extra)
    return PAG.of_network(net, selected=["s1", "s2", "s3", "s4"])


def test_a_cycle_of_selection_is_undirected_and_so_is_what_hangs_on_it():
    # Four variables that are joined in a circle and not across it: no cause can explain that (rules R5 and R6).
    assert {edge[1] for edge in selected_cycle().edges} == {"---"}
    assert selected_cycle("; a->e").edge("a", "e") == "--o"


def test_what_the_list_of_all_graphs_says_of_that_cycle():
    parents = [[], [], [], [], [0, 1], [1, 2], [2, 3], [3, 0]]
    case = parents, [0, 1, 2, 3], [4, 5, 6, 7]
    assert by_oracle(*case).tolist() == listed_pag(ancestral_graph(*case)).tolist()


def test_every_sign_is_written_read_drawn_and_seen_from_both_sides():
    signs = ["-->", "<->", "o->", "o-o", "---", "--o"]
    edges = list(zip("abcdef", signs, "bcdefa", strict=True))
    pag = PAG.from_dict({"names": list("abcdef"), "edges": [list(edge) for edge in edges]})
    assert PAG.from_dict(json.loads(json.dumps(pag.to_dict()))) == pag
    assert PAG.of_marks(pag.names, pag.marks()) == pag
    assert [pag.edge(a, b) for a, _, b in edges] == [sign for _, sign, _ in edges]
    assert [pag.edge(b, a) for a, _, b in edges] == ["<--", "<->", "<-o", "o-o", "---", "o--"]
    assert pag.edge("a", "c") == ""
    assert (pag.arcs, pag.hidden_causes) == ((("a", "b"),), (("b", "c"),))
    svg = pag.draw().svg
    assert svg.count('class="ring"') == 4  # c o->, o-o twice, --o
    assert svg.count('class="tip"') == 4
    assert '"b" -> "c" [dir=both, arrowtail=normal, arrowhead=normal];' in pag.to_dot()


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([["a", "->", "b"]], "sign"),
        ([["a", "-->", "z"]], "two of its names"),
        ([["a", "-->", "a"]], "two variables"),
        ([["a", "-->", "b"], ["b", "o-o", "a"]], "joined once"),
    ],
)
def test_a_dict_that_is_no_graph_is_refused(edges, message):
    with pytest.raises(NetworkError, match=message):
        PAG.from_dict({"names": ["a", "b"], "edges": edges})


def hidden_rows(n=5000, seed=0):
    rows = BayesianNetwork("a->x<-h->y<-b", random_tables=1).sample(n, random_state=seed)
    del rows["h"]
    return rows


def test_rows_say_the_same_by_fci_and_by_rfci_with_what_separates_each_pair():
    by_fci, by_rfci = learn_pag(hidden_rows(), "fci"), learn_pag(hidden_rows(), "rfci")
    assert by_fci.pag == by_rfci.pag
    assert (by_fci.method, by_rfci.method) == ("fci", "rfci")
    assert by_fci.separators[("a", "y")] == ()
    assert by_fci.history.objective[-1] == 3


def test_tiers_put_an_arrow_at_the_later_end():
    rows = BayesianNetwork("age->ill", random_tables=1).sample(2000, random_state=0)
    assert learn_pag(rows).pag.edges == (("age", "o-o", "ill"),)
    assert learn_pag(rows, tiers=[["age"], ["ill"]]).pag.edges == (("age", "o->", "ill"),)


def test_weights_count_as_repeated_rows():
    rows, weight = hidden_rows(800), np.arange(800) % 3
    repeated = {name: np.repeat(column, weight) for name, column in rows.items()}
    assert learn_pag(rows, sample_weight=weight, alpha=0.1).pag == learn_pag(repeated, alpha=0.1).pag


def test_where_the_sets_are_too_large_it_is_rfci(monkeypatch):
    monkeypatch.setattr("bayeskit.network.learn.fci._MOST_TESTS", 0)
    assert learn_pag(hidden_rows()).method == "rfci"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "pc"}, "method must be one of 'auto', 'fci', 'rfci'"),
        ({"alpha": 2}, "alpha must lie between 0 and 1"),
        ({"test": "t"}, "test must be one of"),
        ({"max_condition": -1}, "max_condition"),
        ({"tiers": [["a"]]}, "leave out 'x'"),
    ],
)
def test_bad_options_are_refused_before_the_tests(options, message):
    with pytest.raises(NetworkError, match=message):
        learn_pag(hidden_rows(500), **options)


def test_a_constant_column_has_no_edge():
    with pytest.warns(BayeskitWarning, match="one value"):
        found = learn_pag({**hidden_rows(500), "same": ["z"] * 500})
    assert not any("same" in edge for edge in found.pag.edges)


def test_learn_structure_says_where_fci_is():
    from bayeskit import learn_structure

    with pytest.raises(NetworkError, match="learn_pag"):
        learn_structure(hidden_rows(50), "fci")


def test_a_network_without_observed_variables_is_refused():
    with pytest.raises(NetworkError, match="at least one must be observed"):
        PAG.of_network(BayesianNetwork("a->b"), hidden=["a", "b"])


def test_two_columns_that_are_the_same_are_named():
    rows = hidden_rows(500)
    with pytest.warns(BayeskitWarning, match="columns 'x' and 'copy' are the same in all rows"):
        learn_pag({**rows, "copy": rows["x"]})
