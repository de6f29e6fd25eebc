"""k-means is scikit-learn's: the same optimum, centres and labels."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import cluster
from sklearn.datasets import load_iris

from bayeskit import GaussianMixture, KMeans

X = load_iris().data


def test_the_optimum_is_that_of_scikit_learn():
    ours, theirs = KMeans(3).fit(X), cluster.KMeans(3, n_init=10, random_state=0).fit(X)
    assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9)
    ours_first, theirs_first = np.argsort(ours.cluster_centers_[:, 0]), np.argsort(theirs.cluster_centers_[:, 0])
    assert_allclose(ours.cluster_centers_[ours_first], theirs.cluster_centers_[theirs_first], rtol=1e-9)
    assert_array_equal(np.argsort(ours_first)[ours.labels_], np.argsort(theirs_first)[theirs.labels_])


def test_it_is_the_hard_mixture_of_known_variance():
    ours, mixture = KMeans(3).fit(X), GaussianMixture(3, covariance="fixed", hard=True).fit(X)
    assert_array_equal(ours.means_, mixture.means_)
    assert_array_equal(ours.labels_, mixture.labels_)
    assert ours.inertia_ == mixture.inertia_
