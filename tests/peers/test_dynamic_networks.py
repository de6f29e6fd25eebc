"""Dynamic networks and pyAgrum's give the same posteriors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import DynamicNetwork
from bayeskit.network import BayesianNetwork

gum = pytest.importorskip("pyagrum")
ktbn = pytest.importorskip("pyagrum.ktbn")


def test_an_unrolled_network_of_pyagrum_agrees():
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecated in newer versions
        from pyagrum.lib.dynamicBN import unroll2TBN

    rng = np.random.default_rng(0)
    tables = {
        "a[0]": rng.dirichlet(np.ones(2)),
        "a[t]": rng.dirichlet(np.ones(2), size=2),
        "c[0]": rng.dirichlet(np.ones(3), size=2),
        "c[t]": rng.dirichlet(np.ones(3), size=(3, 2)),
        "b[t]": rng.dirichlet(np.ones(2), size=3),
    }
    ours = DynamicNetwork("a[t-1]->a[t]; c[t-1]->c[t]; a[t]->c[t]; c[t]->b[t]", tables=tables)
    two = gum.BayesNet()
    for name, n in (("a0", 2), ("at", 2), ("c0", 3), ("ct", 3), ("b0", 2), ("bt", 2)):
        two.add(gum.LabelizedVariable(name, "", n))
    for arc in (("a0", "at"), ("a0", "c0"), ("c0", "ct"), ("at", "ct"), ("c0", "b0"), ("ct", "bt")):
        two.addArc(*arc)

    def fill(name, table, parents):
        for index in np.ndindex(*table.shape[:-1]):
            two.cpt(name)[dict(zip(parents, map(int, index), strict=True))] = table[index].tolist()

    two.cpt("a0")[:] = tables["a[0]"].tolist()
    fill("at", tables["a[t]"], ["a0"])
    fill("c0", tables["c[0]"], ["a0"])
    fill("ct", tables["c[t]"], ["c0", "at"])
    fill("b0", tables["b[t]"], ["c0"])
    fill("bt", tables["b[t]"], ["ct"])
    net = unroll2TBN(two, 6)
    seen = rng.integers(0, 2, 6)
    engine = gum.LazyPropagation(net)
    engine.setEvidence({f"b{t}": int(v) for t, v in enumerate(seen)})
    smoothed = ours.smooth({"b": [["no", "yes"][v] for v in seen]})
    for t in range(6):
        assert_allclose(smoothed["a"][t], engine.posterior(f"a{t}").toarray(), atol=1e-10)
        assert_allclose(smoothed["c"][t], engine.posterior(f"c{t}").toarray(), atol=1e-10)


def chain_of_pyagrum(seed, order):
    """A KTBN of pyAgrum with two processes and random tables."""
    rng = np.random.default_rng(seed)
    net = ktbn.KTBN(order + 1)
    for name, states in (("a", ["lo", "hi"]), ("b", ["x", "y", "z"])):
        net.addTemporal(gum.LabelizedVariable(name, name, states))
    for s in range(order + 1):
        net.addArc("a", s, "b", s)
        for lag in range(1, s + 1):
            net.addArc("a", s - lag, "a", s)
        if s:
            net.addArc("b", s - 1, "b", s)
    for s in range(order + 1):
        for name, n in (("a", 2), ("b", 3)):
            parents = (
                [("a", s - lag) for lag in range(1, s + 1)] if name == "a" else [("a", s), ("b", s - 1)][: 1 + (s > 0)]
            )
            cards = [2 if base == "a" else 3 for base, _ in parents]
            for index in np.ndindex(*cards):
                row = rng.dirichlet(np.ones(n)).tolist()
                net.fillCPT(name, s, dict(zip(parents, map(int, index), strict=True)), row)
    return net


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_answers_of_ktbn_agree_to_1e_10_on_a_file_that_it_wrote(tmp_path, order, seed):
    theirs = chain_of_pyagrum(seed, order)
    theirs.save(str(tmp_path / "chain.jgum"))
    ours = DynamicNetwork.read(tmp_path / "chain.jgum")
    rng = np.random.default_rng(seed)
    n = 40
    b = rng.integers(0, 3, n)
    known = rng.random(n) < 0.7
    table = {"b": ["xyz"[v] if k else None for v, k in zip(b, known, strict=True)]}
    do = {("a", 20): "hi"}
    for actions in ({}, do):
        engine = ktbn.KTBNInference(theirs)
        for t in np.flatnonzero(known):
            engine.addObservation("b", int(t), int(b[t]))
        for (name, t), state in actions.items():
            engine.addIntervention(name, t, state)
        engine.makeInference(n)
        smoothed = ours.smooth(table, do=actions)
        for t in range(n):
            assert_allclose(smoothed["a"][t], engine.posterior("a", t).toarray(), atol=1e-10)
            assert_allclose(smoothed["b"][t], engine.posterior("b", t).toarray(), atol=1e-10)
        if not actions:
            assert_allclose(ours.log_likelihood(table), engine.logObservationProbability(), rtol=1e-10)


@pytest.mark.parametrize("order", [1, 2])
def test_pyagrum_reads_the_file_that_ours_writes(tmp_path, order):
    first = DynamicNetwork.from_network(_ours(chain_of_pyagrum(0, order).toBN()))
    first.write(tmp_path / "chain.jgum")
    theirs = ktbn.loadKTBN(str(tmp_path / "chain.jgum"))
    assert theirs.k() == order + 1
    assert set(theirs.temporalVarNames()) == {"a", "b"}
    again = DynamicNetwork.from_network(_ours(theirs.toBN()))  # its parents may come in another order
    rows = {"b": ["x", None, "z", "y", "y", None]}
    for name in "ab":
        assert_allclose(again.smooth(rows)[name], first.smooth(rows)[name], rtol=1e-12)


def _ours(net):
    """A network of pyAgrum as ours, table by table."""
    names = [net.variable(i).name() for i in net.topologicalOrder()]
    parents = [[names.index(net.variable(p).name()) for p in net.parents(name)] for name in names]
    tables = []
    for i, name in enumerate(names):
        cpt = net.cpt(name)
        values = cpt.toarray()  # the variable itself is the last axis
        axes = list(reversed(cpt.names))[:-1]
        tables.append(values.transpose([*(axes.index(names[p]) for p in parents[i]), len(axes)]))
    states = [list(net.variable(name).labels()) for name in names]
    return BayesianNetwork.from_tables(names, states, parents, tables)
