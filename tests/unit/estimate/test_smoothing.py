"""A smoothing gives the tables of its formula, whole and without a row, and every scorer believes those tables."""

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import Score
from bayeskit.counts.families import FamilyCounts
from bayeskit.errors import BayeskitError
from bayeskit.estimate.averaged import AverageBeliefs
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.prefixes import prefix_losses
from bayeskit.estimate.smoothing import Lidstone, MEstimate, as_smoothing
from bayeskit.estimate.super_parent import super_parent_losses
from bayeskit.learn.counting import learn_counts
from bayeskit.table.encode import encode
from bayeskit.table.read import read_table

SIZES = (2, 3, 4)
SMOOTHINGS = [Lidstone(0.25), MEstimate(2.0), Lidstone(0.0)]
# Sums of a hundred terms of either sign.
CLOSE = 1e-12


def rows(n=40, seed=0):
    rng = np.random.default_rng(seed)
    table = np.stack([rng.integers(0, size, n) for size in SIZES], axis=1)
    table[: max(SIZES)] = np.minimum(np.arange(max(SIZES))[:, None], np.array(SIZES) - 1)  # every value is there
    return table, rng.integers(0, 2, n)


def counted(table, y, kind):
    source = read_table({name: table[:, j].astype(str) for j, name in enumerate("abc")})
    alone = learn_counts(source, y, np.array(["no", "yes"]))
    columns = encode(source, alone.schema)
    return FamilyCounts.of(alone, columns, y, kind), columns


def probability(smoothing, n, cells):
    """(n_v + α) / Σ (n_v + α) over the values, with the pseudo-count of a distribution of so many cells."""
    alpha = smoothing.m / cells if isinstance(smoothing, MEstimate) else smoothing.smoothing
    return (n + alpha) / (n + alpha).sum() if (n + alpha).sum() > 0 else np.full(len(n), 1 / len(n))


def p_class(smoothing, y):
    return probability(smoothing, np.bincount(y, minlength=2), 2)


def p_value(smoothing, table, y, j, x, c, parents=()):
    """P(x_j | c, parents)."""
    chosen = (y == c) & np.all([table[:, p] == x[p] for p in parents], axis=0) if parents else y == c
    return probability(smoothing, np.bincount(table[chosen, j], minlength=SIZES[j]), SIZES[j])[x[j]]


def p_joint(smoothing, table, y, parents, x, c):
    """P(c, x_parents), smoothed as one distribution over classes and values."""
    cells = 2 * int(np.prod([SIZES[p] for p in parents]))
    number = np.ravel_multi_index([y, *(table[:, p] for p in parents)], (2, *(SIZES[p] for p in parents)))
    here = np.ravel_multi_index([c, *(x[p] for p in parents)], (2, *(SIZES[p] for p in parents)))
    return probability(smoothing, np.bincount(number, minlength=cells), cells)[here]


def spode(smoothing, table, y, parents, x):
    others = [j for j in range(3) if j not in parents]
    return np.array(
        [
            p_joint(smoothing, table, y, parents, x, c)
            * np.prod([p_value(smoothing, table, y, j, x, c, parents) for j in others])
            for c in (0, 1)
        ]
    )


def chain(smoothing, table, y, x):
    """P(c) P(a | c) P(b | a, c) P(c | b, c)."""
    return np.array(
        [
            p_class(smoothing, y)[c]
            * np.prod([p_value(smoothing, table, y, j, x, c, parents) for *parents, j in ((0,), (0, 1), (1, 2))])
            for c in (0, 1)
        ]
    )


def test_a_number_is_lambda():
    assert as_smoothing(0.25) == Lidstone(0.25)
    assert as_smoothing(MEstimate(3.0)) == MEstimate(3.0)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("kind", [Lidstone, MEstimate])
def test_a_smoothing_of_a_bad_number_is_refused(kind, bad):
    with pytest.raises(BayeskitError, match="must be a finite number of at least 0; got"):
        kind(bad)


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_probabilities_are_those_of_the_formula(smoothing):
    assert_allclose(
        smoothing.probabilities([3, 0, 1, 5]), probability(smoothing, np.array([3, 0, 1, 5]), 4), rtol=1e-15
    )


def test_m_rows_shared_out_over_s_values_are_lambda_of_m_over_s():
    n = np.array([[3, 0], [1, 2], [4, 4]])
    assert_allclose(MEstimate(1.5).log_tables([n]), Lidstone(0.5).log_tables([n]), rtol=1e-15)
    assert_allclose(MEstimate(1.5).log_tables([n], [6]), Lidstone(0.25).log_tables([n]), rtol=1e-15)


