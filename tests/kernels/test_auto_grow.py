"""Context trees are grown as a plain loop over rows grows them, in nodes of many rows and in nodes of few."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from bayeskit._kernels import grow_context_trees

M64, GOLDEN = (1 << 64) - 1, 0x9E3779B97F4A7C15
BELOW, EQUAL, HALF = 0, 1, 2
FEWEST_ROWS, DEEPEST, FEW, ENOUGH = 2, 40, 64, 512


def mix64(z):
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & M64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & M64
    return z ^ (z >> 31)


class Random:
    def __init__(self, seed, stream):
        self.state = mix64(mix64((seed + GOLDEN) & M64) ^ mix64(((stream + 1) * 0xD1342543DE82EF95) & M64))

    def bits(self):
        self.state = (self.state + GOLDEN) & M64
        return mix64(self.state)

    def uniform(self):
        return (self.bits() >> 11) * 2.0**-53

    def below(self, n):
        return ((self.bits() >> 32) * n) >> 32


def goes_first(level, test, value):
    if test == BELOW:
        return level < value
    if test == EQUAL:
        return level == value
    return mix64((value << 8) | int(level)) & 1 == 1


def purity(first, y, weight):
    """Σ over both children of Σ_c n_c² / n, or None where a child would be empty."""
    total = 0.0
    for side in (first, ~first):
        n = np.bincount(y[side], weights=weight[side])
        if n.sum() <= 0:
            return None
        total += (n**2).sum() / n.sum()
    return total


def draw(codes, rows, ordered, sizes, random):
    """A random test of a column that varies, or None."""
    feature = random.below(len(codes))
    levels = codes[feature, rows]
    low, high = int(levels.min()), int(levels.max())
    if low == high:
        return None
    if ordered[feature]:
        return feature, BELOW, low + 1 + random.below(high - low)
    if sizes[feature] <= 5 or random.uniform() < 0.5:
        return feature, EQUAL, int(levels[random.below(len(rows))])
    return feature, HALF, random.bits() >> 40


def best_test(codes, y, weight, rows, ordered, sizes, n_tests, random):
    if len(rows) > max(FEW, ENOUGH):
        rows = rows[[(2 * r + 1) * len(rows) // (2 * ENOUGH) for r in range(ENOUGH)]]
    best, top, tried = None, -1.0, 0
    for _ in range(4 * n_tests + 8):
        if tried == n_tests or top >= weight[rows].sum():
            break
        test = draw(codes, rows, ordered, sizes, random)
        if test is None:
            continue
        first = np.array([goes_first(level, *test[1:]) for level in codes[test[0], rows]])
        score = purity(first, y[rows], weight[rows])
        if score is None:
            continue
        tried += 1
        if score > top:
            best, top = test, score
    return best


def grow(codes, y, weight, ordered, sizes, seed, tree, share, n_tests, most):
    """The nodes of a tree, breadth first: (feature, test, value, first child), or None for a leaf."""
    pair, n = seed ^ mix64(tree // 2 + 1), codes.shape[1]
    u = np.array([Random(pair, r).uniform() for r in range(n)])
    drawn = u < share if tree % 2 == 0 else u >= 1 - share
    if share == 0.5:  # half of the copies of a row are drawn
        drawn, weight = drawn | (weight >= 2), np.where(weight >= 2, weight / 2, weight)
    drawn = np.flatnonzero(drawn)
    # Class by class, and rows of weight 1 behind the others.
    drawn = drawn[np.argsort(2 * y[drawn].astype(int) + (weight[drawn] == 1), kind="stable")]
    random, nodes, waiting, leaves = Random(seed, tree), [None], [(0, drawn, 0)], 1
    while waiting and leaves < most:
        node, rows, depth = waiting.pop(0)
        if len(rows) < FEWEST_ROWS or depth >= DEEPEST or len(set(y[rows])) == 1:
            continue
        test = best_test(codes, y, weight, rows, ordered, sizes, n_tests, random)
        if test is None:
            continue
        first = np.array([goes_first(level, *test[1:]) for level in codes[test[0], rows]])
        nodes[node] = (*test, len(nodes))
        waiting += [(len(nodes), rows[first], depth + 1), (len(nodes) + 1, rows[~first], depth + 1)]
        nodes += [None, None]
        leaves += 1
    return nodes


@pytest.mark.parametrize(("rows", "most"), [(30, 1000), (300, 1000), (1500, 1000), (300, 9)])
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_that_a_plain_loop_grows(rows, most, weighted):
    rng = np.random.default_rng(rows)
    sizes = np.array([200, 4, 90, 7])
    ordered = np.array([1, 0, 0, 1], dtype=np.uint8)
    level_at = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    codes = np.stack([rng.integers(0, size, rows) for size in sizes]).astype(np.uint8)
    y = ((codes[0] // 70 + codes[1] + (rng.random(rows) < 0.2)) % 3).astype(np.uint32)
    weight = rng.integers(1, 8, rows) / 2 if weighted else np.ones(rows)
    tree_at, *parts = grow_context_trees(codes, y, weight, 3, level_at, ordered, 7, 0, 3, 0.5, 3, most, 2)
    for tree in range(3):
        found = list(zip(*(part[tree_at[tree] : tree_at[tree + 1]].tolist() for part in parts), strict=True))
        expected = grow(codes, y, weight, ordered, sizes, 7, tree, 0.5, 3, most)
        inner = [node for node in expected if node is not None]
        assert_array_equal([each for each in found if each[0] >= 0], inner)
        assert [each[0] < 0 for each in found] == [node is None for node in expected]
        assert len(inner) >= 5
