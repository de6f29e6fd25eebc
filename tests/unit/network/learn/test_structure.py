"""Searches: constraints hold, exact search is exact, each feature does what it says."""

from itertools import pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from bayeskit import BayesianNetwork, arc_strength, compare_networks, learn_structure, network_score
from bayeskit.datasets import load_asia
from bayeskit.errors import BayeskitWarning, NetworkError
from bayeskit.network import K2, MMHC, PC, BDeuScore, ChowLiu, HillClimb, Tabu, dag
from bayeskit.network.learn.arc_strength import ArcStrength
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.discrete_rows import read_rows
from bayeskit.network.learn.pdag import PartialGraph, extend_to_dag
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.search_method import METHODS as REGISTERED
from bayeskit.network.learn.search_method import SearchMethod, SearchTask, as_method
from bayeskit.network.learn.structure_score import as_score
from bayeskit.network.learn.tests_of_independence import GraphOracle
from tests.networks import dags

METHODS = ["best", "hill-climb", "tabu", "order", "chow-liu", "exact", "ges", "pc", "mmhc"]


def collider(n_rows=2000):
    tables = {"A": [0.5, 0.5], "B": [0.4, 0.6], "C": [[[0.9, 0.1], [0.3, 0.7]], [[0.2, 0.8], [0.7, 0.3]]],
              "D": [[0.9, 0.1], [0.2, 0.8]]}  # fmt: skip
    return BayesianNetwork("A->C<-B; C->D", tables=tables).sample(n_rows, random_state=0)


def strong(n_rows=3000):
    tables = {"A": [0.5, 0.5], "B": [0.5, 0.5], "C": [[[0.95, 0.05], [0.3, 0.7]], [[0.4, 0.6], [0.05, 0.95]]],
              "D": [[0.9, 0.1], [0.2, 0.8]]}  # fmt: skip
    return BayesianNetwork("A->C<-B; C->D", tables=tables).sample(n_rows, random_state=0)


@pytest.mark.parametrize("method", ["best", "hill-climb", "tabu", "order", "exact", "ges", "pc", "mmhc"])
def test_each_method_finds_a_clear_structure(method):
    found = learn_structure(strong(), method)
    assert set(found.cpdag.arcs) == {("A", "C"), ("B", "C"), ("C", "D")}
    assert found.cpdag.edges == ()
    assert found.network.counts is not None


def all_dags(n):
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    for way in product(range(3), repeat=len(pairs)):
        parents = [[] for _ in range(n)]
        for (a, b), k in zip(pairs, way, strict=True):
            if k == 1:
                parents[b].append(a)
            elif k == 2:
                parents[a].append(b)
        if len(dag.topological_order(parents)) == n:
            yield parents


@pytest.mark.parametrize("score", ["bic", "bdeu", "k2"])
def test_exact_search_is_the_best_of_all_29281_graphs_of_five_variables(score):
    rows = read_rows(BayesianNetwork("A->B->C<-D; C->E; A->E", random_tables=5).sample(60, random_state=3))
    scores = ScoredFamilies(rows, score)
    best = max(sum(scores.local(i, own) for i, own in enumerate(parents)) for parents in all_dags(5))
    assert learn_structure(rows, "exact", score).score == pytest.approx(best, rel=1e-12)


def test_exact_search_keeps_its_constraints():
    rows = read_rows(collider())
    found = learn_structure(rows, "exact", whitelist=[("D", "A")], blacklist=[("A", "C")], max_parents=1)
    assert ("D", "A") in found.arcs
    assert ("A", "C") not in found.arcs
    assert max(map(len, found.network.parents)) <= 1


@given(dags(most=6))
@settings(max_examples=60)
def test_pc_with_an_oracle_gives_the_class_of_the_true_graph(parents):
    n = len(parents)
    names = [f"v{i}" for i in range(n)]
    marks = PC().search_with(GraphOracle(parents), Constraints.of(names)).marks
    assert (marks == PartialGraph.of_parents(names, parents).marks()).all()


