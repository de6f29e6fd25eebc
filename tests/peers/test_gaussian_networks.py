"""Gaussian networks agree with pyAgrum's, and with least squares on bnlearn's example table."""

from pathlib import Path

import numpy as np
import pytest

from bayeskit import BayesianNetwork
from bayeskit.network import LinearGaussian

clg = pytest.importorskip("pyagrum.clg", reason="pyAgrum is not installed")
SAMPLES = Path(__file__).parents[3] / "shared" / "data" / "samples"


def test_posteriors_are_pyagrums():
    rng = np.random.default_rng(4)
    names = [f"x{k}" for k in range(9)]
    peer, structure, tables = clg.CLG(), {}, {}
    for k, name in enumerate(names):
        mean, sd = float(rng.normal()), float(rng.uniform(0.5, 2.0))
        peer.add(clg.GaussianVariable(name, mean, sd))
        parents = [names[p] for p in sorted(rng.choice(k, min(k, 2), replace=False))]
        slopes = {p: float(rng.normal()) for p in parents}
        for p, b in slopes.items():
            peer.addArc(p, name, b)
        structure[name], tables[name] = parents, LinearGaussian(slopes, mean=mean, sd=sd)
    net = BayesianNetwork(structure, tables=tables)
    given = {"x7": 1.5, "x3": -0.5}
    engine = clg.CLGVariableElimination(peer)
    engine.updateEvidence(given)
    for name in set(names) - set(given):
        theirs, ours = engine.posterior(name), net.posterior(name, given=given)
        assert ours.mean == pytest.approx(theirs.mu(), rel=1e-12, abs=1e-12)
        assert ours.sd == pytest.approx(theirs.sigma(), rel=1e-12)


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the tables lie in ../shared/data/samples, which is not here")
def test_bnlearns_gaussian_table_gives_the_coefficients_of_least_squares():
    import pandas as pd

    table = pd.read_csv(SAMPLES / "gaussian-test.csv")
    parents = {"A": [], "B": [], "E": [], "G": [], "C": ["A", "B"], "D": ["B"], "F": ["A", "D", "E", "G"]}
    net = BayesianNetwork(
        parents, tables={name: LinearGaussian(dict.fromkeys(above, 1.0)) for name, above in parents.items()}
    )
    fitted = net.fitted(table, smoothing=0)
    for name, above in parents.items():
        x = np.column_stack([np.ones(len(table)), *(table[p] for p in above)])
        b, *_ = np.linalg.lstsq(x, table[name], rcond=None)
        cpd = fitted[name].distribution
        assert [cpd.intercept[0], *cpd.slope[0]] == pytest.approx(b.tolist(), rel=1e-8)
