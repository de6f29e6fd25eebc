"""Greedy equivalence search: right where the score is, and within its constraints."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bayeskit import BayesianNetwork, learn_structure
from bayeskit._kernels import EquivalenceMoves
from bayeskit.network import GES, dag
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.discrete_rows import read_rows
from bayeskit.network.learn.pdag import PartialGraph
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.search_method import SearchTask
from bayeskit.network.learn.structure_score import as_score
from tests.networks import dags


class GaussianOracle:
    """BIC with endless rows: a linear Gaussian network with these arcs, judged by its true covariance."""

    def __init__(self, parents, seed):
        n, rng = len(parents), np.random.default_rng(seed)
        weights = np.zeros((n, n))
        for child, above in enumerate(parents):
            weights[child, above] = rng.uniform(0.5, 1.0, len(above)) * rng.choice([-1, 1], len(above))
        through = np.linalg.inv(np.eye(n) - weights)
        self.covariance = through @ through.T

    def left(self, child, given_):
        s, g = self.covariance, list(given_)
        return s[child, child] - (s[child, g] @ np.linalg.solve(s[np.ix_(g, g)], s[g, child]) if g else 0.0)

    def local(self, child, parents):
        return -0.5e6 * np.log(self.left(child, parents)) - 1e-3 * len(parents)

    def is_faithful(self, parents):
        """Whether all that the graph joins depends clearly."""
        n = len(parents)
        for x, y in combinations(range(n), 2):
            rest = [z for z in range(n) if z not in (x, y)]
            for inside in product([False, True], repeat=len(rest)):
                z = [v for v, there in zip(rest, inside, strict=True) if there]
                if (
                    dag.open_trail(parents, [x], [y], z) is not None
                    and self.left(y, [*z, x]) > self.left(y, z) * 0.9999
                ):
                    return False
        return True


def climbed(scores, parents, **limits):
    n = len(parents)
    allowed = limits.get("allowed", [[a for a in range(n) if a != b] for b in range(n)])
    moves = EquivalenceMoves(scores, parents, allowed, limits.get("required", [[]] * n), limits.get("most", n))
    total = moves.score()
    while (step := moves.step())[0]:
        total += step[1]
    assert total == pytest.approx(moves.score(), rel=1e-9, abs=1e-6)
    return moves


@given(dags(most=5), st.integers(0, 2**16))
@settings(max_examples=60)
def test_with_endless_rows_it_ends_in_the_class_of_the_true_graph(parents, seed):
    scores = GaussianOracle(parents, seed)
    assume(scores.is_faithful(parents))
    marks = climbed(scores, [[] for _ in parents]).marks()
    expected = PartialGraph.of_parents([f"v{i}" for i in range(len(parents))], parents).marks()
    assert marks == [np.flatnonzero(row).tolist() for row in expected]


@given(dags(most=6), st.integers(0, 2**16))
@settings(max_examples=40)
def test_it_ends_where_no_network_of_the_class_gains_by_one_arc(parents, seed):
    scores = ScoredFamilies(read_rows(_sampled(parents, seed)))
    moves = climbed(scores.kernel, [[] for _ in parents])
    n, found = len(parents), moves.parents()
    for graph in (graph for graph in _orientations(found) if dag.equivalent(graph, found)):
        for a, b in product(range(n), repeat=2):
            if a == b or b in graph[a]:
                continue
            other = [list(above) for above in graph]
            if a in other[b]:
                other[b].remove(a)
            else:
                other[b].append(a)
            if len(dag.topological_order(other)) == n:
                assert scores.local(b, other[b]) <= scores.local(b, graph[b]) + 1e-6


def _sampled(parents, seed):
    names = [f"v{i}" for i in range(len(parents))]
    net = BayesianNetwork({names[i]: [names[p] for p in above] for i, above in enumerate(parents)}, random_tables=seed)
    rows = net.sample(300, random_state=seed)
    assume(all(len(set(rows[name])) > 1 for name in names))  # a constant column is warned of
    return {name: rows[name] for name in names}


def _orientations(parents):
    arcs = [(a, b) for b, above in enumerate(parents) for a in above]
    if len(arcs) > 7:
        return
    for way in product([False, True], repeat=len(arcs)):
        graph = [[] for _ in parents]
        for (a, b), turned in zip(arcs, way, strict=True):
            graph[a if turned else b].append(b if turned else a)
        if len(dag.topological_order(graph)) == len(parents):
            yield graph


@given(dags(most=6), st.integers(0, 2**16), st.integers(1, 3))
@settings(max_examples=40)
def test_lists_tiers_and_the_number_of_parents_hold(parents, seed, most):
    rows = read_rows(_sampled(parents, seed))
    rng = np.random.default_rng(seed)
    n = len(parents)
    tiers = np.array_split(rng.permutation(rows.names), min(2, n))
    limits = Constraints.of(rows.names, tiers=[tier.tolist() for tier in tiers], max_parents=most)
    pairs = np.argwhere(limits.allowed)
    if len(pairs):
        a, b = pairs[rng.integers(len(pairs))]
        limits.required[a, b] = True
    task = SearchTask(rows, as_score("bic"), limits, limits.required.copy())
    result = GES().search(task)
    arcs, edges = result.marks & ~result.marks.T, result.marks & result.marks.T
    assert not (arcs & ~limits.allowed).any()
    assert (arcs | ~limits.required).all()
    assert not (edges & ~(limits.allowed & limits.allowed.T)).any()
    found = learn_structure(rows, "ges", tiers=[tier.tolist() for tier in tiers], max_parents=most)
    assert max(map(len, found.network.parents)) <= most
    assert found.score == pytest.approx(found.history.objective[-1], rel=1e-9)


def random_binary_network(n, seed, mean_degree=3.0):
    rng = np.random.default_rng(seed)
    order = rng.permutation(n)
    parents = {f"v{i}": [] for i in range(n)}
    for i, k in combinations(range(n), 2):
        if rng.random() < mean_degree / (n - 1) and len(parents[f"v{order[k]}"]) < 4:
            parents[f"v{order[k]}"].append(f"v{order[i]}")
    return BayesianNetwork(parents, random_tables=seed)


@pytest.mark.parametrize("seed", range(5))
def test_on_a_hundred_binary_variables_it_beats_hill_climbing(seed):
    rows = read_rows(random_binary_network(100, seed).sample(3000, random_state=seed))
    assert learn_structure(rows, "ges").score >= learn_structure(rows, "hill-climb").score