@given(dags(most=6))
def test_a_class_extends_to_a_graph_of_the_class(parents):
    marks = PartialGraph.of_parents([f"v{i}" for i in range(len(parents))], parents).marks()
    assert dag.equivalent(extend_to_dag(marks), parents)


def k2_reference(scores, ordering):
    parents = [[] for _ in ordering]
    for k, j in enumerate(ordering):
        best = scores.local(j, [])
        while True:
            tried = [(scores.local(j, [*parents[j], i]), -i) for i in ordering[:k] if i not in parents[j]]
            if not tried or max(tried)[0] <= best + 1e-8:
                break
            best, i = max(tried)
            parents[j].append(-i)
    return parents


@pytest.mark.parametrize("ordering", list(permutations("ABCD"))[::5])
def test_k2_is_its_plain_twin(ordering):
    rows = read_rows(collider())
    places = [rows.names.index(name) for name in ordering]
    limits = Constraints.of(rows.names)
    arcs = K2(ordering).search(SearchTask(rows, as_score("k2"), limits, limits.required)).marks
    expected = k2_reference(ScoredFamilies(rows, "k2"), places)
    assert [set(np.flatnonzero(arcs[:, j]).tolist()) for j in range(4)] == [set(own) for own in expected]


@pytest.mark.parametrize("method", ["best", "hill-climb", "tabu", "order", "ges", "mmhc", "pc", "exact"])
def test_lists_and_tiers_hold(method):
    found = learn_structure(collider(), method, blacklist=[("A", "C"), ("C", "A")], tiers=[["D"], ["A", "B", "C"]],
                            whitelist=[("B", "A")])  # fmt: skip
    assert ("B", "A") in found.arcs
    assert not {("A", "C"), ("C", "A")} & set(found.arcs)
    assert all(child != "D" for _, child in found.arcs)


def test_tiers_turn_an_arc_that_would_point_the_other_way():
    rows = collider()
    assert ("C", "D") in learn_structure(rows, "hill-climb").arcs
    assert ("D", "C") in learn_structure(rows, tiers=[["D"], ["A", "B", "C"]]).arcs


def test_mmhc_tries_fewer_arcs_than_hill_climbing_would():
    rows = read_rows(load_asia().sample(2000, random_state=0))
    from bayeskit.network.learn.methods.mmhc import neighbours
    from bayeskit.network.learn.tests_of_independence import DataTests

    near = neighbours(DataTests(rows), Constraints.of(rows.names))
    n = len(rows.names)
    assert 0 < near.sum() < n * (n - 1) / 2
    found = learn_structure(rows, "mmhc")
    place = {name: i for i, name in enumerate(rows.names)}
    assert all(near[place[a], place[b]] for a, b in found.arcs)
    assert found.score <= learn_structure(rows, "tabu").score


def test_restarts_find_what_one_climb_misses():
    rows = read_rows(load_asia().sample(500, random_state=4))
    one, many = learn_structure(rows), learn_structure(rows, HillClimb(restarts=10, perturb=4))
    assert many.score >= one.score
    assert len(many.history.starts) == 11
    assert many.score == pytest.approx(learn_structure(rows, "exact").score, abs=1e-6)


def test_structural_em_scores_the_known_cells_better_than_complete_rows_alone():
    net = load_asia()
    rows = net.sample(1500, random_state=1)
    rng = np.random.default_rng(0)
    hidden = {k: [None if rng.random() < 0.25 else v for v in column] for k, column in rows.items()}
    by_em = learn_structure(hidden, missing="em")
    assert by_em.history.method == "structural-em"
    assert by_em.history.n_steps >= 1  # some round raised the score of the known cells: it is no no-op
    assert by_em.history.objective[-1] > by_em.history.objective[0]
    with pytest.warns(BayeskitWarning, match="rows have a missing cell"):
        complete = learn_structure(hidden, missing="complete-rows")
    assert compare_networks(net, by_em.cpdag).shd < compare_networks(net, complete.cpdag).shd


