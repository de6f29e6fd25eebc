"""Old Faithful: two Gaussians by maximum likelihood, to the published digits."""

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bayeskit import GaussianMixture

FAITHFUL = Path(__file__).parents[3] / "shared/data/samples/faithful.csv"


@pytest.mark.skipif(not FAITHFUL.exists(), reason="faithful.csv lies in ../shared/data/samples, which is not here")
@pytest.mark.parametrize("regularization", [0.0, 1e-6])
def test_two_gaussians_of_old_faithful(regularization):
    with FAITHFUL.open(encoding="utf-8") as file:
        rows = np.array([[float(x) for x in row[-2:]] for row in list(csv.reader(file))[1:]])
    model = GaussianMixture(2, tol=1e-13, regularization=regularization).fit(rows)
    assert_allclose(model.weights_, [0.644127, 0.355873], atol=5e-7)
    assert_allclose(model.means_, [[4.289662, 79.968115], [2.036388, 54.478516]], atol=6e-7)
    assert_allclose(model.log_likelihood_, -1130.263960, atol=1e-6)
    assert_allclose(model.score(rows) * len(rows), -1130.263960, atol=1e-6)
    assert GaussianMixture(covariance="tied").fit(rows).n_components_ == 3  # what mclust chooses (EEE, 3)
