"""Information and spanning trees against the definitions and brute force."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import mutual_info_score

from bayeskit.counts.families import FamilyCounts
from bayeskit.errors import BayeskitError
from bayeskit.estimate.information import (
    conditional_mutual_information,
    maximum_spanning_tree,
    mutual_information,
    pair_gain,
    pair_information,
    pair_rows,
)
from bayeskit.learn.counting import learn_counts
from bayeskit.table.encode import encode
from bayeskit.table.read import read_table

seeds = st.integers(0, 2**32)


@given(seeds)
def test_mutual_information_is_scikit_learns(seed):
    counts = np.random.default_rng(seed).integers(0, 6, (3, 4))
    expected = mutual_info_score(None, None, contingency=counts) if counts.sum() else 0.0
    assert_allclose(mutual_information(counts), expected, rtol=1e-12, atol=1e-14)


@given(seeds)
def test_conditional_information_is_the_mean_of_the_classes_information(seed):
    counts = np.random.default_rng(seed).integers(0, 6, (3, 2, 4))
    total = counts.sum()
    parts = [counts[:, :, c].sum() / total * mutual_information(counts[:, :, c]) for c in range(4)] if total else [0]
    assert_allclose(conditional_mutual_information(counts), sum(parts), rtol=1e-12, atol=1e-14)


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
    for j in range(n):  # every node reaches a root, by arcs that have weight
        steps = 0
        while parent[j] >= 0:
            assert weight[parent[j], j] > 0
            j, steps = parent[j], steps + 1
            assert steps < n


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


@pytest.mark.parametrize("with_class", [True, False])
def test_the_information_of_all_pairs_is_that_of_each_pairs_table(with_class):
    rng = np.random.default_rng(0)
    table = read_table({name: rng.choice(list("uvw"), 60) for name in "abcd"})
    y, classes = (rng.integers(0, 2, 60), np.array(["no", "yes"])) if with_class else (None, None)
    alone = learn_counts(table, y, classes)
    counts = FamilyCounts.of(alone, encode(table, alone.schema), y, "pairs")
    one = conditional_mutual_information if with_class else mutual_information
    found = pair_information(counts)
    for i, j in combinations(range(4), 2):
        assert_allclose(found[[i, j], [j, i]], one(counts.table((i, j))), rtol=1e-12)
    assert_allclose(pair_gain(counts), found, rtol=1e-15)  # no cell is missing


def test_rows_in_which_a_pair_is_known_are_counted_for_every_pair():
    rng = np.random.default_rng(1)
    columns = {name: rng.choice([*list("uvwxy")[: 2 + k], None], 80) for k, name in enumerate("abcde")}
    table, y = read_table(columns), rng.integers(0, 2, 80)
    alone = learn_counts(table, y, np.array(["no", "yes"]))
    counts = FamilyCounts.of(alone, encode(table, alone.schema), y, "pairs")
    known = np.array([[value is not None for value in column] for column in columns.values()], dtype=float)
    np.testing.assert_array_equal(pair_rows(counts), known @ known.T)
