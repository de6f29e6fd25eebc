"""Noisy-OR and noisy-AND agree with pyAgrum, whose two noisy-ORs differ in what the leak means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import BayesianNetwork
from bayeskit.network import NoisyAnd, NoisyOr

gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed")
AGREED = 1e-6  # pyAgrum keeps the weights of its canonical models as 32-bit numbers


def in_pyagrum(add, own, prior, link):
    net = gum.BayesNet()
    y = getattr(net, add)(gum.LabelizedVariable("y", "y", ["no", "yes"]), own)
    for name, p in prior.items():
        d = net.add(gum.LabelizedVariable(name, name, ["no", "yes"]))
        net.addWeightedArc(d, y, link[name])
        net.cpt(d).fillWith([1 - p, p])
    return net


def ours(form, prior):
    names = list(prior)
    tables = {name: [1 - p, p] for name, p in prior.items()} | {"y": form}
    return BayesianNetwork({**{name: [] for name in names}, "y": names}, tables=tables)


@pytest.mark.parametrize("n", [1, 3, 8, 15])
@pytest.mark.parametrize(("add", "meaning"), [("addNoisyORNet", "net"), ("addNoisyORCompound", "compound")])
def test_a_noisy_or_is_pyagrums(n, add, meaning):
    rng = np.random.default_rng(n)
    names = [f"d{k}" for k in range(n)]
    prior = dict(zip(names, rng.uniform(0.05, 0.4, n), strict=True))
    link = dict(zip(names, rng.uniform(0.2, 0.9, n), strict=True))
    peer = in_pyagrum(add, 0.1, prior, link)
    net = ours(NoisyOr(link, leak=0.1, meaning=meaning), prior)
    for evidence in ({}, {"y": "yes"}, {"y": "no"}, {"y": "yes", "d0": "no"}):
        engine = gum.LazyPropagation(peer)
        engine.setEvidence(evidence)
        engine.makeInference()
        answer = net.posterior(given=evidence)
        for name in (*names, "y"):
            assert_allclose(answer[name].array, engine.posterior(name).tolist(), atol=AGREED)


def test_a_noisy_and_is_pyagrums():
    prior, link = {"a": 0.3, "b": 0.6, "c": 0.5}, {"a": 0.2, "b": 0.7, "c": 0.9}
    peer = in_pyagrum("addNoisyAND", 0.85, prior, link)
    net = ours(NoisyAnd({name: {"no": 1 - w, "yes": w} for name, w in link.items()}, sure=0.85), prior)
    engine = gum.LazyPropagation(peer)
    engine.setEvidence({"y": "yes"})
    engine.makeInference()
    for name in prior:
        assert_allclose(net.posterior(name, given={"y": "yes"}).array, engine.posterior(name).tolist(), atol=AGREED)
