"""Answers are right whatever the magnitudes: each is compared with sums of logarithms."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit.errors import ImpossibleEvidenceError, TooLargeError
from bayeskit.network import BayesianNetwork

ROUNDING = 1e-11  # thousands of factors, each rounded once


def star(prior, rows):
    """A class with one child for each table of ``rows`` (n_children, n_classes, 2); each child is observed as "a"."""
    n, n_classes = rows.shape[:2]
    names = ["class", *(f"x{i}" for i in range(n))]
    states = [[f"c{k}" for k in range(n_classes)], *([["a", "b"]] * n)]
    net = BayesianNetwork.from_tables(names, states, [(), *([(0,)] * n)], [prior, *rows])
    return net, dict.fromkeys(names[1:], "a")


def two_states(first):
    """P(child = a | class) as rows of a table."""
    first = np.asarray(first)
    return np.stack([first, 1.0 - first], axis=-1)


def expected_of(prior, rows):
    """log P(class, all children are a), and the posterior."""
    log = np.log(prior) + np.log(rows[:, :, 0]).sum(axis=0)
    total = np.logaddexp.reduce(log)
    return np.exp(log - total), total


def assert_all_ways_agree(net, given, posterior, log_evidence, atol=ROUNDING):
    """The class's posterior from the whole tree, a shrunk network, a joint table, an event, rows and best states."""
    everything = net.posterior(given=given)
    assert_allclose(everything["class"].array, posterior, atol=atol)
    assert_allclose(everything.log_evidence, log_evidence, rtol=1e-12)
    fresh = BayesianNetwork.from_tables(net.names, net.states, net.parents, net.tables)
    assert_allclose(fresh.posterior("class", given=given).array, posterior, atol=atol)
    best = int(np.argmax(posterior))
    assert_allclose(net.joint(["class"], given=given).array, posterior, atol=atol)
    assert_allclose(net.probability({"class": net.states[0][best]}, given=given), posterior[best], atol=10 * atol)
    found = net.most_probable(given=given)
    assert_allclose(posterior[net.state("class", found["class"])], posterior[best], atol=atol)
    assert_allclose(found.probability, posterior[best], rtol=1e-9)
    marginal_map = net.most_probable("class", given=given)
    assert marginal_map["class"] == found["class"]
    table = {name: [state, state] for name, state in given.items()}
    assert_allclose(net.predict_proba(table, "class"), [posterior, posterior], atol=atol)
    assert_allclose(net.posterior_rows(table, ["class", "x0"])["class"], [posterior, posterior], atol=atol)
    table["x0"] = [None, "a"]  # a cell is missing, so the row goes through the tree
    assert_allclose(net.predict_proba(table, "class")[1], posterior, atol=atol)


def test_1500_heads_and_then_1500_tails_say_a_half():
    theta = np.arange(1, 100) / 100
    rows = np.concatenate([np.tile(two_states(theta), (1500, 1, 1)), np.tile(two_states(1 - theta), (1500, 1, 1))])
    prior = np.full(99, 1 / 99)
    posterior, log_evidence = expected_of(prior, rows)
    assert posterior.argmax() == 49
    assert_allclose(posterior[49], 0.437, atol=5e-4)  # the truth as the report gives it
    net, given = star(prior, rows)
    assert_all_ways_agree(net, given, posterior, log_evidence)


def test_400_children_for_one_class_and_400_for_the_other_cancel():
    one, other = two_states([0.5, 0.05]), two_states([0.05, 0.5])
    rows = np.concatenate([np.tile(one, (400, 1, 1)), np.tile(other, (400, 1, 1))])
    prior = np.array([0.5, 0.5])
    posterior, log_evidence = expected_of(prior, rows)
    assert_allclose(posterior, [0.5, 0.5], atol=1e-10)
    net, given = star(prior, rows)
    assert_all_ways_agree(net, given, posterior, log_evidence)
    answer = net.posterior("class", given=given, method="gibbs", n_samples=2000)
    assert_allclose(answer.array, [0.5, 0.5], atol=1e-9)  # the class alone is free: its conditional is the posterior


@pytest.mark.parametrize("n_children", [101, 110, 400])
def test_a_clique_of_several_tiles_is_scaled_as_a_whole(n_children):
    rng = np.random.default_rng(0)
    rows = two_states(rng.uniform(1e-4, 1e-2, size=(n_children, 4097)))
    prior = rng.dirichlet(np.ones(4097))
    posterior, log_evidence = expected_of(prior, rows)
    net, given = star(prior, rows)
    assert_all_ways_agree(net, given, posterior, log_evidence)
    assert_allclose(net.posterior(given=given)["class"].array.sum(), 1.0, atol=1e-12)


