"""Boosted trees are what a plain loop over nodes, columns and levels grows from the same scores."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import BoostedTrees, ContextTrees
from tests.kernels.test_auto_grow import M64, Random, goes_first, mix64

BELOW, EQUAL = 0, 1
RATE, RIDGE, LEAST_CURVE = 0.3, 1.5, 0.4


def slopes_of(scores, y, weight):
    """g and h by each output; of two classes the log-odds of the second is the only one."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    k = scores.shape[1]
    g, h = weight[:, None] * (p - np.eye(k)[y]), weight[:, None] * p * (1 - p)
    return (g[:, 1:], h[:, 1:]) if k == 2 else (g, h * k / (k - 1))


def best_test(codes, rows, columns, ordered, g, h):
    """The gain, column and test with the greatest Σ g² / (h + ridge) of both sides, or None."""
    best = None
    for j in columns:
        for level in np.unique(codes[j, rows]).tolist():
            test, value = (BELOW, level + 1) if ordered[j] else (EQUAL, level)
            first = np.array([goes_first(each, test, value) for each in codes[j, rows].tolist()])
            sides = rows[first], rows[~first]
            if min(h[side].sum() for side in sides) < LEAST_CURVE:
                continue
            worth = [(g[side].sum(axis=0) ** 2 / (h[side].sum(axis=0) + RIDGE)).sum() for side in (*sides, rows)]
            gain = worth[0] + worth[1] - worth[2]
            if gain > 1e-6 and (best is None or gain > best[0] * (1 + 1e-6)):
                best = gain, j, test, value, sides
    return best


def twin(codes, y, weight, scores, part, left_out, ordered, seed, n_rounds, most_leaves, row_share, n_columns):
    """The scores of all rows after some rounds of the ensemble that leaves a part out."""
    n = len(codes)
    for tree in range(n_rounds):
        g, h = slopes_of(scores, y, weight)
        random = Random((mix64(seed) + left_out) & M64, tree)
        drawn = np.array([random.uniform() < row_share if row_share < 1 else True for _ in y])
        columns = list(range(n))
        for j in range(n_columns if n_columns < n else 0):
            other = j + random.below(n - j)
            columns[j], columns[other] = columns[other], columns[j]
        columns = sorted(columns[:n_columns])
        rows = np.flatnonzero(drawn & (part != left_out))
        scores = scores + steps_of(codes, rows, columns, ordered, g, h, most_leaves, scores.shape[1])
    return scores


def steps_of(codes, rows, columns, ordered, g, h, most_leaves, k):
    """What one tree adds to all rows, those that it was not grown on too; its best leaf is split first."""
    everyone = np.arange(codes.shape[1])
    nodes = [(rows, everyone, best_test(codes, rows, columns, ordered, g, h))]
    while len(nodes) < most_leaves and any(best for *_, best in nodes):
        place = max((p for p in range(len(nodes)) if nodes[p][2]), key=lambda p: nodes[p][2][0])
        _, here, (_, j, test, value, sides) = nodes[place]
        first = np.array([goes_first(each, test, value) for each in codes[j, here].tolist()], dtype=bool)
        both = zip(sides, (here[first], here[~first]), strict=True)
        nodes[place : place + 1] = [(s, e, best_test(codes, s, columns, ordered, g, h)) for s, e in both]
    steps = np.zeros((codes.shape[1], k))
    for grown_on, here, _ in nodes:
        step = -RATE * g[grown_on].sum(axis=0) / (h[grown_on].sum(axis=0) + RIDGE)
        steps[here] = [-step[0] / 2, step[0] / 2] if k == 2 else step
    return steps


def drawn_table(k, seed):
    rng = np.random.default_rng(seed)
    n_rows, sizes = 120, (6, 3, 9, 4)
    codes = np.stack([rng.integers(0, size, n_rows) for size in sizes]).astype(np.uint8)
    y = ((codes[0] > 2).astype(int) + (codes[1] == 1) + (rng.random(n_rows) < 0.2)).astype(np.uint32) % k
    weight = rng.choice([1.0, 2.0, 0.5], n_rows)
    scores = rng.normal(size=(n_rows, k)) * 0.3
    part = rng.integers(0, 2, n_rows).astype(np.uint8)
    level_at = np.concatenate([[0], np.cumsum(sizes)])
    return codes, y, weight, scores, part, level_at, np.array([1, 0, 1, 0], dtype=np.uint8)


