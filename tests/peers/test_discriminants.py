"""GaussianBayes gives the posteriors of scikit-learn's discriminant analyses where the definitions agree."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn import datasets, naive_bayes
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from bayeskit import GaussianBayes

AGREES = 1e-8


def tables():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 400)
    mixed = rng.normal(size=(4, 6, 6))
    correlated = np.einsum("ij,ijk->ik", rng.normal(size=(400, 6)), mixed[y]) + rng.normal(size=(4, 6))[y]
    wine = datasets.load_wine(return_X_y=True)
    return {
        "iris": datasets.load_iris(return_X_y=True),
        "wine": wine,
        "wine far away": (wine[0] + 1e6, wine[1]),
        "correlated": (correlated, y),
    }


by_table = pytest.mark.parametrize("table", tables().values(), ids=tables().keys())


@by_table
def test_full_matrices_are_quadratic_discriminants(table):
    X, y = table
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    # Older releases divide by n − 1, newer ones by n.
    own = X[y == theirs.classes_[0]]
    by_n = np.allclose(theirs.covariance_[0], np.cov(own.T, bias=True), rtol=1e-6)
    ours = GaussianBayes(variance="ml" if by_n else "unbiased").fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=AGREES)
    assert_allclose(ours.covariances_, theirs.covariance_, rtol=AGREES, atol=AGREES)


@by_table
@pytest.mark.parametrize("shrinkage", [None, 0.3, 1.0])
def test_one_matrix_is_a_linear_discriminant(table, shrinkage):
    X, y = table
    theirs = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, y)
    ours = GaussianBayes(covariance="tied", shrinkage=shrinkage or 0.0).fit(X, y)
    if abs(X).max() < 1e5:  # at an offset of a million the peer's own scores, w·x + b, have lost digits
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=AGREES)
    assert_allclose(ours.covariances_[0], theirs.covariance_, rtol=1e-7, atol=1e-9)


@by_table
def test_a_given_prior_counts_as_theirs_does(table):
    X, y = table
    prior = np.arange(1.0, len(np.unique(y)) + 1)
    prior /= prior.sum()
    theirs = naive_bayes.GaussianNB(var_smoothing=0, priors=prior).fit(X, y)
    ours = GaussianBayes(covariance="diagonal", prior=prior).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=AGREES)


@by_table
def test_diagonal_matrices_are_gaussian_naive_bayes(table):
    X, y = table
    theirs = naive_bayes.GaussianNB(var_smoothing=0).fit(X, y)
    ours = GaussianBayes(covariance="diagonal").fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=AGREES)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_densities_are_those_of_scipy(covariance):
    from scipy.stats import multivariate_normal

    X, y = datasets.load_iris(return_X_y=True)
    model = GaussianBayes(covariance=covariance).fit(X, y)
    found = model.predict_joint_log_proba(X)
    for c in range(3):
        expected = np.log(1 / 3) + multivariate_normal(model.means_[c], model.covariances_[c]).logpdf(X)
        assert_allclose(found[:, c], expected, rtol=1e-10)
    pieces = X.copy()
    pieces[:, [0, 2]] = np.nan
    found = model.predict_joint_log_proba(pieces)
    for c in range(3):
        part = multivariate_normal(model.means_[c][[1, 3]], model.covariances_[c][np.ix_([1, 3], [1, 3])])
        assert_allclose(found[:, c], np.log(1 / 3) + part.logpdf(X[:, [1, 3]]), rtol=1e-10)