def test_with_missing_cells_complete_rows_may_be_searched_and_the_others_are_named():
    rows = strong(4000)
    rng = np.random.default_rng(0)
    hidden = {k: [None if rng.random() < 0.1 else v for v in column] for k, column in rows.items()}
    whole = [i for i in range(4000) if all(column[i] is not None for column in hidden.values())]
    with pytest.warns(
        BayeskitWarning, match=f"{4000 - len(whole)} of 4000 rows have a missing cell and are left out.*missing='em'"
    ):
        found = learn_structure(hidden, missing="complete-rows")
    assert learn_structure(hidden).history.method == "structural-em"
    assert set(found.cpdag.arcs) == {("A", "C"), ("B", "C"), ("C", "D")}
    assert found.score == pytest.approx(learn_structure({k: [c[i] for i in whole] for k, c in hidden.items()}).score)
    averaged = learn_structure(hidden, missing="node-average")
    assert averaged.score == pytest.approx(averaged.history.objective[-1], rel=1e-12)
    assert averaged.score < found.score  # all 4000 rows


def test_the_bootstrap_leaves_out_the_rows_that_the_search_leaves_out_and_says_so():
    rows = holes(strong(600), 0.2)
    whole = [i for i in range(600) if all(column[i] is not None for column in rows.values())]
    with pytest.warns(BayeskitWarning, match=f"{600 - len(whole)} of 600 rows .* missing='node-average'") as said:
        found = arc_strength(rows, n_networks=20)
    assert len(said) == 1
    alone = arc_strength({k: [column[i] for i in whole] for k, column in rows.items()}, n_networks=20)
    assert_array_equal(found.strength, alone.strength)
    averaged = arc_strength(rows, n_networks=20, missing="node-average")
    assert (averaged.strength != found.strength).any()
    with pytest.raises(NetworkError, match="'complete-rows' or 'node-average'; got 'em'"):
        arc_strength(rows, missing="em")


def test_the_cpdag_of_an_averaged_network_keeps_its_v_structure_and_directs_nothing_else():
    strong = np.array([[0, 0, 1.0, 0], [0, 0, 1.0, 0], [1.0, 1.0, 0, 0], [0, 0, 0, 0]])
    strong[0, 3] = strong[3, 0] = 0.9
    direction = np.zeros((4, 4))
    direction[0, 2] = direction[1, 2] = direction[0, 3] = 1.0
    found = ArcStrength(("a", "b", "c", "d"), strong, direction, 10)
    assert found.averaged(0.5) == [("a", "c"), ("b", "c"), ("a", "d")]
    cpdag = found.averaged_cpdag(0.5)
    assert set(cpdag.arcs) == {("a", "c"), ("b", "c")}  # a -> c <- b; a and d are joined either way
    assert cpdag.edges == (("a", "d"),)


def test_the_bootstrap_is_sure_of_strong_arcs_only():
    rows = BayesianNetwork("A->C<-B; D", tables={
        "A": [0.5, 0.5], "B": [0.5, 0.5], "D": [0.5, 0.5],
        "C": [[[0.95, 0.05], [0.3, 0.7]], [[0.4, 0.6], [0.05, 0.95]]]}).sample(300, random_state=0)  # fmt: skip
    found = arc_strength(rows, n_networks=50, random_state=1)
    place = {name: i for i, name in enumerate(found.names)}
    strength = found.strength
    assert strength[place["A"], place["C"]] == 1.0
    assert 0 < strength[[place["D"]]].max() < 0.5  # some samples join D: the networks do differ
    assert found.averaged() == [("A", "C"), ("B", "C")] or found.averaged() == [("B", "C"), ("A", "C")]
    assert found.direction[place["A"], place["C"]] > 0.9
    again = arc_strength(rows, n_networks=50, random_state=1)
    assert (again.strength == strength).all()


def test_the_number_of_threads_changes_no_strength():
    from bayeskit import threads

    rows, found = strong(400), []
    for n in (1, 3):
        with threads(n):
            found.append(arc_strength(rows, n_networks=7, random_state=2))
    assert_array_equal(found[0].strength, found[1].strength)
    assert_array_equal(found[0].direction, found[1].direction)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_interrupted_bootstrap_keeps_the_networks_so_far(n_threads):
    from bayeskit import threads

    def stop(step):
        if step.done == 3:
            raise KeyboardInterrupt

    with threads(n_threads), pytest.warns(BayeskitWarning, match="interrupted after 3 of 50 networks"):
        found = arc_strength(strong(400), n_networks=50, random_state=2, progress=stop)
    assert_array_equal(found.strength, arc_strength(strong(400), n_networks=3, random_state=2).strength)


