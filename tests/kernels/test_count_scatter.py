"""The kernel of scatter matrices sums up what exact fractions sum up."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit._kernels import count_scatter
from kernels.arrays import LAYOUTS, columns, laid_out, weights


def exact(table, groups, weight, n_groups):
    """Weight, mean and scatter of each group in fractions, missing cells as if they were the mean."""
    n_columns = len(table)
    weight = np.ones(len(groups)) if weight is None else weight
    result = []
    for g in range(n_groups):
        rows = [i for i in range(len(groups)) if groups[i] == g and weight[i] > 0]
        w = [Fraction(float(weight[i])) for i in rows]
        total = sum(w, Fraction(0))
        cells = [[Fraction(float(column[i])) for i in rows] for column in table]
        mean = [sum((a * b for a, b in zip(w, x, strict=True)), Fraction(0)) / total if total else 0 for x in cells]
        scatter = [
            [
                sum(
                    (a * (x - mean[j]) * (z - mean[k]) for a, x, z in zip(w, cells[j], cells[k], strict=True)),
                    Fraction(0),
                )
                for k in range(n_columns)
            ]
            for j in range(n_columns)
        ]
        result.append((total, mean, scatter))
    return result


def check(found, expected, tolerance):
    for g, (total, mean, scatter) in enumerate(expected):
        assert found[0][g] == float(total)
        for j, m in enumerate(mean):
            own = Fraction(found[1][0, g, j]) + Fraction(found[1][1, g, j])
            assert abs(own - m) <= tolerance * max(1, abs(m))
            for k, s in enumerate(scatter[j]):
                own = Fraction(found[2][0, g, j, k]) + Fraction(found[2][1, g, j, k])
                size = 1 + abs(scatter[j][j]) + abs(scatter[k][k])
                assert abs(own - s) <= tolerance * size


@st.composite
def tables(draw):
    n_rows = draw(st.integers(1, 12))
    table = draw(
        st.lists(columns(n_rows, special=False).filter(lambda x: not np.isnan(x).any()), min_size=1, max_size=6)
    )
    groups = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    return table, np.array(groups, dtype=np.uint8), draw(weights(n_rows))


@given(tables())
@settings(max_examples=60, deadline=None)
def test_count_scatter_has_the_digits_of_fractions(table):
    cells, groups, weight = table
    largest = max([1.0, *(float(np.abs(x.astype(float)).max()) for x in cells)])
    check(count_scatter(cells, groups, weight, 3, 2), exact(cells, groups, weight, 3), Fraction(1e-28 * largest**2))


def test_numbers_of_unlike_size_keep_thirty_digits():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(size=(40, 3)), 1e9 + rng.normal(size=(40, 3))])
    groups = np.arange(80) % 2
    expected = exact(list(x.T), groups, None, 2)
    check(count_scatter(x, groups, None, 2, 1), expected, Fraction(1e-29))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "i2"])
def test_an_array_of_any_layout_has_the_moments_of_its_columns(layout, dtype):
    rng = np.random.default_rng(1)
    plain = rng.integers(0, 100, (300, 5)).astype(dtype)
    groups = rng.integers(0, 3, 300, dtype=np.uint8)
    found = count_scatter(laid_out(plain, layout), groups, None, 3, 1)
    for ours, theirs in zip(found, count_scatter(list(plain.T.copy()), groups, None, 3, 1), strict=True):
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_rows", [16383, 16384, 16385, 40_000])
def test_chunks_are_merged_without_a_seam_and_threads_change_no_bit(n_rows):
    rng = np.random.default_rng(n_rows)
    x = 1e6 + rng.normal(size=(n_rows, 3))
    weight = rng.random(n_rows)
    groups = (rng.random(n_rows) < 0.1).astype(np.uint8)
    found = count_scatter(x, groups, weight, 2, 1)
    for ours, theirs in zip(found, count_scatter(x, groups, weight, 2, 2), strict=True):
        assert_array_equal(ours, theirs, strict=True)
    for g in range(2):
        own, w = x[groups == g] - 1e6, weight[groups == g]
        mean = np.average(own, axis=0, weights=w)
        assert_allclose(found[1][0, g] - 1e6, mean, rtol=0, atol=1e-9)
        assert_allclose(found[2][0, g], ((own - mean) * w[:, None]).T @ (own - mean), rtol=1e-11, atol=1e-9 * n_rows)


def test_a_missing_cell_deviates_by_nothing():
    x = np.array([[1.0, np.nan], [3.0, np.nan]])
    weight, mean, scatter = count_scatter(x, np.zeros(2, np.uint8), None, 1, 1)
    assert_array_equal(weight, [2.0])
    assert_array_equal(mean[0], [[2.0, 0.0]])
    assert_array_equal(scatter[0], [[[2.0, 0.0], [0.0, 0.0]]])


@pytest.mark.parametrize("value", [0.1, -1e-8, 12345.678, 1e100])
def test_a_column_of_one_value_has_that_mean_and_no_scatter_at_all(value):
    x = np.full((20_000, 2), value)
    _, mean, scatter = count_scatter(x, np.arange(20_000) % 3, np.linspace(0.1, 2, 20_000), 3, 2)
    assert_array_equal(mean[0], value)
    assert_array_equal(scatter, 0.0)


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_an_infinite_number_gives_none(value):
    x = np.zeros((50_000, 2))
    x[40_000, 1] = value
    assert count_scatter(x, np.zeros(len(x), np.uint8), None, 1, 2) is None
