"""The kernels of context trees, Gaussians and the pool give what plain loops, SciPy and literal leaving-out give."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime, minimize
from scipy.stats import multivariate_t

from bayeskit._kernels import (
    ContextTrees,
    fit_pool,
    gaussian_densities,
    gaussian_sums,
    grow_context_trees,
    pool_log_posterior,
    pool_loss,
)

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
    found = forest.trees.leave_one_out(forest.cells, m, forest.codes, forest.y, own, ids, 7, 0, 0.0, 1)
    for row in range(8):
        without = forest.weight.copy()
        without[row] -= 1
        for g in range(2):
            expected = np.mean([forest.posterior(t, row, without, m[g]) for t in range(6)], axis=0)
            assert_allclose(found[g, row], expected, rtol=1e-10)
    honest = forest.trees.leave_one_out(forest.cells, m, forest.codes, forest.y, own, ids, 7, 0, 0.5, 1)
    assert not np.allclose(honest, found)  # pairs of complementary halves: each row has three of the six trees


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


def gaussian(seed=0, rows=40, p=3, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, rows).astype(np.uint32)
    return rng.normal(size=(rows, p)) + y[:, None], y, rng.integers(1, 3, rows).astype(float)


def test_gaussian_sums_are_the_moments_of_each_class():
    z, y, weight = gaussian()
    found = gaussian_sums(z, y, weight, 3, 1)
    one = np.column_stack([np.ones(len(z)), z])
    for c in range(3):
        assert_allclose(found[c], (one[y == c] * weight[y == c, None]).T @ one[y == c], rtol=1e-12)
    assert_array_equal(found, gaussian_sums(z, y, weight, 3, 2))


def test_densities_are_those_of_scipys_multivariate_t_up_to_a_constant():
    z, _, _ = gaussian()
    rng = np.random.default_rng(1)
    mean, kappa, df = rng.normal(size=(2, 3)), np.array([4.5, 9.5]), np.array([6.0, 11.0])
    root = rng.normal(size=(2, 3, 3))
    scale = root @ root.transpose(0, 2, 1) + np.eye(3)
    found = gaussian_densities(z, mean, scale, kappa, df, None, None, None, None, 1)
    for c in range(2):
        shape = scale[c] * (kappa[c] + 1) / (kappa[c] * df[c])
        expected = multivariate_t(mean[c], shape, df[c]).logpdf(z)
        # What is left out is the same for all classes: -p/2 log π.
        assert_allclose(found[:, c] - 1.5 * np.log(np.pi), expected, rtol=1e-10)


def test_downdates_equal_leaving_the_row_out_of_its_class_and_of_the_pooled_covariance():
    from bayeskit.classify.auto.gaussians import KAPPA

    z, y, _ = gaussian(rows=30)
    prior, nu, divisor = z.mean(axis=0), 9.0, 27.0

    def parts(weight):
        n = np.array([weight[y == c].sum() for c in range(3)])
        own = np.array([weight[y == c] @ z[y == c] for c in range(3)]) / n[:, None]
        away = z - own[y]
        scatter = np.array([(away * (weight * (y == c))[:, None]).T @ away for c in range(3)])
        pull = (KAPPA * n / (KAPPA + n))[:, None, None] * np.einsum("ci,cj->cij", own - prior, own - prior)
        scale = scatter + nu * scatter.sum(axis=0) / divisor + pull
        mean = (KAPPA * prior + n[:, None] * own) / (KAPPA + n)[:, None]
        return (mean, scale, n + KAPPA, nu + n - 3 + 1), own, n / (n - 1) * nu / divisor

    ones = np.ones(len(y))
    densities, center, pooled = parts(ones)
    found = gaussian_densities(z, *densities, y, ones, center, pooled, 1)
    for row in range(len(y)):
        weight = ones.copy()
        weight[row] = 0.0
        expected = gaussian_densities(z[row : row + 1], *parts(weight)[0], None, None, None, None, 1)
        assert_allclose(found[row], expected[0], rtol=3e-10, atol=1e-10)


def pool(seed=0, rows=60, members=4, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, rows).astype(np.uint32)
    scores = rng.normal(size=(rows, members, k)) + 1.0 * (np.arange(k) == y[:, None])[:, None, :]
    scores = np.ascontiguousarray(scores.transpose(1, 2, 0), dtype=np.float32)  # (members, k, rows)
    return scores, y, rng.integers(1, 3, rows).astype(float)


def test_the_loss_of_the_pool_and_its_gradient():
    scores, y, weight = pool()
    parameters = np.random.default_rng(1).normal(size=7)

    def plain(z):
        s = np.einsum("mcr,m->rc", scores.astype(float), z[:4]) + z[4:]
        s -= s.max(axis=1, keepdims=True)
        return -(weight * (s[np.arange(60), y] - np.log(np.exp(s).sum(axis=1)))).sum()

    loss, gradient = pool_loss(scores, y, weight, parameters, 1)
    log_posterior = pool_log_posterior(scores, parameters[:4], parameters[4:], 1)
    assert_allclose(np.exp(log_posterior).sum(axis=1), 1.0, rtol=1e-12)
    assert_allclose(-weight @ log_posterior[np.arange(60), y], plain(parameters), rtol=1e-12)
    assert_allclose(loss, plain(parameters), rtol=1e-12)
    assert_allclose(gradient, approx_fprime(parameters, plain, 1e-7), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_weights_are_those_that_scipy_finds(seed):
    scores, y, weight = pool(seed)
    scores[0] *= -1  # a member that misleads gets weight 0
    around, penalty = np.full(4, 0.25), 2.0

    def objective(z):
        loss, gradient = pool_loss(scores, y, weight, z, 1)
        away = z[:4] - around
        gradient[:4] += penalty * away
        gradient[4:] += z[4:]
        return loss + 0.5 * penalty * away @ away + 0.5 * z[4:] @ z[4:], gradient

    start = np.concatenate([around, np.zeros(3)])
    bounds = [(0, None)] * 4 + [(None, None)] * 3
    theirs = minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-15, "gtol": 1e-9}
    )
    ours = fit_pool(scores, y, weight, around, penalty, start, 1e-9, 1)
    assert ours[0] == 0.0
    assert_allclose(ours, theirs.x, atol=1e-3)
    assert_allclose(objective(ours)[0], theirs.fun, rtol=1e-7)
