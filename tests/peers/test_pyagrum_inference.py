"""Answers agree with pyAgrum on the networks that are read by everyone."""

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork

gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
NETWORKS = Path(__file__).parents[3] / "shared" / "data" / "networks"
if not NETWORKS.is_dir():
    pytest.skip("the networks lie in ../shared/data/networks, which is not here", allow_module_level=True)

AGREED = 1e-9
SMALL = ["asia", "cancer", "earthquake", "sachs", "survey", "child", "alarm", "insurance", "win95pts", "hailfinder"]
# pyAgrum takes seconds for all marginals of these, so it is asked for a few; link is beyond it.
LARGE = ["mildew", "andes", "pigs", "diabetes", "munin", "munin2", "munin3", "munin4"]
ASKED_OF_LARGE = 6


def read(name):
    net = BayesianNetwork.read(NETWORKS / f"{name}.bif.gz")
    tables = [table / table.sum(axis=-1, keepdims=True) for table in net.tables]
    return net, in_pyagrum(net, tables)


def in_pyagrum(net, tables):
    """The same numbers in pyAgrum; its tables are flat with the variable itself running fastest."""
    peer = gum.BayesNet()
    for i, card in enumerate(net.cards):
        peer.add(gum.LabelizedVariable(f"v{i}", "", card))
    for i, parents in enumerate(net.parents):
        for p in parents:
            peer.addArc(p, i)
    for i, table in enumerate(tables):
        scope = [*net.parents[i], i]
        order = [scope.index(int(name[1:])) for name in reversed(peer.cpt(i).names)]
        peer.cpt(i).fillWith(table.transpose(order).ravel().tolist())
    return peer


def draw_evidence(net, n, seed):
    """States of a few variables that one drawn case has, so that they are possible together."""
    rng = np.random.default_rng(seed)
    case = [int(column[0]) for column in net.sample(1, random_state=seed, output="codes")]
    chosen = rng.permutation(len(case))[: min(n, len(case) // 2)]
    return {int(v): case[v] for v in chosen}, rng


def ask_peer(peer, states, likelihoods, targets):
    asked = gum.LazyPropagation(peer)
    asked.setTargets({int(v) for v in targets})
    for v, state in states.items():
        asked.addEvidence(v, state)
    for v, likelihood in likelihoods.items():
        asked.addEvidence(v, likelihood.tolist())
    asked.makeInference()
    return {v: asked.posterior(int(v)).toarray() for v in targets}


def in_words(net, states, likelihoods):
    return {net.names[v]: net.states[v][k] for v, k in states.items()} | {
        net.names[v]: values for v, values in likelihoods.items()
    }


@pytest.mark.parametrize("name", SMALL)
def test_all_posteriors_agree_with_pyagrum(name):
    net, peer = read(name)
    for seed in range(3):
        states, rng = draw_evidence(net, 10 if seed else 2, seed)
        open_ = [v for v in range(len(net.names)) if v not in states]
        likelihoods = {int(v): rng.uniform(0.1, 1.0, net.cards[v]) for v in rng.permutation(open_)[: 2 * (seed > 0)]}
        expected = ask_peer(peer, states, likelihoods, open_)
        found = net.posterior(given=in_words(net, states, likelihoods))
        for v, values in expected.items():
            assert_allclose(found[net.names[v]].array, values, atol=AGREED, rtol=0)


@pytest.mark.parametrize("name", LARGE)
def test_posteriors_of_large_networks_agree_with_pyagrum(name):
    net, peer = read(name)
    states, rng = draw_evidence(net, 10, 1)
    open_ = rng.permutation([v for v in range(len(net.names)) if v not in states])
    likelihoods = {int(v): rng.uniform(0.1, 1.0, net.cards[v]) for v in open_[:2]}
    expected = ask_peer(peer, states, likelihoods, open_[:ASKED_OF_LARGE])
    given = in_words(net, states, likelihoods)
    found = net.posterior(given=given)
    for v, values in expected.items():
        assert_allclose(found[net.names[v]].array, values, atol=AGREED, rtol=0)
        assert_allclose(net.posterior(net.names[v], given=given).array, values, atol=AGREED, rtol=0)


@pytest.mark.parametrize("name", ["asia", "child", "alarm", "insurance"])
def test_joint_tables_and_the_probability_of_evidence_agree_with_pyagrum(name):
    net, peer = read(name)
    states, rng = draw_evidence(net, 4, 2)
    a, b = (int(v) for v in rng.permutation([v for v in range(len(net.names)) if v not in states])[:2])
    asked = gum.LazyPropagation(peer)
    for v, state in states.items():
        asked.addEvidence(v, state)
    asked.addJointTarget({a, b})
    asked.makeInference()
    expected = asked.jointPosterior({a, b})
    array = expected.toarray() if list(expected.names) == [f"v{b}", f"v{a}"] else expected.toarray().T
    given = in_words(net, states, {})
    assert_allclose(net.joint([net.names[a], net.names[b]], given=given).array, array, atol=AGREED, rtol=0)
    assert_allclose(net.probability(given), asked.evidenceProbability(), rtol=AGREED)


# On larger networks pyAgrum 3.3 ends in "Empty tensor".
@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "sachs", "survey"])
def test_the_most_probable_explanation_is_as_probable_as_pyagrums(name):
    net, peer = read(name)
    states, _ = draw_evidence(net, 5, 3)
    asked = gum.LazyPropagation(peer)
    for v, state in states.items():
        asked.addEvidence(v, state)
    _, log2_posterior = asked.mpeLog2Posterior()
    assert_allclose(net.most_probable(given=in_words(net, states, {})).probability, 2**log2_posterior, rtol=AGREED)


@pytest.mark.parametrize("name", ["alarm", "insurance", "hailfinder", "andes"])
def test_no_drawn_case_is_more_probable_than_the_most_probable_one(name):
    net, _ = read(name)
    best = net.most_probable()
    case = [np.array([net.state(v, best[v])], dtype=np.uint8) for v in net.names]
    assert_allclose(net.log_probability(case)[0], best.log_joint, atol=1e-11)
    assert net.log_probability(net.sample(20_000, output="codes")).max() <= best.log_joint + 1e-11


def test_marginal_map_is_the_best_cell_of_pyagrums_joint_table():
    net, peer = read("alarm")
    states, rng = draw_evidence(net, 6, 4)
    sought = [int(v) for v in rng.permutation([v for v in range(len(net.names)) if v not in states])[:4]]
    asked = gum.LazyPropagation(peer)
    for v, state in states.items():
        asked.addEvidence(v, state)
    asked.addJointTarget(set(sought))
    asked.makeInference()
    expected = asked.jointPosterior(set(sought))
    best = net.most_probable([net.names[v] for v in sought], given=in_words(net, states, {}))
    assert_allclose(best.probability, expected.max(), rtol=AGREED)
    cell = {f"v{v}": net.state(net.names[v], best[net.names[v]]) for v in sought}
    assert_allclose(expected[cell], expected.max(), rtol=AGREED)