def test_the_plot_shows_the_strongest_pairs_with_their_directions_and_the_threshold():
    strength, direction = np.zeros((3, 3)), np.zeros((3, 3))
    strength[0, 1] = strength[1, 0] = 0.9
    direction[0, 1], direction[1, 0] = 0.75, 0.25
    strength[1, 2] = strength[2, 1] = 0.2
    direction[1, 2] = direction[2, 1] = 0.5
    ax = ArcStrength(("a", "b", "c"), strength, direction, 20).plot(threshold=0.5)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a → b", "b — c"]
    widths = [[bar.get_width() for bar in bars] for bars in ax.containers]
    assert widths[0] == pytest.approx([0.675, 0.1])
    assert widths[1] == pytest.approx([0.225, 0.1])
    assert ax.lines[0].get_xdata()[0] == 0.5


def test_a_sample_weight_is_a_repetition():
    rows = collider(300)
    twice = {k: list(v) + list(v)[:100] for k, v in rows.items()}
    weight = np.r_[np.full(100, 2.0), np.ones(200)]
    a, b = learn_structure(rows, sample_weight=weight), learn_structure(twice)
    assert a.arcs == b.arcs
    assert a.score == pytest.approx(b.score, rel=1e-10)


def test_progress_is_told_and_an_interruption_keeps_the_best_so_far():
    seen = []

    def stop(step):
        seen.append(step.objective)
        assert (step.name, step.total) == ("hill-climb", None)
        if step.done == 2:
            raise KeyboardInterrupt

    with pytest.warns(BayeskitWarning, match="interrupted"):
        found = learn_structure(strong(), "hill-climb", progress=stop)
    assert len(found.arcs) == 2
    assert found.score == pytest.approx(max(seen), rel=1e-12)
    assert not found.history.converged


def test_the_graph_is_shown_from_change_to_change_until_it_is_the_one_returned():
    graphs = []
    found = learn_structure(strong(), "hill-climb", on_graph=lambda arcs: graphs.append(set(arcs)))
    assert graphs[0] == set()
    assert graphs[-1] == set(found.arcs)
    for before, after in pairwise(graphs):
        removed, added = before - after, after - before
        assert {(b, a) for a, b in removed} == added or len(removed) + len(added) == 1  # reversed, or one more or less


@pytest.mark.parametrize("method", ["best", "order", "tabu", "k2", "ges", "mmhc"])
def test_every_search_that_has_a_graph_shows_the_one_it_returns(method):
    rows, graphs = strong(), []
    chosen = K2(list(rows)) if method == "k2" else method
    found = learn_structure(rows, chosen, on_graph=lambda arcs: graphs.append(set(arcs)))
    marks = {*found.cpdag.arcs, *found.cpdag.edges, *((b, a) for a, b in found.cpdag.edges)}
    assert (marks if method == "ges" else set(found.arcs)) in graphs


def test_pc_shows_edges_both_ways_and_only_fewer_from_level_to_level():
    graphs = []
    found = learn_structure(strong(), "pc", on_graph=lambda arcs: graphs.append(set(arcs)))
    assert all(graph == {(b, a) for a, b in graph} for graph in graphs)
    assert all(after <= before for before, after in pairwise(graphs))
    joined = {frozenset(arc) for arc in (*found.cpdag.arcs, *found.cpdag.edges)}
    assert {frozenset(arc) for arc in graphs[-1]} == joined