@pytest.mark.parametrize(("k", "row_share", "n_columns"), [(2, 1.0, 4), (3, 1.0, 4), (2, 0.6, 3), (3, 0.7, 2)])
def test_the_kernel_grows_what_the_plain_loop_grows(k, row_share, n_columns):
    codes, y, weight, scores, part, level_at, ordered = drawn_table(k, 7 * k)
    kernel = BoostedTrees(
        codes, y, weight, scores, part, 2, level_at, ordered, 5, RATE, 6, RIDGE, LEAST_CURVE, row_share, n_columns
    )
    losses = kernel.grow(4, 2)
    expected = np.empty_like(scores)
    for left_out in range(2):
        by_twin = twin(codes, y, weight, scores, part, left_out, ordered, 5, 4, 6, row_share, n_columns)
        expected[part == left_out] = by_twin[part == left_out]
    assert_allclose(scores + kernel.left_out(4, 1), expected, rtol=0, atol=1e-5)  # slopes have 4 bytes
    log_p = expected - np.log(np.exp(expected).sum(axis=1, keepdims=True))
    assert_allclose(losses[-1], -(weight * log_p[np.arange(len(y)), y]).sum(), rtol=1e-5)


@pytest.mark.parametrize("k", [2, 4])
def test_the_trees_that_are_returned_add_up_to_what_rows_left_out_got(k):
    codes, y, weight, scores, part, level_at, ordered = drawn_table(k, k)
    kernel = BoostedTrees(codes, y, weight, scores, part, 2, level_at, ordered, 1, RATE, 8, RIDGE, LEAST_CURVE, 0.7, 3)
    kernel.grow(5, 1)
    tree_at, feature, test, value, next_, steps, leaf_weight = kernel.trees(3, 2)
    assert len(tree_at) == 2 * 3 + 1
    trees = ContextTrees(level_at, tree_at, feature, test, value, next_)
    for left_out in range(2):
        # The leaves of the other ensemble say nothing.
        is_leaf = feature < 0
        ensemble = np.repeat(np.arange(6) // 3, np.diff(tree_at))[is_leaf]
        only = np.where((ensemble == left_out)[:, None], steps, np.float32(0))
        total = trees.score(only, np.empty(0), codes, 1) * 6
        assert_allclose(total[part == left_out], kernel.left_out(3, 1)[part == left_out], rtol=0, atol=1e-6)
    assert_allclose(leaf_weight.sum(), 6 * weight.sum(), rtol=1e-12)


def test_the_number_of_threads_changes_nothing():
    codes, y, weight, scores, part, level_at, ordered = drawn_table(3, 2)
    given = codes, y, weight, scores, part, 2, level_at, ordered, 3, RATE, 8, RIDGE, LEAST_CURVE, 0.7, 3
    one, two = BoostedTrees(*given), BoostedTrees(*given)
    assert_array_equal(one.grow(6, 1), two.grow(6, 2))
    for a, b in zip(one.trees(6, 1), two.trees(6, 2), strict=True):
        assert_array_equal(a, b)


def test_a_round_lowers_the_loss_of_the_rows_that_are_learned_from():
    codes, y, weight, scores, _, level_at, ordered = drawn_table(3, 4)
    nobody = np.zeros(len(y), dtype=np.uint8)  # the ensemble of the second part learns from all rows
    kernel = BoostedTrees(codes, y, weight, scores, nobody, 2, level_at, ordered, 3, 0.2, 8, 1.0, 0.1, 1.0, 4)
    kernel.grow(10, 1)
    tree_at, feature, test, value, next_, steps, _ = kernel.trees(10, 1)
    trees = ContextTrees(level_at, tree_at, feature, test, value, next_)
    second = np.repeat(np.arange(20) >= 10, np.diff(tree_at))[feature < 0]
    losses = []
    for n in range(11):
        tree = np.repeat(np.arange(20), np.diff(tree_at))[feature < 0]
        some = np.where((second & (tree < 10 + n))[:, None], steps, np.float32(0))
        total = scores + trees.score(some, np.empty(0), codes, 1) * 20
        losses.append(
            -(weight * (total - np.log(np.exp(total).sum(axis=1, keepdims=True)))[np.arange(len(y)), y]).sum()
        )
    assert (np.diff(losses) < 0).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"part": np.zeros(3, np.uint8)}, "differ in length"),
        ({"ridge": 0.0}, "out of range"),
        ({"hide": True}, "hidden"),
    ],
)
def test_what_does_not_fit_is_refused(changed, message):
    codes, y, weight, scores, part, level_at, ordered = drawn_table(2, 1)
    if changed.get("hide"):
        codes[0, 0] = 255
    part, ridge = changed.get("part", part), changed.get("ridge", RIDGE)
    with pytest.raises(ValueError, match=message):
        BoostedTrees(codes, y, weight, scores, part, 2, level_at, ordered, 5, RATE, 6, ridge, LEAST_CURVE, 1.0, 4)
