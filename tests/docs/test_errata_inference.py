"""What docs/theory/inference.md sets against common lecture notes holds; what they print does not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.errors import NetworkError
from bayeskit.network import Marginal


@pytest.fixture
def pair():
    return BayesianNetwork("a->b", tables={"a": [0.4, 0.6], "b": [[1.0, 0.0], [0.5, 0.5]]})


def test_the_most_probable_case_is_not_made_of_the_most_probable_states(pair):
    one_by_one = {name: posterior.best for name, posterior in pair.posterior().items()}
    assert one_by_one == {"a": "yes", "b": "no"}
    assert dict(pair.most_probable()) == {"a": "no", "b": "no"}
    assert pair.most_probable().probability > pair.probability(one_by_one)


def test_a_maximum_of_sums_is_not_a_sum_of_maxima(pair):
    joint = pair.joint(["a", "b"]).array
    assert_allclose(pair.most_probable("a").probability, joint.sum(axis=1).max())
    assert joint.max(axis=0).sum() > joint.sum(axis=1).max()


def test_a_likelihood_multiplies_the_prior_and_a_marginal_replaces_it(pair):
    assert_allclose(pair.posterior("a", given={"a": [0.3, 0.7]}).array, [0.12 / 0.54, 0.42 / 0.54])
    assert_allclose(pair.posterior("a", given={"a": Marginal([0.3, 0.7])}).array, [0.3, 0.7])


def test_weighted_counts_over_n_estimate_the_joint_and_not_the_posterior():
    net = BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": [[0.99, 0.01], [0.9, 0.1]]})
    found = net.posterior("a", given={"b": "yes"}, method="weighting", n_samples=100_000)
    posterior, joint = net.probability({"a": "yes"}, given={"b": "yes"}), net.probability({"a": "yes", "b": "yes"})
    assert abs(found["yes"] - posterior) < 4 * found.standard_error[1]
    assert abs(found["yes"] - joint) > 100 * found.standard_error[1]


def test_the_naive_standard_error_is_too_small_under_uneven_weights():
    net = BayesianNetwork("a->c; b->c", tables={"a": [0.5, 0.5], "b": [0.999, 0.001], "c": [[[1, 0], [0.9, 0.1]]] * 2})
    found = net.posterior("a", given={"c": "yes"}, method="weighting", n_samples=200_000)
    naive = np.sqrt(found["yes"] * found["no"] / found.quality.n_samples)
    assert found.standard_error[1] > 10 * naive


def test_gibbs_would_stay_in_one_part_of_a_copied_variable():
    copied = BayesianNetwork("a->b", tables={"a": [0.3, 0.7], "b": np.eye(2)})
    # Given b = a the full conditional of a is certain, so a chain never moves: refused.
    assert copied.posterior("a", given={"b": "yes"}).array.tolist() == [0.0, 1.0]
    with pytest.raises(NetworkError, match="Gibbs sampling needs tables without zeros"):
        copied.posterior("a", method="gibbs")


def test_zero_messages_are_divided_as_zero():
    net = BayesianNetwork("a->b; b->c", tables={"a": [0.3, 0.7], "b": np.eye(2), "c": [[0.2, 0.8], [0.5, 0.5]]})
    answer = net.posterior(given={"b": "no"})
    assert_allclose(answer["a"].array, [1.0, 0.0])
    assert_allclose(answer["c"].array, [0.2, 0.8])


def test_a_chain_costs_in_proportion_to_its_length():
    def cells(n):
        chain = BayesianNetwork([(f"x{i}", f"x{i + 1}") for i in range(n)], random_tables=0)
        return chain._engine.compile().entries

    assert cells(100) == 4 * 100
    assert cells(200) == 4 * 200


def test_scaling_by_the_largest_cell_loses_the_cells_that_later_evidence_favours():
    ratios = [np.array([1.0, 0.1])] * 400 + [np.array([0.1, 1.0])] * 400
    scaled = np.array([0.5, 0.5])
    for ratio in ratios:
        scaled = scaled * ratio / (scaled * ratio).max()
    assert scaled.tolist() == [1.0, 0.0]
    names = ["class", *(f"x{i}" for i in range(800))]
    tables = [np.stack([0.5 * ratio, 1 - 0.5 * ratio], axis=-1) for ratio in ratios]
    net = BayesianNetwork.from_tables(names, [["a", "b"]] * 801, [(), *([(0,)] * 800)], [[0.5, 0.5], *tables])
    answer = net.posterior("class", given=dict.fromkeys(names[1:], "a")).array
    assert_allclose(answer, [0.5, 0.5], atol=1e-11)
