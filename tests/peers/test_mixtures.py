"""scikit-learn's GaussianMixture and KMeans from the same start end where ours end."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.mixture import GaussianMixture as Theirs

from bayeskit import GaussianMixture

SHAPES = {"full": "full", "tied": "tied", "diagonal": "diag", "spherical": "spherical"}
IRIS = load_iris().data


def start(shape):
    means = IRIS[[10, 60, 120]]
    whole = np.cov(IRIS.T, bias=True)
    spread = {
        "full": np.repeat(whole[None], 3, axis=0),
        "tied": whole,
        "diagonal": np.repeat(whole.diagonal()[None], 3, axis=0),
        "spherical": np.full(3, whole.diagonal().mean()),
    }[shape]
    precision = np.linalg.inv(spread) if spread.ndim > 1 and shape != "diagonal" else 1 / spread
    weights = np.array([0.2, 0.3, 0.5])
    ours = GaussianMixture(
        3,
        covariance=shape,
        init={"weights": weights, "means": means, "covariances": spread},
        regularization=0,
        tol=1e-13,
        max_iter=5000,
    )
    theirs = Theirs(
        3,
        covariance_type=SHAPES[shape],
        weights_init=weights,
        means_init=means,
        precisions_init=precision,
        reg_covar=0,
        tol=1e-14,
        max_iter=5000,
    )
    return ours, theirs


@pytest.mark.parametrize("shape", SHAPES)
def test_the_optimum_is_that_of_scikit_learn(shape):
    ours, theirs = start(shape)
    ours.fit(IRIS)
    theirs.fit(IRIS)
    assert_allclose(ours.weights_, theirs.weights_, atol=1e-6)
    assert_allclose(ours.means_, theirs.means_, atol=1e-6)
    assert_allclose(ours.covariances_, theirs.covariances_, atol=1e-6)
    assert_allclose(ours.log_likelihood_ / 150, theirs.score(IRIS), rtol=1e-9)
    assert_allclose(ours.predict_proba(IRIS), theirs.predict_proba(IRIS), atol=1e-5)
    assert_allclose(ours.bic(IRIS), theirs.bic(IRIS), rtol=1e-9)
    assert_allclose(ours.aic(IRIS), theirs.aic(IRIS), rtol=1e-9)
    assert ours.n_parameters_ == theirs._n_parameters()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("steps", [1, 2, 5])
def test_each_step_is_that_of_scikit_learn(shape, steps):
    ours, theirs = start(shape)
    ours.set_params(max_iter=steps, tol=0)
    theirs.set_params(max_iter=steps, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours.fit(IRIS)
        theirs.fit(IRIS)
    assert_allclose(ours.means_, theirs.means_, rtol=1e-9)
    assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_k_means_is_that_of_scikit_learn(weighted):
    weight = np.random.default_rng(0).integers(1, 5, 150).astype(float) if weighted else None
    means = IRIS[[10, 60, 120]]
    ours = GaussianMixture(3, covariance="fixed", hard=True, init=means, tol=0).fit(IRIS, sample_weight=weight)
    theirs = KMeans(3, init=means, n_init=1, tol=0).fit(IRIS, sample_weight=weight)
    assert_allclose(ours.means_, theirs.cluster_centers_, rtol=1e-10)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-10)
    assert (ours.labels_ == theirs.labels_).all()
    assert (ours.predict(IRIS + 0.3) == theirs.predict(IRIS + 0.3)).all()


def test_drawn_starts_are_as_good_as_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    rows = np.concatenate([rng.normal(c, 0.4, (80, 2)) for c in rng.uniform(-6, 6, (7, 2))])
    ours = GaussianMixture(7, covariance="fixed", hard=True, n_init=10, tol=0).fit(rows)
    assert ours.inertia_ <= KMeans(7, n_init=10, random_state=0).fit(rows).inertia_ * (1 + 1e-9)
