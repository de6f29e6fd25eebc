"""The kernels of context trees give what plain loops and literal leaving-out give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import ContextTrees, grow_context_trees

HIDDEN = 255
M64 = (1 << 64) - 1


def mix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


def goes_first(level, test, value):
    if test == 0:
        return level < value
    if test == 1:
        return level == value
    return mix64((int(value) << 8) | int(level)) & 1 == 1


class Forest:
    def __init__(self, seed=0, rows=80, k=3, n_trees=6, most=1000):
        self.known, rng = {}, np.random.default_rng(seed)
        sizes = np.array([9, 4, 7])
        self.level_at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        self.codes = np.stack([rng.integers(0, size, rows) for size in sizes]).astype(np.uint8)
        self.y = ((self.codes[0] // 3 + (rng.random(rows) < 0.2)) % k).astype(np.uint32)
        self.weight, self.k = rng.integers(1, 3, rows).astype(float), k
        ordered = np.array([1, 0, 0], dtype=np.uint8)
        self.nodes = grow_context_trees(
            self.codes, self.y, self.weight, k, self.level_at, ordered, 7, 0, n_trees, 0.5, 3, most, 1
        )
        self.trees = ContextTrees(self.level_at, *self.nodes)
        self.cells = self.trees.count(self.codes, self.y, self.weight, k, 1)
        self.tree_at, self.feature, self.test, self.value, self.next = self.nodes

    def path(self, tree, row):
        if (tree, row) not in self.known:
            self.known[tree, row] = self._path(tree, row)
        return self.known[tree, row]

    def _path(self, tree, row):
        node, out = 0, [0]
        while self.feature[self.tree_at[tree] + node] >= 0:
            at = self.tree_at[tree] + node
            first = goes_first(self.codes[self.feature[at], row], self.test[at], self.value[at])
            node = int(self.next[at]) + (0 if first else 1)
            out.append(node)
        return out

    def posterior(self, tree, row, weight, m):
        """P(c | leaf) along the row's path, from the counts of all rows."""
        paths = [set(self.path(tree, r)) for r in range(len(self.y))]
        p = None
        for node in self.path(tree, row):
            n = np.array(
                [
                    sum(weight[r] for r in range(len(self.y)) if node in paths[r] and self.y[r] == c)
                    for c in range(self.k)
                ]
            )
            if p is None:
                p = (n + 0.5) / (n.sum() + 0.5 * self.k)
            elif n.sum() <= 0:
                break
            else:
                p = (n + m * p) / (n.sum() + m)
        return p


def test_leaves_count_the_rows_that_reach_them():
    forest = Forest()
    expected = np.zeros_like(forest.cells)
    for tree in range(6):
        for row in range(len(forest.y)):
            leaf = forest.next[forest.tree_at[tree] + forest.path(tree, row)[-1]]
            expected[leaf, forest.y[row]] += forest.weight[row]
    assert_array_equal(forest.cells, expected)
    assert len(forest.cells) == forest.trees.n_leaves > 12


def test_scores_are_the_mean_of_the_leaves_posteriors():
    forest, m = Forest(), 0.6
    tables = forest.trees.leaf_tables(forest.cells, m, 1)
    weights = forest.trees.node_weights(forest.cells, 1)
    found = forest.trees.score(tables, weights, forest.codes, 1)
    for row in range(6):
        expected = np.mean([forest.posterior(t, row, forest.weight, m) for t in range(6)], axis=0)
        assert_allclose(found[row], expected, rtol=1e-5)
    assert_allclose(found.sum(axis=1), 1.0, rtol=1e-5)


def test_leaving_a_row_out_equals_counting_without_it_in_the_trees_that_have_not_seen_it():
    forest, m = Forest(), np.array([0.2, 6.0])
    ids, own = np.arange(len(forest.y)), np.ones(len(forest.y))
    # With share 0 no tree has seen any row, so all of them take part.
    given = forest.codes, forest.y, own, ids, 7, 0
    found = forest.trees.leave_one_out(forest.cells, m, np.array([2, 6]), *given, 0.0, 1)
    for row in range(8):
        without = forest.weight.copy()
        without[row] -= 1
        for g in range(2):
            each = [forest.posterior(t, row, without, m[g]) for t in range(6)]
            assert_allclose(found[0, g, row], np.mean(each[:2], axis=0), rtol=1e-10)
            assert_allclose(found[1, g, row], np.mean(each, axis=0), rtol=1e-10)
    honest = forest.trees.leave_one_out(forest.cells, m, np.array([6]), *given, 0.5, 1)
    assert not np.allclose(honest[0], found[1])  # pairs of complementary halves: each row has three of the six trees
    assert_array_equal(honest, forest.trees.leave_one_out(forest.cells, m, np.array([6]), *given, 0.5, 2))
    with pytest.raises(ValueError, match="not so many trees"):
        forest.trees.leave_one_out(forest.cells, m, np.array([7]), *given, 0.5, 1)


def test_counts_of_any_type_give_the_same_tables():
    forest = Forest()
    for dtype in (np.int32, np.int64):
        cells = forest.cells.astype(dtype)
        assert_array_equal(forest.trees.leaf_tables(cells, 0.6, 1), forest.trees.leaf_tables(forest.cells, 0.6, 1))
        assert_array_equal(forest.trees.node_weights(cells, 1), forest.trees.node_weights(forest.cells, 1))
    with pytest.raises(ValueError, match="int32, int64 or float64"):
        forest.trees.leaf_tables(forest.cells.astype(np.float32), 0.6, 1)


def test_hidden_cells_need_the_weights_of_the_nodes_and_others_do_not():
    forest = Forest()
    tables, weights = forest.trees.leaf_tables(forest.cells, 1.0, 1), forest.trees.node_weights(forest.cells, 1)
    none = np.empty(0)
    assert_array_equal(
        forest.trees.score(tables, none, forest.codes, 1), forest.trees.score(tables, weights, forest.codes, 1)
    )
    with pytest.raises(ValueError, match="hidden cells need the weights"):
        forest.trees.score(tables, none, np.full_like(forest.codes, HIDDEN), 1)


def test_hidden_cells_are_averaged_by_the_rows_of_both_ways():
    forest = Forest()
    tables, weights = forest.trees.leaf_tables(forest.cells, 1.0, 1), forest.trees.node_weights(forest.cells, 1)
    hidden = np.full_like(forest.codes[:, :1], HIDDEN)
    found = forest.trees.score(tables, weights, hidden, 1)[0]
    share = forest.cells.sum(axis=1) / forest.weight.sum() / 6  # all rows over six trees
    assert_allclose(found, share @ tables.astype(float), rtol=1e-6)


def test_trees_are_the_same_for_any_number_of_threads_and_their_size_is_bounded():
    forest = Forest(most=4)
    assert np.diff(forest.tree_at).max() <= 2 * 4 - 1
    one, two = Forest(), Forest()
    arguments = one.codes, one.y, one.weight, 3, one.level_at, np.ones(3, np.uint8), 1, 0, 9, 0.5, 2, 50
    for a, b in zip(grow_context_trees(*arguments, 1), grow_context_trees(*arguments, 3), strict=True):
        assert_array_equal(a, b)
    assert_array_equal(one.cells, two.cells)


def test_trees_of_a_damaged_file_are_refused():
    forest = Forest()
    tree_at, feature, test, value, next_ = (each.copy() for each in forest.nodes)
    next_[0] = 0  # a circle
    with pytest.raises(ValueError, match="out of range"):
        ContextTrees(forest.level_at, tree_at, feature, test, value, next_)
