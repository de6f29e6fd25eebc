"""Decisions and evidence agree with what other libraries compute by other ways."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import CategoricalNB as SklearnCategoricalNB
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from bayeskit import BayesDecision, NaiveBayes, mean_loss
from bayeskit.decide.regions import threshold
from bayeskit.plot import reliability_curve

X, Y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)


def test_two_classes_decide_as_scikit_learn_with_the_equivalent_threshold():
    model = LogisticRegression().fit(X, Y)
    for loss in ([[0, 1], [1, 0]], [[0, 1], [9, 0]], [[-2, 7], [3, -1]]):
        ours = BayesDecision(FrozenEstimator(model), loss=loss).fit(X, Y)
        theirs = FixedThresholdClassifier(FrozenEstimator(model), threshold=threshold(ours.loss_)).fit(X, Y)
        assert_array_equal(ours.predict(X), theirs.predict(X))


def test_under_0_1_loss_mean_loss_is_accuracy_less_one():
    table, y = load_iris(return_X_y=True)
    model = BayesDecision(GaussianNB()).fit(table[::2], y[::2])
    expected = accuracy_score(y[1::2], model.predict(table[1::2])) - 1
    assert_allclose(mean_loss(model, table[1::2], y[1::2]), expected, rtol=1e-12)


def test_weights_of_evidence_are_those_of_scikit_learns_log_tables():
    rng = np.random.default_rng(0)
    table, y = rng.integers(0, 4, (300, 6)), rng.integers(0, 3, 300)
    table[:4] = np.arange(4)[:, None]
    ours = NaiveBayes(kinds="categorical").fit(table, y)
    theirs = SklearnCategoricalNB(alpha=1).fit(table, y)
    found = ours.explain_rows(table, classes=(2, 0))
    expected = [
        [logs[2, v] - logs[0, v] for logs, v in zip(theirs.feature_log_prob_, row, strict=True)] for row in table
    ]
    assert_allclose(found.terms, expected, atol=1e-12)


def test_the_reliability_curve_has_the_points_of_scikit_learn():
    model = GaussianNB().fit(X[:, :3], Y)
    probability = model.predict_proba(X[:, :3])[:, 1]
    ax = reliability_curve(Y, probability)
    curve = next(line for line in ax.lines if line.get_marker() == "o")
    share, mean = calibration_curve(Y, probability, n_bins=10)
    assert_allclose(np.column_stack(curve.get_data()), np.column_stack([mean, share]), atol=1e-12)