def test_no_table_gives_no_number():
    assert_array_equal(Lidstone(1.0).log_tables([]), np.empty(0))


@pytest.mark.parametrize("smoothing", SMOOTHINGS)
def test_a_cell_without_one_is_that_of_the_counts_less_one(smoothing):
    n = np.random.default_rng(1).integers(1, 5, (3, 4, 2))
    found = smoothing.log_tables_without_one([n]).reshape(n.shape)
    for u, v, c in np.ndindex(n.shape):
        less = n.copy()
        less[u, v, c] -= 1
        assert_allclose(found[u, v, c], smoothing.log_tables([less]).reshape(n.shape)[u, v, c], rtol=CLOSE)


@pytest.mark.parametrize("smoothing", SMOOTHINGS[:2])
@pytest.mark.parametrize("super_parent", [-1, 1])
def test_families_score_by_the_formula(smoothing, super_parent):
    table, y = rows()
    families = ((1,), (1, 0), (1, 2)) if super_parent == 1 else ((0,), (0, 1), (1, 2))
    counts, columns = counted(table, y, families)
    beliefs = FamilyBeliefs(counts, families, smoothing, super_parent=super_parent)
    found = np.exp(beliefs.score(columns, Score.LOG_JOINT)[0])
    expected = [
        spode(smoothing, table, y, [1], x) if super_parent == 1 else chain(smoothing, table, y, x) for x in table
    ]
    assert_allclose(found, expected, rtol=CLOSE)


@pytest.mark.parametrize("smoothing", SMOOTHINGS[:2])
@pytest.mark.parametrize("weight", [None, "ones"])
def test_families_leave_one_out_as_counting_again_does(smoothing, weight):
    table, y = rows(200)
    families = ((0,), (0, 1), (1, 2))
    counts, columns = counted(table, y, families)
    given = None if weight is None else np.ones(len(y))
    found = np.exp(FamilyBeliefs(counts, families, smoothing).leave_one_out(columns, y, given))
    for i in range(0, len(y), 7):
        joint = chain(smoothing, np.delete(table, i, axis=0), np.delete(y, i), table[i])
        assert_allclose(found[i], joint / joint.sum(), rtol=CLOSE)


@pytest.mark.parametrize("smoothing", SMOOTHINGS[:2])
@pytest.mark.parametrize("order", [1, 2])
def test_averages_are_those_of_the_formula_whole_and_without_the_row(smoothing, order):
    table, y = rows()
    counts, columns = counted(table, y, "pairs" if order == 1 else "triples")
    beliefs = AverageBeliefs(counts, smoothing, min_count=0.0)
    parents = list(combinations(range(3), order))
    found = np.exp(beliefs.score(columns, Score.LOG_JOINT)[0])
    assert_allclose(
        found, [np.mean([spode(smoothing, table, y, p, x) for p in parents], axis=0) for x in table], rtol=CLOSE
    )
    left_out = np.exp(beliefs.leave_one_out(columns, y, None))
    for i, x in enumerate(table):
        fewer, labels = np.delete(table, i, axis=0), np.delete(y, i)
        joint = np.mean([spode(smoothing, fewer, labels, p, x) for p in parents], axis=0)
        assert_allclose(left_out[i], joint / joint.sum(), rtol=CLOSE)


@pytest.mark.parametrize("smoothing", SMOOTHINGS[:2])
def test_losses_of_super_parents_are_those_of_counting_again(smoothing):
    table, y = rows()
    counts, columns = counted(table, y, "pairs")
    expected = np.zeros(3)
    for i, x in enumerate(table):
        for u in range(3):
            joint = spode(smoothing, np.delete(table, i, axis=0), np.delete(y, i), [u], x)
            expected[u] += (1 - joint[y[i]] / joint.sum()) ** 2
    assert_allclose(super_parent_losses(counts, smoothing, columns, y, None)[:, 2], expected, rtol=CLOSE)


@pytest.mark.parametrize("smoothing", SMOOTHINGS[:2])
def test_losses_of_prefixes_are_those_of_counting_again(smoothing):
    table, y = rows()
    counts, columns = counted(table, y, ((0,), (0, 1), (1, 2)))
    expected = 0.0
    for i, x in enumerate(table):
        joint = chain(smoothing, np.delete(table, i, axis=0), np.delete(y, i), x)
        expected += (1 - joint[y[i]] / joint.sum()) ** 2
    assert_allclose(prefix_losses(counts, [-1, 0, 1], smoothing, columns, y, None)[-1], expected, rtol=CLOSE)


def test_an_m_estimate_of_zero_is_maximum_likelihood():
    assert_array_equal(MEstimate(0).probabilities([3, 1]), [0.75, 0.25])
