"""The family kernels count what a loop over the rows counts."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import conditional_information, count_families, count_subsets
from bayeskit.estimate.information import conditional_mutual_information


def count_families_reference(columns, y, weight, n_classes, sizes, families):
    """n[v1, v2, …, c] = how many rows of class c have these values in the family's columns; missing is not counted."""
    parts = []
    for members in families:
        table = np.zeros([*(sizes[j] for j in members), n_classes])
        for i, c in enumerate(y):
            cell = tuple(int(columns[j][i]) for j in members)
            if all(v < sizes[j] for v, j in zip(cell, members, strict=True)):
                table[(*cell, c)] += 1.0 if weight is None else weight[i]
        parts.append(table.ravel())
    return np.concatenate([*parts, np.empty(0)])


def code_column(rng, n, size):
    dtype = np.dtype(np.uint8 if size <= 254 else np.uint16)
    column = rng.integers(0, size, n).astype(dtype)
    column[rng.random(n) < 0.1] = np.iinfo(dtype).max
    column[rng.random(n) < 0.05] = np.iinfo(dtype).max - 1
    return column


@st.composite
def tables(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    # Many rows a class are counted by bits, few by a walk; large sizes are always walked.
    n = draw(st.sampled_from([1, 7, 60, 300, 700]))
    n_classes = draw(st.integers(1, 3))
    sizes = draw(st.lists(st.sampled_from([1, 2, 3, 5, 17, 300]), min_size=1, max_size=4))
    columns = [code_column(rng, n, size) for size in sizes]
    weight = rng.random(n) if draw(st.booleans()) else None
    return columns, rng.integers(0, n_classes, n), weight, n_classes, sizes


def subsets(d, order):
    """All pairs, and for order 3 all triples behind them."""
    return [members for size in range(2, order + 1) for members in combinations(range(d), size)]


@given(tables())
@settings(max_examples=40, deadline=None)
def test_all_pairs_and_triples_are_counted_as_the_twin_counts(table):
    columns, y, weight, n_classes, sizes = table
    for order in (2, 3):
        families = subsets(len(sizes), order)
        if sum(np.prod([sizes[j] for j in members]) for members in families) > 1e6:
            continue
        found = count_subsets(columns, y, weight, n_classes, sizes, order, 1)
        expected = count_families_reference(columns, y, weight, n_classes, sizes, families)
        if weight is None:
            assert found.dtype == np.int32
            assert_array_equal(found, expected)
        else:
            assert_allclose(found, expected, rtol=1e-12)
        assert_array_equal(found, count_subsets(columns, y, weight, n_classes, sizes, order, 2))


@pytest.mark.parametrize("sizes", [[0, 0, 0], [2, 0, 3], [0, 2, 2, 2]])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_that_never_had_a_value_have_tables_without_cells(sizes, weighted):
    rng = np.random.default_rng(0)
    y, weight = rng.integers(0, 2, 40), np.ones(40) if weighted else None
    columns = [code_column(rng, 40, size) if size else np.full(40, 255, dtype=np.uint8) for size in sizes]
    for order in (2, 3):
        families = subsets(len(sizes), order)
        found = count_subsets(columns, y, weight, 2, sizes, order, 1)
        assert_array_equal(found, count_families_reference(columns, y, weight, 2, sizes, families))


@given(tables())
@settings(max_examples=40, deadline=None)
def test_any_families_are_counted_as_the_twin_counts(table):
    columns, y, weight, n_classes, sizes = table
    d = len(sizes)
    families = [members for members in product(range(d), range(d)) if len(set(members)) == 2]
    families += [(j,) for j in range(d)]
    found = count_families(columns, y, weight, n_classes, sizes, families, 2)
    expected = count_families_reference(columns, y, weight, n_classes, sizes, families)
    assert_allclose(found, expected, rtol=1e-12, atol=0 if weight is None else 1e-15)


def test_more_rows_than_one_slab_are_all_counted():
    rng = np.random.default_rng(0)
    n = 3 * 65536 + 17
    columns = [rng.integers(0, size, n).astype(np.uint8) for size in (2, 3, 4)]
    y = rng.integers(0, 2, n)
    for order in (2, 3):
        families = subsets(3, order)
        found = count_subsets(columns, y, None, 2, [2, 3, 4], order, 2)
        flat = []
        for members in families:
            shape = [*((2, 3, 4)[j] for j in members), 2]
            cell = np.ravel_multi_index([*(columns[j].astype(int) for j in members), y], shape)
            flat.append(np.bincount(cell, minlength=np.prod(shape)))
        assert_array_equal(found, np.concatenate(flat))


@given(tables())
@settings(max_examples=30, deadline=None)
def test_information_of_all_pairs_is_that_of_each_pair(table):
    columns, y, weight, n_classes, sizes = table
    sizes = [min(size, 17) for size in sizes]
    counts = count_subsets(columns, y, weight, n_classes, sizes, 2, 1)
    found = conditional_information(counts, sizes, n_classes, 0.0, 2)
    shared = conditional_information(counts, sizes, n_classes, 1000.0, 1)
    at = 0
    for i, j in combinations(range(len(sizes)), 2):
        cells = sizes[i] * sizes[j] * n_classes
        pair = counts[at : at + cells].reshape(sizes[i], sizes[j], n_classes)
        at += cells
        assert_allclose(found[i, j], conditional_mutual_information(pair), rtol=1e-10, atol=1e-12)
        assert found[i, j] == found[j, i]
        assert_allclose(shared[i, j], found[i, j] * pair.sum() / 1000.0, rtol=1e-10, atol=1e-12)
