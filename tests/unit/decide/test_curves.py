"""ROC, precision–recall and lift agree with scikit-learn's."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics import average_precision_score, roc_auc_score, roc_curve

from bayeskit.decide.curves import curves
from bayeskit.errors import BayeskitError


@pytest.mark.parametrize("decimals", [1, 2, 8])  # many ties, some, none
def test_areas_and_rates_are_those_of_scikit_learn(decimals):
    rng = np.random.default_rng(0)
    y = rng.random(500) < 0.3
    score = (rng.normal(size=500) + y).round(decimals)
    found = curves(score, y)
    assert_allclose(found.auc, roc_auc_score(y, score), rtol=1e-12)
    assert_allclose(found.average_precision, average_precision_score(y, score), rtol=1e-12)
    false_positive, recall, _ = roc_curve(y, score, drop_intermediate=False)
    assert_allclose(found.false_positive_rate, false_positive, rtol=1e-12)
    assert_allclose(found.recall, recall, rtol=1e-12)


def test_lift_is_the_share_of_positive_rows_among_the_first_over_that_among_all():
    y = np.array([True] * 10 + [False] * 90)
    assert_allclose(curves(np.arange(100, 0, -1.0), y).lift(0.1), 10.0, rtol=1e-12)
    assert_allclose(curves(np.ones(100), y).lift(0.1), 1.0, rtol=1e-12)


def test_one_sort_of_rows_has_no_curve():
    with pytest.raises(BayeskitError, match="all rows are of one class"):
        curves(np.arange(3.0), np.ones(3))
