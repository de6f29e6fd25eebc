"""TAN's tree beside pyAgrum's, AODE, A2DE and bins beside scikit-bayes's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import AODE, TAN, Discretizer

ROWS, COLUMNS = 400, 6


def table(seed):
    """Columns that depend on the class and on each other, so that the tree is decided by no tie."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, ROWS)
    X = np.empty((ROWS, COLUMNS), dtype=np.int64)
    X[:, 0] = np.where(rng.random(ROWS) < 0.4, y, rng.integers(0, 4, ROWS))
    for j in range(1, COLUMNS):
        copy = rng.random(ROWS) < 0.4 + 0.08 * j
        X[:, j] = np.where(copy, X[:, rng.integers(0, j)], rng.integers(0, 4, ROWS))
    return X, y


def undirected(edges):
    return {frozenset(edge) for edge in edges}


@pytest.mark.parametrize("seed", range(5))
def test_the_edges_of_pyagrums_forest_are_the_heavy_edges_of_our_tree(seed):
    # pyAgrum keeps the edges of the tree whose information is at least half the mean over all pairs.
    pandas = pytest.importorskip("pandas", reason="pyAgrum reads frames")
    skbn = pytest.importorskip("pyagrum.skbn", reason="pyAgrum is not installed")
    X, y = table(seed)
    names = [f"x{j}" for j in range(COLUMNS)]
    frame = pandas.DataFrame(X, columns=names).astype(str)
    peer = skbn.createBNClassifier(learningMethod="TAN", prior="NoPrior")
    peer.fit(frame, pandas.Series(y.astype(str), name="class"))
    arcs = [(peer.bn_.variable(a).name(), peer.bn_.variable(b).name()) for a, b in peer.bn_.arcs()]
    theirs = undirected(arc for arc in arcs if "class" not in arc)
    ours = TAN().fit(frame, y)
    information = ours.information_
    threshold = information[np.triu_indices(COLUMNS, 1)].sum() / (COLUMNS * (COLUMNS - 1))
    heavy = [edge for edge in ours.structure_.arcs if information[tuple(map(names.index, edge))] >= threshold]
    assert len(heavy) >= 2
    assert theirs == undirected(heavy)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("order", [1, 2])
def test_aode_and_a2de_are_those_of_scikit_bayes(seed, order):
    skbayes = pytest.importorskip("skbn", reason="scikit-bayes is not installed")
    X, y = table(seed)
    for smoothing in (0.5, 1.0):
        peer = skbayes.AnDE(n_dependence=order, alpha=smoothing).fit(X, y)
        ours = AODE(n_parents=order, smoothing=smoothing, kinds="categorical").fit(X, y)
        assert_allclose(ours.predict_proba(X), peer.predict_proba(X), rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_mdl_bins_are_those_of_scikit_bayes(seed):
    skbayes = pytest.importorskip("skbn", reason="scikit-bayes is not installed")
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 500)
    X = np.round(y[:, None] + rng.normal(size=(500, 4)), 2)
    peer, ours = skbayes.MDLPDiscretizer().fit(X, y), Discretizer().fit(X, y)
    for j, edges in enumerate(ours.edges_):
        assert_allclose(edges, peer.cut_points_[j], rtol=1e-12)
