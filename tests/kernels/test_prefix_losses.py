"""The losses of a tree of families are those of counting again without each row in turn."""

from functools import reduce
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import count_families, prefix_losses

MISSING = 255


def posterior_reference(columns, y, weight, n_classes, sizes, families, row, smoothing):
    """P(c | x) ∝ Σ over the hidden cells of P(c) ∏ P(x_j | parents, c), each from a count of all rows."""

    def n_rows(conditions):
        chosen = reduce(np.logical_and, conditions, np.ones(len(y), dtype=bool))
        return np.bincount(y[chosen], weights=weight[chosen], minlength=n_classes)

    known = [column != MISSING for column in columns]
    used = sorted({j for members in families for j in members})
    joint = np.zeros(n_classes)
    for values in product(*(range(sizes[j]) if row[j] == MISSING else [row[j]] for j in used)):
        x = dict(zip(used, values, strict=True))
        term = n_rows([]) + smoothing
        for *parents, j in families:
            above = [columns[i] == x[i] for i in parents]
            n, of = n_rows([*above, columns[j] == x[j]]), n_rows([*above, known[j]])
            term = term * (n + smoothing) / (of + smoothing * sizes[j])
        joint += term
    return joint / joint.sum()


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    d, n_classes, n = draw(st.integers(1, 5)), draw(st.integers(1, 5)), draw(st.integers(1, 20))
    sizes = [draw(st.integers(1, 3)) for _ in range(d)]
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    for column in columns:
        column[rng.random(n) < draw(st.sampled_from([0.0, 0.2, 0.8]))] = MISSING
    order = rng.permutation(d).tolist()
    families, before = [], []
    # A tree: each family goes behind any other that leaves its feature free.
    paths = [[]]
    for _ in range(draw(st.integers(1, 7))):
        behind = int(rng.integers(len(paths)))
        place = len(paths[behind])
        if place == d:
            continue
        parents = rng.permutation(order[:place])[: rng.integers(0, min(place, 2) + 1)].tolist()
        families.append((*parents, order[place]))
        before.append(behind - 1)
        paths.append([*paths[behind], families[-1]])
    weights = [None, rng.integers(1, 4, n).astype(float), rng.random(n) * 2]
    return columns, rng.integers(0, n_classes, n), draw(st.sampled_from(weights)), n_classes, sizes, paths, before


def found_losses(*problem):
    return losses_and_rows(*problem)[0]


def losses_and_rows(columns, y, weight, n_classes, sizes, families, before, smoothing, n_threads):
    n_class = np.bincount(y, weights=weight, minlength=n_classes)
    counts = count_families(columns, y, weight, n_classes, sizes, families, 1)
    pseudo = smoothing, [smoothing] * len(sizes)
    return prefix_losses(columns, y, weight, n_class, counts, sizes, families, before, *pseudo, n_threads)


