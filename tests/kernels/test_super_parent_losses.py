"""The losses of all super-parents are those of counting again without each row in turn."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import count_subsets, count_values, super_parent_losses

MISSING = 255


def spode_reference(columns, y, weight, n_classes, sizes, row, u, smoothing):
    """Σ over the hidden values of x_u of P(c, x_u) ∏ P(x_j | c, x_u) over the known x_j."""

    def n_rows(*conditions):
        chosen = np.logical_and.reduce(conditions)
        return np.bincount(y[chosen], weights=weight[chosen], minlength=n_classes)

    known = [column != MISSING for column in columns]
    children = [j for j in range(len(sizes)) if j != u and row[j] != MISSING]
    p = np.zeros(n_classes)
    for v in range(sizes[u]) if row[u] == MISSING else [row[u]]:
        here = columns[u] == v
        term = (n_rows(here) + smoothing) / (n_rows(known[u]).sum() + smoothing * n_classes * sizes[u])
        for j in children:
            n, of = n_rows(here, columns[j] == row[j]), n_rows(here, known[j])
            term = term * (n + smoothing) / (of + smoothing * sizes[j])
        p += term
    return p / p.sum()


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = [draw(st.integers(1, 3)) for _ in range(draw(st.integers(1, 5)))]
    n_classes, n = draw(st.integers(1, 5)), draw(st.integers(1, 25))
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in sizes]
    for column in columns:
        column[rng.random(n) < draw(st.sampled_from([0.0, 0.2, 0.8]))] = MISSING
    weight = draw(st.sampled_from([None, rng.integers(1, 4, n).astype(float), rng.random(n) * 2]))
    return columns, rng.integers(0, n_classes, n), weight, n_classes, sizes, draw(st.sampled_from([0.25, 1.0]))


def found_losses(columns, y, weight, n_classes, sizes, smoothing, n_threads):
    n_value = count_values(columns, y, weight, n_classes, sizes, 1).ravel()
    pairs = count_subsets(columns, y, weight, n_classes, sizes, 2, 1)
    pseudo = [smoothing] * len(sizes)
    given = columns, y, weight, n_value, pairs, sizes, n_classes, pseudo, pseudo
    return super_parent_losses(*given, *joint_prior(columns, y, weight, n_classes, sizes, smoothing), n_threads)


def joint_prior(columns, y, weight, n_classes, sizes, smoothing):
    """P(c) of the smoothed joint P(c, x_u): the rows of each class that know x_u, and λ for each value."""
    known = [np.bincount(y[c != MISSING], None if weight is None else weight[c != MISSING], n_classes) for c in columns]
    return np.concatenate(known).astype(float), [smoothing * size for size in sizes]


@given(problems())
@settings(max_examples=60, deadline=None)
def test_losses_equal_those_of_counting_again_without_the_row(problem):
    columns, y, weight, n_classes, sizes, smoothing = problem
    found = found_losses(columns, y, weight, n_classes, sizes, smoothing, 2)
    w = np.ones(len(y)) if weight is None else weight
    for u in range(len(sizes)):
        expected = np.zeros(3)
        for i, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
            less = w.copy()
            less[i] -= min(1.0, w[i])
            posterior = spode_reference(columns, y, less, n_classes, sizes, row, u, smoothing)
            true = posterior[y[i]]
            # Of classes that tie the first is predicted; the last bits of their probabilities differ.
            first = np.flatnonzero(posterior > posterior.max() - 1e-12)[0]
            expected += w[i] * np.array([first != y[i], -np.log(true), (1 - true) ** 2])
        assert_allclose(found[u], expected, rtol=1e-12, atol=1e-12)


def test_the_number_of_threads_leaves_no_trace():
    rng = np.random.default_rng(0)
    columns = [rng.choice([0, 1, 2, MISSING], 40_000).astype(np.uint8) for _ in range(6)]
    y, weight = rng.integers(0, 3, 40_000), rng.random(40_000) * 2
    one, three = (found_losses(columns, y, weight, 3, [3] * 6, 0.25, n) for n in (1, 3))
    assert_array_equal(one, three)


def test_a_column_without_values_has_infinite_losses_and_changes_no_other():
    rng = np.random.default_rng(0)
    columns, y = [rng.integers(0, 3, 50).astype(np.uint8) for _ in range(3)], rng.integers(0, 2, 50)
    empty = np.full(50, MISSING, dtype=np.uint8)
    found = found_losses([columns[0], empty, *columns[1:]], y, None, 2, [3, 0, 3, 3], 0.5, 1)
    assert np.isposinf(found[1]).all()
    assert_array_equal(found[[0, 2, 3]], found_losses(columns, y, None, 2, [3, 3, 3], 0.5, 1))


def test_tables_too_large_to_hold_at_once_are_taken_in_blocks_with_the_same_result():
    # Each of the two wide columns needs about 10 million numbers, more than one block holds.
    rng = np.random.default_rng(0)
    n, sizes = 400, [1200, 1200, 2]
    columns = [rng.integers(0, size, n).astype(np.uint16) for size in sizes]
    y = rng.integers(0, 3, n)
    found = found_losses(columns, y, None, 3, sizes, 1.0, 2)
    swapped = found_losses([columns[2], *columns[:2]], y, None, 3, [2, 1200, 1200], 1.0, 2)
    assert_allclose(found[[2, 0, 1]], swapped, rtol=1e-12)


def test_long_products_do_not_vanish_where_the_super_parent_is_hidden():
    # 120 features of ten values, most pairs of them unseen: their product is far below the smallest double.
    rng = np.random.default_rng(0)
    d, λ = 120, 1e-4
    columns = [rng.integers(0, 10, 60).astype(np.uint8) for _ in range(d)]
    columns[0][0] = MISSING
    y = rng.integers(0, 2, 60)
    log_terms = []
    for v in range(10):
        here = columns[0] == v
        n = np.bincount(y[here], minlength=2)
        term = np.log((n + λ) / (59 + 20 * λ))
        for column in columns[1:]:
            term += np.log((np.bincount(y[here & (column == column[0])], minlength=2) + λ) / (n + 10 * λ))
        log_terms.append(term)
    log_joint = np.logaddexp.reduce(log_terms, axis=0)
    assert (np.exp(log_joint) == 0.0).all()
    n_value, pairs = count_values(columns, y, None, 2, [10] * d, 1), count_subsets(columns, y, None, 2, [10] * d, 2, 1)
    weight = np.eye(60)[0]  # only the first row's loss counts
    prior = joint_prior(columns, y, None, 2, [10] * d, λ)
    found = super_parent_losses(columns, y, weight, n_value.ravel(), pairs, [10] * d, 2, [λ] * d, [λ] * d, *prior, 1)
    assert_allclose(found[0, 1], np.logaddexp(*log_joint) - log_joint[y[0]], rtol=1e-12)
