"""Information and spanning trees against the definitions and brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import mutual_info_score

from bayeskit.errors import BayeskitError
from bayeskit.estimate.information import conditional_mutual_information, maximum_spanning_tree, mutual_information

seeds = st.integers(0, 2**32)


@given(seeds)
def test_mutual_information_is_scikit_learns(seed):
    counts = np.random.default_rng(seed).integers(0, 6, (3, 4))
    expected = mutual_info_score(None, None, contingency=counts) if counts.sum() else 0.0
    assert_allclose(mutual_information(counts), expected, rtol=1e-9, atol=1e-12)


@given(seeds)
def test_conditional_information_is_the_mean_of_the_classes_information(seed):
    counts = np.random.default_rng(seed).integers(0, 6, (3, 2, 4))
    total = counts.sum()
    parts = [counts[:, :, c].sum() / total * mutual_information(counts[:, :, c]) for c in range(4)] if total else [0]
    assert_allclose(conditional_mutual_information(counts), sum(parts), rtol=1e-9, atol=1e-12)


def test_nothing_counted_is_no_information():
    assert conditional_mutual_information(np.zeros((2, 2, 2))) == 0.0
    assert mutual_information(np.zeros((0, 3))) == 0.0


@given(seeds, st.integers(1, 5))
@settings(max_examples=60)
def test_no_spanning_tree_is_heavier(seed, n):
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 4, (n, n)).astype(float)
    weight = weight + weight.T
    root = int(rng.integers(n))
    parent = maximum_spanning_tree(weight, root)
    assert parent[root] == -1
    edges = [(i, j) for i, j in combinations(range(n), 2)]
    found = sum(weight[j, p] for j, p in enumerate(parent) if p >= 0)
    best = max(
        (sum(weight[i, j] for i, j in chosen) for chosen in combinations(edges, n - 1) if spans(chosen, n)), default=0.0
    )
    assert_allclose(found, best)
    for j in range(n):  # every node reaches the root
        steps = 0
        while parent[j] >= 0:
            j, steps = parent[j], steps + 1
            assert steps < n
        assert j == root


def spans(edges, n):
    groups = list(range(n))
    for i, j in edges:
        groups = [groups[i] if g == groups[j] else g for g in groups]
    return len(set(groups)) == 1


def test_a_root_outside_and_uneven_weights_are_refused():
    with pytest.raises(BayeskitError, match="a spanning tree needs square weights and a root among the nodes"):
        maximum_spanning_tree(np.zeros((2, 2)), 2)
    with pytest.raises(BayeskitError, match="square"):
        maximum_spanning_tree(np.zeros((2, 3)))