@given(problems(), st.sampled_from([0.25, 1.0]))
@settings(max_examples=60, deadline=None)
def test_losses_equal_those_of_counting_again_without_the_row(problem, smoothing):
    columns, y, weight, n_classes, sizes, paths, before = problem
    families = [path[-1] for path in paths[1:]]
    found = found_losses(columns, y, weight, n_classes, sizes, families, before, smoothing, 2)
    w = np.ones(len(y)) if weight is None else weight
    expected = np.zeros(len(paths))
    for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        less = w.copy()
        less[i] -= min(1.0, w[i])
        for k, path in enumerate(paths):
            posterior = posterior_reference(columns, y, less, n_classes, sizes, path, row, smoothing)
            expected[k] += w[i] * (1 - posterior[y[i]]) ** 2
    assert_allclose(found, expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("smoothing", [1e-3, 1e-12, 1e-120])
def test_a_class_that_nearly_vanished_can_come_back(smoothing):
    # 60 features deny the true class and 60 others the wrong one: in between, the posterior is below any double.
    n, d = 40, 120
    y = np.arange(n) % 2
    columns = [np.where(np.arange(n) < 38, y, 1 - y).astype(np.uint8) for _ in range(d)]
    columns[0][3] = MISSING
    for column in columns[d // 2 :]:
        column[-2:] = y[-2:]
    families = [(0,), (0, 1), *((j,) for j in range(2, d))]
    weight = np.eye(n)[n - 1]  # only the last row's loss counts, and it leaves as a whole
    counted = np.ones(n)
    n_class = np.bincount(y, weights=counted)
    counts = count_families(columns, y, counted, 2, [2] * d, families, 1)
    before, pseudo = list(range(-1, d - 1)), (smoothing, [smoothing] * d)
    found, _ = prefix_losses(columns, y, weight, n_class, counts, [2] * d, families, before, *pseudo, 1)
    row = [int(column[-1]) for column in columns]
    log_joint = np.log(n_class - [0, 1] + smoothing)
    expected = [1 - np.exp(log_joint - np.logaddexp(*log_joint))[1]]
    for *parents, j in families:
        above = np.logical_and.reduce([columns[i] == row[i] for i in parents], initial=True)
        less = [0, 1]
        n_here = np.bincount(y[above & (columns[j] == row[j])], minlength=2) - less
        of = np.bincount(y[above & (columns[j] != MISSING)], minlength=2) - less
        log_joint = log_joint + np.log(n_here + smoothing) - np.log(of + 2 * smoothing)
        expected.append(np.exp(log_joint[0] - np.logaddexp(*log_joint)))
    assert min(expected) < 0.5 < max(expected)
    # The logs beside which it is held reach 60 · ln 1e120 = 16 600, whose last bit is 4e-12; there are 120 of them.
    assert_allclose(found, np.square(expected), rtol=1e-10)


def test_without_smoothing_a_row_that_no_class_can_give_is_answered_with_the_prior_of_the_others():
    columns = [np.array([0, 1, 1, 1], dtype=np.uint8), np.array([0, 0, 1, 1], dtype=np.uint8)]
    y = np.array([0, 1, 1, 1])
    found = found_losses(columns, y, None, 2, [2, 2], [(0,), (1,)], [-1, 0], 0.0, 1)
    # The first row alone is of class 0: without it, only class 1 is left, which never has x_0 = 0, so that the prior of
    # the other rows answers, in which class 0 has no share.
    # The other rows have P(class 1) = 2/3 without themselves, and 1 as soon as x_0 is known.
    assert_allclose(found[:2], [1.0 + 3 / 9, 1.0])


def test_the_number_of_threads_leaves_no_trace():
    rng = np.random.default_rng(0)
    columns = [rng.choice([0, 1, 2, MISSING], 30_000).astype(np.uint8) for _ in range(4)]
    y, weight = rng.integers(0, 3, 30_000), rng.random(30_000) * 2
    families, before = [(0,), (1,), (0, 1), (2,), (0, 2), (0, 1, 2), (1, 2, 3)], [-1, 0, 0, 1, 2, 2, 5]
    one, three = (found_losses(columns, y, weight, 3, [3] * 4, families, before, 0.25, n) for n in (1, 3))
    assert_array_equal(one, three)


@pytest.mark.parametrize("before", [[0], [-2], []])
def test_a_family_behind_one_that_does_not_come_earlier_is_refused(before):
    columns, y = [np.zeros(3, dtype=np.uint8)], np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match="stands behind one"):
        found_losses(columns, y, None, 1, [1], [(0,)], before, 1.0, 1)


def test_a_row_with_a_sum_over_too_many_cells_is_named_and_the_others_count():
    # Seven hidden columns of 16 values, and a child of each two of them: all seven meet in one table.
    pairs = list(combinations(range(7), 2))
    families = [*((j,) for j in range(7)), *((*pair, 7 + k) for k, pair in enumerate(pairs))]
    sizes = [16] * 7 + [1] * len(pairs)
    columns = [np.append(np.arange(16), MISSING).astype(np.uint8)] * 7 + [np.zeros(17, dtype=np.uint8)] * len(pairs)
    problem = (np.zeros(17, int), None, 1, sizes, families, list(range(-1, len(sizes) - 1)), 1.0)
    losses, rows = losses_and_rows(columns, *problem, 2)
    assert rows == [16]
    assert_array_equal(losses, 0.0)  # there is one class