@pytest.mark.parametrize("zeros", [slice(0, 100), slice(2000, 4097)])
def test_tiles_without_a_possible_state_do_not_disturb_the_others(zeros):
    rng = np.random.default_rng(1)
    first = rng.uniform(1e-12, 1e-9, size=(150, 4097))
    first[70, zeros] = 0.0
    rows, prior = two_states(first), rng.dirichlet(np.ones(4097))
    with np.errstate(divide="ignore"):
        posterior, log_evidence = expected_of(prior, rows)
    net, given = star(prior, rows)
    answer = net.posterior(given=given)
    assert_allclose(answer["class"].array, posterior, atol=ROUNDING)
    assert_allclose(answer.log_evidence, log_evidence, rtol=1e-12)
    assert_allclose(net.joint(["class"], given=given).array, posterior, atol=ROUNDING)


@pytest.mark.parametrize("tiny", [1e-40, 1e-45, 1e-300, 5e-324])
def test_twenty_children_of_tiny_probability(tiny):
    rows = two_states(np.tile([tiny, 2 * tiny], (20, 1)))
    prior = np.array([0.3, 0.7])
    posterior, log_evidence = expected_of(prior, rows)
    net, given = star(prior, rows)
    assert_all_ways_agree(net, given, posterior, log_evidence)


def test_a_state_that_lost_by_a_thousand_decades_is_brought_back_by_the_other_side_of_the_tree():
    # a is drowned by what hangs below it on one side; only the other side of b, 50 levels away, saves its second state.
    n = 50
    copies = [np.array([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]])] * n
    names = [f"v{i}" for i in range(n + 1)]
    names += [f"left{i}" for i in range(500)] + [f"right{i}" for i in range(500)]
    parents = [(), *((i,) for i in range(n)), *([(0,)] * 500), *([(n,)] * 500)]
    left, right = two_states([0.9, 0.009]), two_states([0.009, 0.9])
    tables = [np.array([0.5, 0.5]), *copies, *([left] * 500), *([right] * 500)]
    net = BayesianNetwork.from_tables(names, [["a", "b"]] * len(names), parents, tables)
    given = dict.fromkeys(names[n + 1 :], "a")
    # Scaled forward and backward sweeps along the chain, in logarithms.
    log_left, log_right = 500 * np.log([0.9, 0.009]), 500 * np.log([0.009, 0.9])
    forward = [np.log([0.5, 0.5]) + log_left]
    for table in copies:
        forward.append(np.logaddexp.reduce(forward[-1][:, None] + np.log(table), axis=0))
    backward = [log_right]
    for table in copies[::-1]:
        backward.append(np.logaddexp.reduce(np.log(table) + backward[-1], axis=1))
    answer = net.posterior(given=given)
    total = np.logaddexp.reduce(forward[-1] + log_right)
    assert_allclose(answer.log_evidence, total, rtol=1e-12)
    for i in range(n + 1):
        assert_allclose(answer[f"v{i}"].array, np.exp(forward[i] + backward[n - i] - total), atol=ROUNDING)
    assert_allclose(net.posterior("v25", given=given).array, answer["v25"].array, atol=ROUNDING)


def test_likelihoods_of_any_scale_count():
    net = BayesianNetwork("a->b; a->c; a->d", random_tables=0)
    numbers = {"b": [1e-300, 3e-300], "c": [1e300, 1e-300], "d": [1e-300, 1e300]}
    log = np.log(net.tables[0])
    for table, values in zip(net.tables[1:], numbers.values(), strict=True):
        log = log + np.log(table @ (np.array(values) / max(values))) + np.log(max(values))
    answer = net.posterior(given=numbers)
    total = np.logaddexp.reduce(log)
    assert_allclose(answer["a"].array, np.exp(log - total), atol=ROUNDING)
    assert_allclose(answer.log_evidence, total, rtol=1e-12)


def test_evidence_is_impossible_only_if_a_table_says_0():
    rows = two_states(np.tile([5e-324, 0.0], (50, 1)))
    net, given = star(np.array([0.5, 0.5]), rows)
    assert_allclose(net.posterior("class", given=given).array, [1.0, 0.0])
    rows = two_states(np.tile([0.0, 0.0], (50, 1)))
    net, given = star(np.array([0.5, 0.5]), rows)
    with pytest.raises(ImpossibleEvidenceError, match="x49=a has probability 0"):
        net.posterior("class", given=given)


def test_wide_numbers_that_do_not_fit_the_memory_are_refused():
    rows = np.concatenate(
        [np.tile(two_states([0.5, 0.05]), (800, 1, 1)), np.tile(two_states([0.05, 0.5]), (800, 1, 1))]
    )
    net, given = star(np.array([0.5, 0.5]), rows)
    needed = 8 * net._engine.native.joint([0], list(range(1, 1601)), [], False).stored
    with pytest.raises(TooLargeError, match="over the limit"):
        net.joint(["class"], given=given, max_memory=needed)
    assert_allclose(net.joint(["class"], given=given, max_memory=2 * needed).array, [0.5, 0.5], atol=1e-10)
