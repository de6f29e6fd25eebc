"""Tests of independence and distances between structures, with the numbers of R bnlearn 5.2.1.

``ci.test(x, y, z, data, test)`` on the asia sample of causal-iq/discovery, and ``shd(cpdag(a), cpdag(b))`` of random
graphs, ``random.graph(LETTERS[1:7], prob)`` after ``set.seed(3)``.
"""

import re

import pytest

from bayeskit import BayesianNetwork, compare_networks, independence_test
from tests.golden.test_structure_learning import sample

# bnlearn's "mi" and "x2" take the degrees of freedom of all values.
CI_TESTS = [
    ("bronc", "dysp", [], 506.062043151, 467.685984427, 1, 4.5604507837e-112),
    ("smoke", "dysp", ["bronc"], 2.65162961265, 2.7063741314, 2, 0.265586469367),
    ("asia", "dysp", ["tub"], 0.53119896328, 0.511966115829, 2, 0.766746161926),
    ("lung", "bronc", ["smoke"], 2.56450509385, 2.47504846746, 2, 0.277411713233),
    ("xray", "dysp", ["either", "bronc"], 4.94012626866, 2.71489152459, 4, 0.293496270668),
]
GRAPHS = [
    ("[A][B|A][E|A][C|B][D|A:B][F|D][G|E:F]", "[A][B|A][C|A][E|A][D|A:C][G|E][F|C:D:E]", 9),
    ("[A][D][B|A][C|B][E|A:B:D][F|A:B:D][G|A:D:E]", "[A][D][E][B|A][C|B][F|C][G|C:F]", 12),
    ("[A][B][C|B][D|A:B:C][E|C][G|C][F|C:E]", "[A][B][G][C|A:B][D|B][E|A:B][F|C:E]", 11),
    ("[A][B][C|B][F|A][D|B:C][E|A:D][G|B:E]", "[A][B][C][D|A][E|B:C][F|A:B][G|B:F]", 12),
    ("[A][B][D][C|B][E|A:C:D][F|C:D][G|B:C:D:E:F]", "[A][B][C][D][E][F][G|B:F]", 9),
    ("[A][B][C|B][D|B][E|A:C][F|A:E][G|B:C:D:E:F]", "[A][B][C][D][E|C][F|B][G|E:F]", 10),
    ("[A][B][C][D|A][E|D][G|C:D][F|A:E]", "[A][B][C|A:B][E|A:B][F|A:B][D|B:C][G|A:E]", 14),
    ("[A][E][F][B|A][C|B][D|B][G|D:F]", "[A][B][D][C|A:B][E|B][F|E][G|A:E]", 10),
    ("[A][B][C|A:B][D|C][E|A:C:D][F|E][G|A:B:E:F]", "[A][B][D][C|A][E|B:C:D][F|A:C:D][G|A:C:F]", 12),
    ("[A][B|A][C|A][D|A:C][E|A:C][F|A:E][G|A:D:F]", "[A][B][C|A:B][D|B][E|B][F|C][G|D:E]", 15),
    ("[A][F][B|A][C|A:B][G|B][D|A:B:C][E|D]", "[A][B][C][F][D|B][E|A:B][G|E]", 10),
    ("[A][B|A][C|A:B][G|B][D|C][E|B:C][F|A:B:D:E]", "[A][B][E][C|B][D|A][F|E][G|D]", 12),
]


@pytest.mark.parametrize(("x", "y", "given", "g2", "chi2", "df", "p"), CI_TESTS)
def test_a_test_of_independence_is_bnlearns(x, y, given, g2, chi2, df, p):
    rows = sample("asia")
    result = independence_test(rows, x, y, given=given, test="mi")
    assert (result.statistic, result.df) == (pytest.approx(g2, rel=1e-10), df)
    assert result.p_value == pytest.approx(p, rel=1e-10)
    assert independence_test(rows, x, y, given=given, test="chi2").statistic == pytest.approx(chi2, rel=1e-10)


def network(model):
    nodes = re.findall(r"\[([^\]|]+)(?:\|([^\]]+))?\]", model)
    return BayesianNetwork({node: above.split(":") if above else [] for node, above in nodes})


@pytest.mark.parametrize(("truth", "other", "shd"), GRAPHS)
def test_the_distance_of_two_structures_is_bnlearns(truth, other, shd):
    assert compare_networks(network(truth), network(other)).shd == shd
    assert compare_networks(network(other), network(truth)).shd == shd
