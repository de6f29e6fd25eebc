"""PC: v-structures are decided by evidence, not by the order of the columns."""

import numpy as np
import pytest
from hypothesis import given, settings

from bayeskit import learn_structure
from bayeskit.network import PC
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.pdag import PartialGraph
from bayeskit.network.learn.tests_of_independence import GraphOracle
from tests.networks import dags
from tests.unit.network.learn.test_ges import random_binary_network


def named(graph):
    return set(graph.arcs), {frozenset(edge) for edge in graph.edges}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n_rows", [80, 1000])
def test_permuting_the_columns_changes_nothing(seed, n_rows):
    rows = random_binary_network(14, seed).sample(n_rows, random_state=seed)
    columns = [name for name in rows if len(set(rows[name])) > 1]
    first = learn_structure({name: rows[name] for name in columns}, PC(alpha=0.05))
    for turn in range(3):
        order = np.random.default_rng(turn).permutation(columns).tolist()
        again = learn_structure({name: rows[name] for name in order}, PC(alpha=0.05))
        assert named(again.cpdag) == named(first.cpdag)
        conflicts = [{(frozenset((a, b)), c) for a, c, b in each.conflicts} for each in (first, again)]
        assert conflicts[0] == conflicts[1]


@given(dags(most=7))
@settings(max_examples=40)
def test_with_an_oracle_it_gives_the_class_of_the_true_graph_and_no_conflict(parents):
    names = [f"v{i}" for i in range(len(parents))]
    result = PC().search_with(GraphOracle(parents), Constraints.of(names))
    assert (result.marks == PartialGraph.of_parents(names, parents).marks()).all()
    assert result.conflicts == ()


class Told:
    """Tests whose p-values are written down; all that is not is dependent."""

    alpha = 0.05

    def __init__(self, p):
        self.p = p

    def p_value(self, x, y, given_):
        return self.p.get((min(x, y), max(x, y), tuple(sorted(given_))), 0.0)

    def level(self, pairs, left, right, size):
        from bayeskit.network.learn.tests_of_independence import Separated

        results = []
        for x, y in pairs:
            p = self.p_value(x, y, []) if size == 0 else 0.0
            results.append(Separated(p > self.alpha, [], p))
        return results


@pytest.mark.parametrize(("p", "arc"), [((0.9, 0.3), (1, 2)), ((0.3, 0.9), (2, 1)), ((0.5, 0.5), None)])
def test_of_two_that_contradict_each_other_the_clearer_decides(p, arc):
    # 0 — 1 — 2 — 3: 0 → 1 ← 2 and 1 → 2 ← 3 want the middle edge both ways.
    tests = Told({(0, 2, ()): p[1], (1, 3, ()): p[0], (0, 3, ()): 0.99})
    result = PC().search_with(tests, Constraints.of(list("abcd")))
    both = bool(result.marks[1, 2] and result.marks[2, 1])
    assert both == (arc is None)
    if arc is not None:
        assert result.marks[arc]
        assert not result.marks[arc[::-1]]
    assert len(result.conflicts) == (2 if arc is None else 1)


def test_conflicts_are_named():
    rows = random_binary_network(20, 3, 4.0).sample(300, random_state=3)
    found = learn_structure({name: rows[name] for name in rows if len(set(rows[name])) > 1}, PC(alpha=0.1))
    names = set(found.network.names)
    assert all({a, b, c} <= names for a, c, b in found.conflicts)


def test_many_variables_take_little_memory():
    import tracemalloc

    rng = np.random.default_rng(0)
    rows = {f"v{i}": rng.choice(["no", "yes"], 200) for i in range(300)}
    tracemalloc.start()
    learn_structure(rows, PC(alpha=1e-4))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60e6  # the neighbours of all pairs at once would be 27 million numbers