def test_scores_of_a_tiny_table_by_hand():
    rows = {"A": ["x", "x", "y"], "B": ["u", "v", "v"]}
    net = BayesianNetwork("A->B")
    # Counts: A 2, 1; B given x: 1, 1; B given y: 0, 1.
    loglik = 2 * np.log(2 / 3) + np.log(1 / 3) + 2 * np.log(1 / 2)
    assert network_score(net, rows, "loglik") == pytest.approx(loglik, rel=1e-12)
    assert network_score(net, rows, "bic") == pytest.approx(loglik - 0.5 * np.log(3) * 3, rel=1e-12)
    assert network_score(net, rows, "aic") == pytest.approx(loglik - 3, rel=1e-12)
    assert network_score(net, rows, "mdl") == pytest.approx(loglik - 0.5 * np.log(3) * 3 - np.log(2), rel=1e-12)
    # K2: A: 1! / 4! · 2! 1! = 1/12; B given x: 1! / 3! = 1/6; B given y: 1! / 2! = 1/2.
    assert network_score(net, rows, "k2") == pytest.approx(np.log(1 / 12 / 6 / 2), rel=1e-12)
    # BDeu with N' = 4: A has 2 a state: (2·3)(2) / (4·5·6) = 1/10; B has 1 a cell: (1·1)/(2·3) and 1/2.
    assert network_score(net, rows, BDeuScore(4)) == pytest.approx(np.log(1 / 10 / 6 / 2), rel=1e-12)


def test_equivalent_networks_have_the_same_bdeu_and_bic():
    rows = collider(200)
    for score in ("bic", "bdeu"):
        one, two = (network_score(BayesianNetwork(s), rows, score) for s in ("A->B->C->D", "D->C->B->A"))
        assert one == pytest.approx(two, rel=1e-12)


def test_chow_liu_is_the_best_tree():
    rows = read_rows(collider())
    found = learn_structure(rows, ChowLiu(root="D"))
    scores = ScoredFamilies(rows, "loglik")
    trees = [p for p in all_dags(4) if sum(map(len, p)) == 3 and max(map(len, p)) == 1]
    best = max(scores.total(parents) for parents in trees)
    assert scores.total(found.network.parents) == pytest.approx(best, rel=1e-12)
    assert found.network.parents[rows.names.index("D")] == ()


class Stop:
    """Ctrl-C at a step; steps are counted over all that is asked."""

    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, step):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt


def holes(rows, share, seed=0):
    rng = np.random.default_rng(seed)
    return {k: [None if rng.random() < share else v for v in column] for k, column in rows.items()}


def test_an_interruption_of_structural_em_ends_its_rounds_and_not_one_search_only():
    rows = holes(load_asia().sample(1500, random_state=1), 0.25)
    whole = learn_structure(rows, missing="em", progress=(count := Stop(10**9)))
    assert whole.history.converged
    with pytest.warns(BayeskitWarning, match="left out"):
        first = learn_structure(rows, missing="complete-rows")  # the search that structural EM begins with
    stop = Stop(len(first.history.objective) + 1)  # in the first search of the first round
    with pytest.warns(BayeskitWarning, match="interrupted"):
        found = learn_structure(rows, missing="em", progress=stop)
    assert stop.calls == stop.at < count.calls
    assert set(found.arcs) == set(first.arcs)
    assert not found.history.converged


def test_an_interruption_of_the_bootstrap_keeps_the_networks_so_far():
    rows = strong(300)
    with pytest.warns(BayeskitWarning, match="interrupted after 3 of 50 networks"):
        found = arc_strength(rows, n_networks=50, random_state=1, progress=Stop(3))
    assert found.n_networks == 3
    assert_array_equal(found.strength, arc_strength(rows, n_networks=3, random_state=1).strength)
    with pytest.raises(KeyboardInterrupt):
        _interrupted_at_once(rows)


def _interrupted_at_once(rows):
    def search(*_):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(HillClimb, "search", search)
        arc_strength(rows, "hill-climb", n_networks=2)


def test_an_interruption_of_exact_search_keeps_the_network_of_hill_climbing():
    rows = strong(500)
    with pytest.warns(BayeskitWarning, match="interrupted; the network of hill-climbing is kept"):
        found = learn_structure(rows, "exact", progress=Stop(2))
    assert set(found.arcs) == set(learn_structure(rows).arcs)


