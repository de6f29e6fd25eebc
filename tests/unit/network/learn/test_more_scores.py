"""fNML, qNML, BDs and EBIC: by their definitions, summed over all data, and in searches."""

from itertools import product
from math import comb, exp, lgamma, log, prod

import numpy as np
import pytest

from bayeskit import BayesianNetwork, learn_structure, network_score
from bayeskit.errors import NetworkError
from bayeskit.network.learn.multinomial_regret import log_regret
from bayeskit.network.learn.scores.bds import BDs
from bayeskit.network.learn.scores.ebic import EBIC

ROWS = {"A": list("xxyyxyxyxx"), "B": list("uvuvwuvuwu"), "C": list("ppqqpqpqqp")}


def greatest_likelihood(data):
    return prod((data.count(x) / len(data)) ** data.count(x) for x in set(data))


@pytest.mark.parametrize(("n", "r"), [(1, 2), (4, 2), (5, 3), (3, 5), (6, 4)])
def test_the_regret_is_the_sum_over_all_data(n, r):
    total = sum(greatest_likelihood(data) for data in product(range(r), repeat=n))
    assert exp(log_regret(n, r)) == pytest.approx(total, rel=1e-12)


def test_the_formula_for_many_values_continues_the_recurrence():
    # The two meet at 1,000 values; Szpankowski & Weinberger's error vanishes as the numbers grow.
    step = log_regret(2000, 1000) - log_regret(2000, 999)
    assert log_regret(2000, 1001) - log_regret(2000, 1000) == pytest.approx(step, abs=0.01)


def test_a_weight_between_two_numbers_is_between_their_regrets():
    assert log_regret(3, 2) < log_regret(3.5, 2) < log_regret(4, 2)


def family_counts(child, parents):
    counts = {}
    for i in range(10):
        key = tuple(ROWS[p][i] for p in parents)
        counts.setdefault(key, {}).setdefault(ROWS[child][i], 0)
        counts[key][ROWS[child][i]] += 1
    return counts


def likelihood(child, parents):
    return sum(n * log(n / sum(row.values())) for row in family_counts(child, parents).values() for n in row.values())


def test_fnml_by_hand():
    net = BayesianNetwork("A->B; C")
    expected = likelihood("A", []) + likelihood("B", ["A"]) + likelihood("C", [])
    expected -= 2 * log_regret(10, 2)
    expected -= sum(log_regret(sum(row.values()), 3) for row in family_counts("B", ["A"]).values())
    assert network_score(net, ROWS, "fnml") == pytest.approx(expected, rel=1e-12)


def test_qnml_by_hand_and_equal_for_equivalent_networks():
    # A -> B is one variable of six values.
    joint = sum(n * log(n / 10) for row in family_counts("B", ["A"]).values() for n in row.values())
    expected = joint - log_regret(10, 6) + likelihood("C", []) - log_regret(10, 2)
    assert network_score(BayesianNetwork("A->B; C"), ROWS, "qnml") == pytest.approx(expected, rel=1e-12)
    assert network_score(BayesianNetwork("B->A; C"), ROWS, "qnml") == pytest.approx(expected, rel=1e-12)


def test_bds_has_pseudo_rows_only_where_rows_are():
    rows = {"A": ["x", "x", "y", "y"], "B": ["u", "u", "v", "v"], "C": ["p", "q", "p", "q"]}  # 2 of 4 pairs of A, B
    net = BayesianNetwork("A->C<-B")
    a = 3.0 / 2

    def family(counts, alpha, r):
        rows = sum(lgamma(alpha) - lgamma(alpha + sum(row)) for row in counts)
        return rows + sum(lgamma(alpha / r + n) - lgamma(alpha / r) for row in counts for n in row)

    expected = family([[1, 1], [1, 1]], a, 2) + 2 * family([[2, 2]], 3.0, 2)
    assert network_score(net, rows, BDs(3.0)) == pytest.approx(expected, rel=1e-12)


def test_bds_is_bdeu_where_every_configuration_has_rows():
    net = BayesianNetwork("A->C; B")
    assert network_score(net, ROWS, "bds") == pytest.approx(network_score(net, ROWS, "bdeu"), rel=1e-12)


def test_ebic_costs_the_names_of_the_parents():
    net = BayesianNetwork("A->C<-B")
    bic = network_score(net, ROWS)
    assert network_score(net, ROWS, EBIC(0.0)) == pytest.approx(bic, rel=1e-12)
    assert network_score(net, ROWS, EBIC(0.7)) == pytest.approx(bic - 0.7 * log(comb(2, 2)), rel=1e-12)
    assert network_score(BayesianNetwork("A->C; B"), ROWS, EBIC(0.7)) == pytest.approx(
        network_score(BayesianNetwork("A->C; B"), ROWS) - 0.7 * log(2), rel=1e-12
    )


@pytest.mark.parametrize("score", ["fnml", "qnml", "bds", "ebic"])
def test_each_finds_a_clear_structure(score):
    tables = {"A": [0.5, 0.5], "B": [0.5, 0.5], "C": [[[0.95, 0.05], [0.3, 0.7]], [[0.4, 0.6], [0.05, 0.95]]]}
    rows = BayesianNetwork("A->C<-B", tables=tables).sample(1000, random_state=0)
    assert set(learn_structure(rows, score=score).cpdag.arcs) == {("A", "C"), ("B", "C")}


@pytest.mark.parametrize("make", [lambda: EBIC(-1.0), lambda: EBIC(np.nan), lambda: BDs(0.0), lambda: BDs(np.inf)])
def test_options_that_cannot_be_are_refused(make):
    with pytest.raises(NetworkError, match="must be"):
        make()


def test_many_variables_are_scored_by_mdl_unless_another_score_is_named():
    from bayeskit.network.learn.search_method import as_method

    assert [as_method("best").score_of(None, n).name for n in (150, 151)] == ["bic", "mdl"]
    assert as_method("best").score_of("bic", 1000).name == "bic"
    assert as_method("k2").score_of(None, 1000).name == "k2"
    rng = np.random.default_rng(0)
    noise = {f"v{i}": rng.choice(["no", "yes"], 200) for i in range(160)}
    found = learn_structure(noise, "ges")
    assert found.score_name == "mdl"
    assert len(found.arcs) < len(learn_structure(noise, "ges", "bic").arcs) / 10
