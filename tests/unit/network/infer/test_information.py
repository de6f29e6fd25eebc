"""Entropy, mutual information, divergence and sensitivity against brute force; cases drawn given evidence."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from bayeskit import BayesianNetwork
from bayeskit.errors import ImpossibleEvidenceError, NetworkError, TooLargeError
from bayeskit.network import Marginal
from bayeskit.network.infer.condition import condition
from bayeskit.network.infer.evidence import read_evidence
from kernels.enumeration import joint_table, networks, weighted

TIGHT = 1e-10


def entropy_of(p):
    p = p[p > 0]
    return float(-(p * np.log(p)).sum())


@st.composite
def cases(draw):
    """A network and evidence on some of its variables that is possible: a state, a set or a likelihood."""
    net = draw(networks(max_variables=5))
    evidence, vectors = {}, {}
    for v, name in enumerate(net.names):
        kind = draw(st.sampled_from(["free", "free", "state", "likelihood"]))
        if kind == "state":
            k = draw(st.integers(0, net.cards[v] - 1))
            evidence[name], vectors[v] = net.states[v][k], np.eye(net.cards[v])[k]
        elif kind == "likelihood":
            vectors[v] = np.array([draw(st.sampled_from([0.0, 0.2, 1.0])) for _ in range(net.cards[v])])
            assume(vectors[v].any())
            evidence[name] = vectors[v]
    joint = weighted(joint_table(net), vectors)
    assume(joint.sum() > 1e-9)
    return net, evidence, joint / joint.sum()


@settings(deadline=None, max_examples=60)
@given(cases())
def test_the_network_given_evidence_has_the_distribution_given_evidence(case):
    net, evidence, joint = case
    after = condition(net, read_evidence(net, evidence), 1e9)
    assert_allclose(joint_table(after), joint, atol=TIGHT)


@settings(deadline=None, max_examples=60)
@given(cases())
def test_entropy_is_that_of_the_joint_table(case):
    net, evidence, joint = case
    assert net.entropy(given=evidence) == pytest.approx(entropy_of(joint), abs=TIGHT)
    first = joint.sum(axis=tuple(range(1, joint.ndim)))
    assert net.entropy(net.names[0], given=evidence, base=2) == pytest.approx(entropy_of(first) / np.log(2), abs=TIGHT)


@settings(deadline=None, max_examples=40)
@given(cases())
def test_mutual_information_is_the_divergence_from_independence(case):
    net, evidence, joint = case
    assume(len(net.names) >= 2)
    pair = joint.sum(axis=tuple(range(2, joint.ndim)))
    product = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0, keepdims=True)
    some = pair > 0
    expected = float((pair[some] * np.log(pair[some] / product[some])).sum())
    assert net.mutual_information(*net.names[:2], given=evidence) == pytest.approx(expected, abs=TIGHT)


@settings(deadline=None, max_examples=40)
@given(networks(max_variables=4), st.integers(0, 2**31))
def test_divergence_between_networks_is_that_of_their_joint_tables(net, seed):
    rng = np.random.default_rng(seed)
    # Another graph over the same variables: a chain along a random order, with random tables.
    order = rng.permutation(len(net.names))
    parents = [[] for _ in order]
    for a, b in pairwise(order):
        parents[b] = [int(a)]
    tables = [rng.dirichlet(np.ones(net.cards[v]), size=[net.cards[p] for p in own]) for v, own in enumerate(parents)]
    other = BayesianNetwork.from_tables(net.names, net.states, parents, tables)
    p, q = joint_table(net), joint_table(other)
    some = p > 0
    assert net.kl_divergence(other) == pytest.approx(float((p[some] * np.log(p[some] / q[some])).sum()), abs=1e-9)
    assert net.kl_divergence(net) == pytest.approx(0.0, abs=TIGHT)


def test_what_the_other_network_rules_out_is_infinitely_far():
    p, q = (BayesianNetwork("a", tables={"a": row}) for row in ([0.5, 0.5], [1.0, 0.0]))
    assert p.kl_divergence(q) == np.inf
    assert q.kl_divergence(p) == pytest.approx(np.log(2))
    with pytest.raises(NetworkError, match=r"differ in \['b'\]"):
        p.kl_divergence(BayesianNetwork("a->b"))
    with pytest.raises(NetworkError, match="variable 'a' has other states"):
        p.kl_divergence(BayesianNetwork("a[3]"))
    with pytest.raises(NetworkError, match="base must be a number above 1"):
        p.entropy(base=1)


@settings(deadline=None, max_examples=25)
@given(cases())
def test_at_the_limit_of_a_number_the_decision_turns_and_not_before(case):
    net, evidence, _ = case
    of = next((name for v, name in enumerate(net.names) if name not in evidence and net.cards[v] > 1), None)
    assume(of is not None)
    before = net.posterior(of, given=evidence).array
    assume(np.sort(before)[-1] - np.sort(before)[-2] > 1e-6)
    found = net.sensitivity(of, given=evidence)
    assert found.state == net.states[net.index(of)][int(before.argmax())]
    for number in list(found)[:6]:
        for value in (number.low, number.high, number.value + 1e-6):
            if not 0 < value < 1:
                continue
            after = moved(net, number, value).posterior(of, given=evidence).array
            if value in (number.low, number.high):  # two states tie at the top
                assert np.sort(after)[-1] - np.sort(after)[-2] < 1e-7
                assert after[before.argmax()] == pytest.approx(after.max(), abs=1e-7)
            else:
                rise = (after[before.argmax()] - before.max()) / 1e-6
                assert rise == pytest.approx(number.slope, rel=1e-2, abs=1e-3)


def moved(net, number, value):
    """The network with one number changed and the others of its row in proportion."""
    i = net.index(number.variable)
    table = np.array(net.tables[i])
    place = tuple(net.state(name, state) for name, state in number.given.items())
    k = net.state(number.variable, number.state)
    row = table[place]
    rest = np.delete(row, k)
    rest = rest / rest.sum() if rest.sum() > 0 else np.full(len(rest), 1 / len(rest))
    table[place] = np.insert(rest * (1 - value), k, value)
    return net.with_table(number.variable, table)


def test_a_loss_moves_the_limits():
    net = BayesianNetwork("ill->test", tables={"ill": [0.9, 0.1], "test": [[0.95, 0.05], [0.1, 0.9]]})
    loss = {"no": {"wait": 0, "treat": 1}, "yes": {"wait": 50, "treat": 0}}
    found = net.sensitivity("ill", given={"test": "no"}, loss=loss, tables=["ill"])
    # P(ill | negative) = .1 θ / (.1 θ + .95 (1 - θ)); treating starts at 1/51, which is θ = .95 / (.95 + 50 · .1).
    assert found.decision == "wait" if 0.1 * 0.1 * 50 < 0.9 * 0.95 else "treat"
    turn = 0.95 / (0.95 + 50 * 0.1)
    yes = next(number for number in found if number.state == "yes")
    assert (yes.low, yes.high) == (0.0, pytest.approx(turn, rel=1e-12))
    assert found.to_frame().shape == (2, 5)
    assert "decision: wait (P(no) = " in repr(found)


def test_questions_without_a_decision_are_refused():
    net = BayesianNetwork("a->b")
    with pytest.raises(NetworkError, match="nothing to decide"):
        net.sensitivity("a", given={"a": "yes"})
    with pytest.raises(NetworkError, match="not a Marginal"):
        net.sensitivity("a", given={"b": Marginal([0.5, 0.5])})


@pytest.mark.parametrize(
    "evidence", [{"d": "y"}, {"d": {"x", "y"}, "b": "no"}, {"c": [0.3, 0.9]}, {"c": Marginal([0.1, 0.9])}]
)
def test_cases_drawn_given_evidence_have_the_posteriors_frequencies(evidence):
    net = BayesianNetwork("a->b->c; a->c; c->d{x|y|z}; b->e", random_tables=4)
    n = 100_000
    codes = net.sample(n, given=evidence, output="codes")
    exact = net.posterior(given=evidence)
    for v, name in enumerate(net.names):
        p = exact[name].array
        found = np.bincount(codes[v], minlength=net.cards[v]) / n
        assert (abs(found - p) <= 4.5 * np.sqrt(p * (1 - p) / n) + 1e-12).all()
    pair = net.joint(["a", "b"], given=evidence).array
    found = np.histogram2d(codes[0], codes[1], bins=[2, 2], range=[[0, 2], [0, 2]])[0] / n
    assert (abs(found - pair) <= 4.5 * np.sqrt(pair * (1 - pair) / n)).all()
    again = net.sample(50, given=evidence, output="codes")
    assert all((a == b[:50]).all() for a, b in zip(again, codes, strict=True))


def test_impossible_evidence_is_not_drawn_from():
    net = BayesianNetwork("a->b", tables={"a": [0.5, 0.5], "b": [[1, 0], [1, 0]]})
    with pytest.raises(ImpossibleEvidenceError, match="b=yes has probability 0"):
        net.sample(10, given={"b": "yes"})


def test_a_table_over_the_limit_is_refused_before_it_is_made():
    wide = BayesianNetwork("; ".join(f"x{i}->y" for i in range(16)))
    evidence = read_evidence(wide, {"y": "yes"})
    with pytest.raises(TooLargeError, match="cells over 16 variables"):
        condition(wide, evidence, 1e5)


def test_evidence_by_position():
    net = BayesianNetwork("a{10|20|30}->b{1|0}", random_tables=1)
    assert_array_equal(net.posterior("a", given={"b": 0}, codes=True).array, net.posterior("a", given={"b": "1"}).array)
    assert_array_equal(net.posterior("a", given={"b": 0}).array, net.posterior("a", given={"b": "0"}).array)
    assert net.probability({"a": {0, 2}}, codes=True) == net.probability({"a": {"10", "30"}})
    assert net.most_probable(given={"b": np.int64(1)}, codes=True)["a"] == net.most_probable(given={"b": "0"})["a"]
    assert_array_equal(net.joint(["a"], given={"b": 1}, codes=True).array, net.joint(["a"], given={"b": "0"}).array)
    assert set(net.sample(20, given={"b": 1}, codes=True)["b"]) == {"0"}
    with pytest.raises(NetworkError, match="has no state at position 2; positions go from 0 to 1"):
        net.posterior("a", given={"b": 2}, codes=True)


def test_measures_that_need_a_table_too_large_are_refused_before_any_is_made(monkeypatch):
    n, rng = 400, np.random.default_rng(0)
    parents = [tuple(rng.choice(i, min(i, 3), replace=False).tolist()) for i in range(n)]
    tables = [np.full([2] * (len(own) + 1), 0.5) for own in parents]
    net = BayesianNetwork.from_tables([f"v{i}" for i in range(n)], [["a", "b"]] * n, parents, tables)

    def joint(*_, **__):
        raise AssertionError("work began")

    monkeypatch.setattr(BayesianNetwork, "joint", joint)
    for ask in (net.entropy, lambda: net.kl_divergence(net)):
        with pytest.raises(TooLargeError, match=r"the exact answer .* cells over"):
            ask()