def test_an_interruption_of_pc_keeps_the_edges_that_tests_with_one_variable_left():
    rows = strong(2000)
    with pytest.warns(BayeskitWarning, match="interrupted; the edges left so far are kept"):
        found = learn_structure(rows, "pc", progress=Stop(2))
    assert {frozenset(arc) for arc in (*found.cpdag.arcs, *found.cpdag.edges)} >= {
        frozenset(arc) for arc in (("A", "C"), ("B", "C"), ("C", "D"))
    }
    with pytest.raises(KeyboardInterrupt):
        learn_structure(rows, "pc", progress=Stop(1))


def test_an_interruption_of_mmhcs_tests_keeps_the_start(monkeypatch):
    from bayeskit.network.learn.methods import mmhc

    def neighbours(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(mmhc, "neighbours", neighbours)
    with pytest.warns(BayeskitWarning, match="the graph of the start is kept"):
        found = learn_structure(strong(200), MMHC(start=BayesianNetwork("A->B; C; D")))
    assert found.arcs == (("A", "B"),)


def test_a_word_and_an_object_with_the_defaults_are_the_same_method():
    for word in METHODS:
        assert as_method(word) == REGISTERED.classes[word]()
        assert as_method(as_method(word)) == as_method(word)
    rows = strong(300)
    assert learn_structure(rows, "tabu").history == learn_structure(rows, Tabu(length=400)).history


def test_a_longer_memory_leads_further():
    rows = strong(300)
    short, long = (learn_structure(rows, Tabu(length=length)).history.n_steps for length in (5, 50))
    assert short < long


def test_what_the_search_has_scored_is_not_counted_again(monkeypatch):
    made = []
    monkeypatch.setattr(ScoredFamilies, "__init__", _noting(ScoredFamilies.__init__, made))
    for method in ("hill-climb", "tabu", "order", "exact", "ges", "mmhc", K2(list("ABCD"))):
        made.clear()
        learn_structure(strong(200), method)
        assert len(made) == 1


def _noting(function, made):
    def init(self, *arguments):
        made.append(self)
        function(self, *arguments)

    return init


def test_chow_lius_tables_are_those_of_its_own_counts():
    rows = strong(500)
    found = learn_structure(rows, "chow-liu").network
    again = found.fitted(rows)
    assert found.equals(again)
    assert found.counts.families == again.counts.families
    assert_array_equal(found.counts.cells, again.counts.cells)


def test_a_method_that_is_defined_elsewhere_is_known_by_its_name():
    from dataclasses import dataclass

    from bayeskit.estimate.history import History
    from bayeskit.network.learn.search_method import SearchResult

    try:

        @dataclass(frozen=True)
        class Chain(SearchMethod):
            name = "chain"

            def search(self, task):
                arcs = np.eye(len(task.rows.names), k=1, dtype=bool)
                return SearchResult(arcs, History(self.name, (0.0,), "a chain is a chain", True))

        assert learn_structure(strong(100), "chain").arcs == (("A", "C"), ("C", "B"), ("B", "D"))
    finally:
        REGISTERED._classes.pop("chain", None)


@pytest.mark.filterwarnings("ignore:.*one value in all rows")
@pytest.mark.parametrize("score", ["bic", "bdeu", "aic"])
def test_exact_search_draws_no_arc_that_gains_nothing(score):
    rows = {**collider(), "E": np.full(2000, "x"), "F": np.full(2000, "y")}
    found = learn_structure(rows, "exact", score)
    assert not [arc for arc in found.network.arcs if {"E", "F"} & set(arc)]
    assert found.score == pytest.approx(network_score(found.network, rows, score), rel=1e-12)
    assert len(learn_structure({"E": rows["E"], "F": rows["F"]}, "exact", score).network.arcs) == 0


def test_pc_refuses_a_largest_number_of_parents():
    with pytest.raises(NetworkError, match=r"'pc' tests pairs and cannot keep max_parents \(1\)"):
        learn_structure(collider(), "pc", max_parents=1)


def test_the_tree_of_one_column_is_that_column():
    found = learn_structure({"A": ["x", "y", "x"]}, "chow-liu")
    assert found.network.names == ("A",)
    assert len(found.network.arcs) == 0
