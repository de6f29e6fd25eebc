"""Tables with back-off are those of the recursion, whole and without a row, and m has the greatest likelihood."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import back_off_tables

GRID = [0.1, 1.0, 10.0, 1000.0]
ROOT = 1.0
# Sums over a table in another order.
CLOSE = 1e-12


def back_off_reference(n, m, root=ROOT):
    """P(x | parents, c) with the m of each depth; the last parent is the first to go."""
    n = np.asarray(n, dtype=float)
    n_parents = n.ndim - 2
    n_value = n.sum(axis=(*range(n_parents), -1))
    p = np.repeat(((n_value + root / len(n_value)) / (n_value.sum() + root))[:, None], n.shape[-1], axis=1)
    for depth in range(n_parents + 1):
        margin = n.sum(axis=tuple(range(depth, n_parents)))
        above = p if depth == 0 else p[..., None, :, :]
        p = (margin + m[depth] * above) / (margin.sum(axis=-2, keepdims=True) + m[depth])
    return p


def without_reference(n, m):
    """Each cell's own P when one of its rows is out of the counts, and what the other classes give then."""
    own, others = np.full(n.shape, np.nan), np.full(n.shape, np.nan)
    for cell in zip(*np.nonzero(n), strict=True):
        less = np.array(n, dtype=float)
        less[cell] -= 1
        found = back_off_reference(less, m)[cell[:-1]]
        own[cell] = found[cell[-1]]
        for c in range(n.shape[-1]):
            if c != cell[-1]:
                others[(*cell[:-1], c)] = found[c]
    return own, others


def likelihood_reference(n, m):
    """The sum over all rows of log P(x | parents, c) without the row itself."""
    own, _ = without_reference(n, m)
    return float(np.nansum(n * np.log(own)))


def made(n, grid, left_out, threads=1):
    flat, m = back_off_tables([n.ravel()], [n.shape[:-1]], n.shape[-1], grid, ROOT, left_out, threads)
    return np.exp(flat).reshape(n.shape), m


def some_table(seed):
    rng = np.random.default_rng(seed)
    shape = [*rng.integers(1, 4, rng.integers(0, 3)), rng.integers(1, 4), rng.integers(1, 4)]
    n = rng.integers(0, 5, shape) * (rng.random(shape) < 0.7)
    n.flat[0] += 1
    return n


@given(st.integers(0, 2**32), st.sampled_from([np.int32, np.int64, np.float64]))
@settings(max_examples=60, deadline=None)
def test_tables_are_those_of_the_recursion(seed, dtype):
    n = some_table(seed).astype(dtype)
    found, m = made(n, GRID, 0)
    assert set(m) <= set(GRID)
    assert_allclose(found, back_off_reference(n, m), rtol=CLOSE)
    assert_allclose(found.sum(axis=-2), 1.0, rtol=CLOSE)


@given(st.integers(0, 2**32))
@settings(max_examples=40, deadline=None)
def test_a_cell_without_one_of_its_rows_is_the_cell_of_a_table_without_it(seed):
    n = some_table(seed)
    own, m = made(n, GRID, 1)
    others, _ = made(n, GRID, 2)
    expected_own, expected_others = without_reference(n, m)
    held = ~np.isnan(expected_own)
    assert_allclose(own[held], expected_own[held], rtol=CLOSE)
    other = ~np.isnan(expected_others)
    assert_allclose(others[other], expected_others[other], rtol=CLOSE)


@given(st.integers(0, 2**32))
@settings(max_examples=30, deadline=None)
def test_the_m_of_each_depth_has_the_greatest_likelihood_of_rows_left_out_given_those_before(seed):
    n = some_table(seed)
    m = made(n, GRID, 0)[1].tolist()
    for depth in range(len(m)):
        margin = n.sum(axis=tuple(range(depth, n.ndim - 2)))
        likelihoods = [likelihood_reference(margin, [*m[:depth], each]) for each in GRID]
        assert likelihoods[GRID.index(m[depth])] >= max(likelihoods) - 1e-9


def test_many_families_stand_one_after_the_other_for_any_number_of_threads():
    tables = [some_table(seed) for seed in range(40)]
    tables = [table[..., :1] for table in tables]
    given_tables = [table.ravel() for table in tables], [table.shape[:-1] for table in tables], 1
    one, m = back_off_tables(*given_tables, GRID, ROOT, 0, 1)
    two, m_two = back_off_tables(*given_tables, GRID, ROOT, 0, 2)
    assert_array_equal(one, two)
    assert_array_equal(m, m_two)
    assert_array_equal(np.exp(one), np.concatenate([made(table, GRID, 0)[0].ravel() for table in tables]))
    assert len(m) == sum(table.ndim - 1 for table in tables)
