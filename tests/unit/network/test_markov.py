"""A Markov network is read as the Bayesian network of the same joint distribution."""

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import TooLargeError
from bayeskit.network.markov import Factor, as_chain


def uai(cards, factors):
    scopes = "\n".join(f"{len(f.scope)} {' '.join(map(str, f.scope))}" for f in factors)
    tables = "\n".join(f"{f.values.size}\n{' '.join(map(repr, f.values.ravel().tolist()))}" for f in factors)
    return f"MARKOV\n{len(cards)}\n{' '.join(map(str, cards))}\n{len(factors)}\n{scopes}\n{tables}\n"


@pytest.mark.parametrize("seed", range(12))
def test_the_joint_distribution_is_the_product_of_the_factors(tmp_path, seed):
    rng = np.random.default_rng(seed)
    cards = rng.integers(1, 4, 6).tolist()
    factors = []
    for _ in range(rng.integers(1, 9)):
        scope = tuple(rng.permutation(6)[: rng.integers(1, 4)].tolist())
        values = rng.random([cards[v] for v in scope]) * 10.0 ** rng.integers(-200, 200)
        if values.size > 1 and rng.random() < 0.5:
            values.flat[0] = 0.0
        factors.append(Factor(scope, values))
    (tmp_path / "m.uai").write_text(uai(cards, factors))
    net = BayesianNetwork.read(tmp_path / "m.uai")
    rows = np.array(list(product(*map(range, cards))), dtype=np.uint8)
    with np.errstate(divide="ignore"):
        log = sum(np.log(f.values[tuple(rows[:, v] for v in f.scope)]) for f in factors)
    log_partition = log.max() + np.log(np.exp(log - log.max()).sum())
    assert_allclose(np.exp(net.log_probability(list(rows.T))), np.exp(log - log_partition), rtol=1e-12, atol=1e-300)
    assert_allclose(float(net.properties[""]["log_partition"]), log_partition, rtol=1e-13)


def test_a_bayesian_network_written_as_markov_reads_as_itself(tmp_path):
    net = BayesianNetwork("A->B<-C; B->D; A->D", random_tables=3)
    net.write(tmp_path / "b.uai")
    (tmp_path / "m.uai").write_text((tmp_path / "b.uai").read_text().replace("BAYES", "MARKOV"))
    read = BayesianNetwork.read(tmp_path / "m.uai")
    assert read.names == net.names
    rows = np.array(list(product(range(2), repeat=4)), dtype=np.uint8)
    assert_allclose(read.log_probability(list(rows.T)), net.log_probability(list(rows.T)), rtol=1e-12)
    assert abs(float(read.properties[""]["log_partition"])) < 1e-14


def test_a_dense_network_is_refused_with_its_size():
    factors = [Factor((i, j), np.ones((2, 2))) for i in range(30) for j in range(i)]
    with pytest.raises(TooLargeError, match=r"over 30 variables would hold 2\^30\.0 numbers"):
        as_chain([2] * 30, factors, 1 << 22)


def test_a_variable_with_thousands_of_neighbors_is_no_trouble():
    """Each leaf of a star goes first, so no product has more than two variables."""
    factors = [Factor((0, i), np.array([[1.0, 2.0], [3.0, 4.0]])) for i in range(1, 5001)]
    chain = as_chain([2] * 5001, factors, 1 << 22)
    # Z = 3^5000 + 7^5000.
    assert chain.log_partition == pytest.approx(5000 * np.log(7), rel=1e-12)
    assert max(map(len, chain.parents)) == 1
