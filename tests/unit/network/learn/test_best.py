"""The default search: as good as its parts, within its time, and the same each time."""

import time
from itertools import pairwise

import numpy as np
import pytest

from bayeskit import BayesianNetwork, learn_structure, network_score
from bayeskit.errors import BayeskitWarning, NetworkError
from bayeskit.network import Best, OrderSearch
from bayeskit.network.learn.discrete_rows import read_rows
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore
from tests.unit.network.learn.test_ges import random_binary_network


def sampled(seed, n=12, n_rows=400):
    return read_rows(random_binary_network(n, seed).sample(n_rows, random_state=seed))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("score", ["bic", "bdeu"])
def test_it_is_as_good_as_each_single_search_and_as_the_best_of_all(seed, score):
    rows = sampled(seed)
    best = learn_structure(rows, score=score).score
    for method in ("ges", "order", "hill-climb", "tabu"):
        assert best >= learn_structure(rows, method, score).score - 1e-6
    assert best == pytest.approx(learn_structure(rows, "exact", score).score, abs=1e-6)


def test_among_many_variables_two_parents_that_say_much_only_together_are_found(monkeypatch):
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 2, (400, 160))
    p = np.array([[0.05, 0.8], [0.8, 0.42]])[columns[:, 40], columns[:, 90]]  # each alone gains less than it costs
    columns[:, 5] = rng.random(400) < p
    table = {f"v{j:03}": np.array(["no", "yes"])[columns[:, j]] for j in range(160)}
    true = BayesianNetwork({name: ["v040", "v090"] if name == "v005" else [] for name in table})
    found = learn_structure(table, OrderSearch(restarts=0))
    assert found.score >= network_score(true, table, "mdl") - 1e-6
    assert {tuple(sorted(arc)) for arc in found.arcs} >= {("v005", "v040"), ("v005", "v090")}
    monkeypatch.setattr("bayeskit.network.learn.methods.order.MOST_WITH_PAIRS", 0)
    assert not any("v005" in arc for arc in learn_structure(table, OrderSearch(restarts=0)).arcs)


def test_the_same_seed_gives_the_same_network():
    rows = sampled(1, 30)
    a, b = (learn_structure(rows, random_state=7) for _ in range(2))
    assert a.arcs == b.arcs
    assert a.history == b.history


@pytest.mark.parametrize("method", [Best, OrderSearch])
def test_it_ends_when_its_time_is_over_or_nothing_better_comes(method):
    rows = read_rows(random_binary_network(60, 0).sample(2000, random_state=0))
    begin = time.monotonic()
    found = learn_structure(rows, method(max_seconds=0.2))
    assert time.monotonic() - begin < 5
    assert found.history.reason == "the time of 0.2 s is over"
    assert found.history.converged
    small = learn_structure(sampled(0, 3), method(max_seconds=60))
    assert small.history.reason == "no move of a variable in the order improves the score"


@pytest.mark.parametrize("method", [Best, OrderSearch])
@pytest.mark.parametrize("seconds", [0, -1, "5", True, float("nan")])
def test_a_time_that_is_none_is_refused(method, seconds):
    with pytest.raises(NetworkError, match=f"max_seconds of {method.__name__} must be above 0"):
        method(max_seconds=seconds)


@pytest.mark.parametrize("method", ["best", "order"])
def test_an_interruption_keeps_the_best_network_so_far(method):
    def stop(step):
        raise KeyboardInterrupt

    rows = sampled(2)
    with pytest.warns(BayeskitWarning, match="interrupted"):
        found = learn_structure(rows, method, progress=stop)
    assert found.arcs
    assert found.score == pytest.approx(found.history.objective[-1], rel=1e-12)


def test_a_score_that_is_written_in_python_is_searched_too():
    class Doubled(StructureScore):
        name = "aic-doubled"

        def penalty(self, family: FamilyTable) -> float:
            return 2.0 * family.free_parameters

    rows = sampled(3, 6)
    assert learn_structure(rows, score=Doubled()).score == pytest.approx(
        learn_structure(rows, "exact", Doubled()).score
    )


def test_the_objective_never_falls():
    path = learn_structure(sampled(4, 20)).history.objective
    assert list(path) == sorted(path)


def test_one_variable_and_constant_and_equal_columns():
    assert learn_structure({"A": ["x", "y", "x"]}).arcs == ()
    with pytest.warns(BayeskitWarning, match="one value"), pytest.warns(BayeskitWarning, match="are the same"):
        found = learn_structure({"A": ["x", "y"] * 50, "B": ["u"] * 100, "C": ["x", "y"] * 50})
    assert len(found.arcs) == 1
    assert {*found.arcs[0]} == {"A", "C"}


def test_required_arcs_may_leave_one_order_only():
    rows = BayesianNetwork("A->B->C->D", random_tables=1).sample(300, random_state=0)
    arcs = [("D", "C"), ("C", "B"), ("B", "A")]
    assert set(arcs) <= set(learn_structure(rows, whitelist=arcs).arcs)


@pytest.mark.parametrize("method", ["best", "order", "ges"])
def test_with_many_variables_candidates_are_chosen_first(method):
    net = random_binary_network(200, 1, 2.0)
    rows = read_rows(net.sample(1000, random_state=1))
    found = learn_structure(rows, method, max_parents=3, tiers=[list(rows.names[:100]), list(rows.names[100:])])
    early = set(rows.names[:100])
    assert all(parent in early for parent, child in found.arcs if child in early)
    assert max(map(len, found.network.parents)) <= 3
    assert found.score == pytest.approx(found.history.objective[-1], rel=1e-9)


def test_with_many_variables_it_is_as_good_as_hill_climbing_over_all():
    rows = read_rows(random_binary_network(200, 2, 2.0).sample(1000, random_state=2))
    assert learn_structure(rows).score >= learn_structure(rows, "hill-climb").score


@pytest.mark.parametrize("seed", range(3))
def test_structural_em_is_the_default_and_its_objective_rises(seed):
    rows = random_binary_network(10, seed, 2.0).sample(800, random_state=seed)
    rng = np.random.default_rng(seed)
    holed = {name: [None if rng.random() < 0.15 else value for value in column] for name, column in rows.items()}
    found = learn_structure(holed)
    path = found.history.objective
    assert found.history.method == "structural-em"
    assert all(after > before for before, after in pairwise(path))


def test_structural_em_keeps_within_its_time():
    rows = random_binary_network(40, 0).sample(1500, random_state=0)
    rng = np.random.default_rng(0)
    holed = {name: [None if rng.random() < 0.1 else value for value in column] for name, column in rows.items()}
    begin = time.monotonic()
    found = learn_structure(holed, Best(max_seconds=1.0))
    assert time.monotonic() - begin < 20  # a busy machine, and tables by EM at the end
    assert found.arcs
