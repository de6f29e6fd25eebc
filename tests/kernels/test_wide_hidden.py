"""Hidden columns of many values, most of whose combinations no row had, are summed out as in one large array."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from bayeskit._kernels import FamilyScorer

LOG_JOINT = 0
MISSING = 65535
# The log of a sum of 120 000 numbers, added one after the other, is off by 120 000 roundings of a double at the most.
ROUNDING = {"rtol": 1e-13, "atol": 1.4e-11}


def log_joint_reference(log_prior, tables, families, sizes, row):
    """log Σ over the hidden cells of P(c) ∏ P(x_j | parents, c): all tables spread over one array of the hidden."""
    hidden = [j for j, value in enumerate(row) if value == MISSING]
    total = np.zeros([*(sizes[j] for j in hidden), len(log_prior)])
    for members, table in zip(families, tables, strict=True):
        known = table[tuple(slice(None) if row[j] == MISSING else row[j] for j in members)]
        open_members = [j for j in members if row[j] == MISSING]
        known = np.moveaxis(known, range(len(open_members)), np.argsort(np.argsort(open_members)))
        total += known.reshape([*(sizes[j] if j in members else 1 for j in hidden), len(log_prior)])
    return log_prior + logsumexp(total, axis=tuple(range(len(hidden))))


def sparse_tables(rng, sizes, families, n_classes, n_rows, smoothing):
    """Tables of a few rows: where no row had the parents' values, each value is as probable as the others."""
    rows = np.column_stack([rng.integers(0, size, n_rows) for size in sizes])
    y = rng.integers(0, n_classes, n_rows)
    tables = []
    for members in families:
        n = np.zeros([*(sizes[j] for j in members), n_classes])
        np.add.at(n, (*rows[:, list(members)].T, y), 1.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            p = (n + smoothing) / (n + smoothing).sum(axis=-2, keepdims=True)
            tables.append(np.log(np.where(np.isnan(p), 1.0 / sizes[members[-1]], p)))
    return tables


def found_and_expected(rng, sizes, families, n_classes, n_rows, smoothing, rows):
    tables = sparse_tables(rng, sizes, families, n_classes, n_rows, smoothing)
    log_prior = np.log(rng.dirichlet(np.ones(n_classes)))
    flat = np.concatenate([table.ravel() for table in tables])
    scorer = FamilyScorer(log_prior, flat, sizes, families, False, -1)
    columns = [np.array(column, dtype=np.uint16) for column in zip(*rows, strict=True)]
    found, _, _ = scorer.score(columns, LOG_JOINT, False, 1)
    return found, [log_joint_reference(log_prior, tables, families, sizes, row) for row in rows]


@given(
    st.integers(0, 2**32),
    st.integers(1, 5),
    st.sampled_from([(40, 30, 1, 3), (3, 50, 20, 2), (200, 2, 31, 5), (1, 90, 1, 4)]),
    st.sampled_from([0.0, 0.25]),
)
@settings(max_examples=60, deadline=None)
def test_sums_are_those_of_one_large_array(seed, n_classes, wide, smoothing):
    rng = np.random.default_rng(seed)
    sizes = [*wide, 2, 3]
    order = rng.permutation(6).tolist()
    families = []
    for place, j in enumerate(order):
        n_parents = int(rng.integers(0, min(place, 3) + 1))
        families.append((*rng.permutation(order[:place])[:n_parents].tolist(), j))
    rows = [[int(rng.integers(size)) if rng.random() < 0.5 else MISSING for size in sizes] for _ in range(6)]
    found, expected = found_and_expected(rng, sizes, families, n_classes, int(rng.integers(1, 60)), smoothing, rows)
    assert_allclose(found, expected, **ROUNDING)


@pytest.mark.parametrize("n_classes", [1, 2, 3, 4])
def test_products_larger_than_one_slab_are_summed_up_slab_by_slab(n_classes):
    # 60 × 50 × 40 combinations: whichever is summed out first, the others meet in one table.
    rng = np.random.default_rng(0)
    sizes = [60, 50, 40, 2, 3, 2]
    for order in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        a, b, c = order
        families = [(a,), (a, b), (a, b, c), (c, a, 3), (b, c, 4), (b, 5)]
        rows = [[MISSING] * 3 + [1, 2, 0], [MISSING] * 3 + [0, MISSING, 1]]
        found, expected = found_and_expected(rng, sizes, families, n_classes, 80, 0.25, rows)
        assert_allclose(found, expected, **ROUNDING)


def test_tables_without_empty_combinations_are_summed_up_slab_by_slab():
    rng = np.random.default_rng(1)
    families = [(0,), (0, 1), (0, 1, 2), (2, 0, 3)]
    rows = [[MISSING] * 3 + [1], [MISSING, 4, MISSING, 0]]
    found, expected = found_and_expected(rng, [40, 30, 30, 2], families, 3, 100_000, 0.25, rows)
    assert_allclose(found, expected, **ROUNDING)


@pytest.mark.parametrize("n_rows", [30, 5000])
@pytest.mark.parametrize("smoothing", [1e-9, 0.25])
def test_hundreds_of_children_of_two_wide_hidden_columns_do_not_vanish(n_rows, smoothing):
    rng = np.random.default_rng(2)
    n_children = 300
    sizes = [60, 40, *[3] * n_children]
    families = [(0,), (0, 1), *((0, 1, 2 + j) for j in range(n_children))]
    rows = [[MISSING, MISSING, *rng.integers(0, 3, n_children).tolist()] for _ in range(2)]
    found, expected = found_and_expected(rng, sizes, families, 2, n_rows, smoothing, rows)
    assert np.isfinite(found).all()
    assert_allclose(found, expected, **ROUNDING)
