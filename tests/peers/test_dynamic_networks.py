"""Dynamic networks and pyAgrum's give the same posteriors."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import DynamicNetwork

gum = pytest.importorskip("pyagrum")


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
