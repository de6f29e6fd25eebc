"""Tests of independence: statistics and tails equal those of SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import chdtrc
from scipy.stats import chi2_contingency

from bayeskit._kernels import IndependenceTests, chi_squared_tail


@given(st.floats(0, 2000), st.integers(1, 1500))
def test_the_tail_of_chi_squared_is_that_of_scipy(x, df):
    assert chi_squared_tail(x, df) == pytest.approx(chdtrc(df, x), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("test", "power"), [("g2", "log-likelihood"), ("chi2", "pearson")])
def test_a_test_given_others_sums_the_tables_of_their_configurations(test, power):
    rng = np.random.default_rng(1)
    cards = [3, 4, 2, 3]
    columns = [rng.integers(0, card, 400).astype(np.uint8) for card in cards]
    columns[1] = ((columns[0] + rng.integers(0, 2, 400)) % 4).astype(np.uint8)
    statistic, df = 0.0, 0
    for u in range(2):
        for v in range(3):
            rows = (columns[2] == u) & (columns[3] == v)
            table = np.zeros((3, 4))
            np.add.at(table, (columns[0][rows], columns[1][rows]), 1)
            table = table[table.any(axis=1)][:, table.any(axis=0)]
            part = chi2_contingency(table, correction=False, lambda_=power)
            statistic, df = statistic + part.statistic, df + part.dof
    found = IndependenceTests(columns, None, cards, test).test(0, 1, [2, 3])
    assert found[:2] == (pytest.approx(statistic, rel=1e-10), df)
    assert found[2] == pytest.approx(chdtrc(df, statistic), rel=1e-8)


def test_mi_counts_the_degrees_of_freedom_of_all_values():
    columns = [np.array(c, dtype=np.uint8) for c in ([0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0])]
    assert IndependenceTests(columns, None, [3, 4, 5], "mi").test(0, 1, [2])[1] == 2 * 3 * 5


def test_a_level_gives_the_first_set_that_separates():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 4000)
    x, y = ((z ^ (rng.random(4000) < 0.1)).astype(np.uint8) for _ in range(2))
    other = rng.integers(0, 2, 4000).astype(np.uint8)
    tests = IndependenceTests([x, y, other, z.astype(np.uint8)], None, [2] * 4, "g2")
    [(independent, given_set, p)] = tests.level([[0, 1]], [[2, 3]], [[]], 1, 0.01, 1)
    assert independent
    assert given_set == [3]
    assert p > 0.01
    [(independent, given_set, _)] = tests.level([[0, 1]], [[2]], [[]], 1, 0.01, 1)
    assert not independent
    assert given_set == []
