"""Gaussian classes: each row predicted without itself, and classes with weights."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB

from bayeskit import GaussianBayes, load
from bayeskit.errors import BayeskitError
from refits import refits

REFIT = 1e-9  # the digits that moments keep when a row is taken out of them
FORMS = ["full", "tied", "diagonal", "spherical"]


def rows(missing: float = 0.0, n: int = 45) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c"], [n // 2, n // 3, n - n // 2 - n // 3])
    X = rng.normal(size=(n, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.8], [0.0, 0.0, 1.0]])
    X = (X + (y == "b")[:, None] * [1.0, 0.0, 2.0]) * [1.0, 1e3, 1e-4] + [0.0, 1e6, 0.0]
    X[rng.random(X.shape) < missing] = np.nan
    return pd.DataFrame(X, columns=["p", "q", "r"]), y


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("covariance", FORMS)
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"variance": "unbiased", "prior": "uniform"},
        {"shrinkage": 0.3, "prior": [0.2, 0.3, 0.5]},
    ],
    ids=str,
)
def test_leaving_a_row_out_is_a_fit_without_it(covariance, settings, missing):
    X, y = rows(missing, n=36)
    model = GaussianBayes(covariance=covariance, **settings).fit(X, y)
    found = np.exp(model.leave_one_out(X, y).log_posterior)
    assert_allclose(found, refits(model, X, y), rtol=0, atol=REFIT)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_a_row_of_integer_weight_loses_one_of_its_copies(covariance):
    X, y = rows()
    weight = np.tile([1.0, 2.0, 0.5, 3.0, 0.0], 9)
    model = GaussianBayes(covariance=covariance).fit(X, y, sample_weight=weight)
    found = np.exp(model.leave_one_out(X, y, weight).log_posterior)
    kept = weight > 0
    assert_allclose(found[kept], refits(model, X, y, weight)[kept], rtol=0, atol=REFIT)


@pytest.mark.parametrize("variance", ["ml", "unbiased"])
@pytest.mark.parametrize("covariance", FORMS)
def test_narrow_directions_and_small_classes_are_left_out_as_a_refit_leaves_them(covariance, variance):
    # Two columns that are the same up to one row, a class of two rows and one of a single row.
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"u": rng.normal(size=14), "w": rng.normal(size=14)})
    X["v"] = X["u"]
    X.loc[3, "v"] += 1.0
    y = np.array(["many"] * 11 + ["two"] * 2 + ["one"])
    model = GaussianBayes(covariance=covariance, variance=variance).fit(X, y)
    found = np.exp(model.leave_one_out(X, y).log_posterior)
    assert_allclose(found, refits(model, X, y), rtol=0, atol=1e-7)
    assert found[13, list(model.classes_).index("one")] == 0  # without its only row the class has no share


def test_a_declared_class_without_rows_is_no_obstacle():
    X, y = rows()
    model = GaussianBayes().partial_fit(X, y, classes=["a", "b", "c", "d"])
    found = np.exp(model.leave_one_out(X, y).log_posterior)
    assert_allclose(found[:, :3], np.exp(GaussianBayes().fit(X, y).leave_one_out(X, y).log_posterior), atol=1e-12)
    assert_array_equal(found[:, 3], 0.0)


def test_leave_one_out_is_that_of_scikit_learn():
    X, y = rows()
    X["q"] -= 1e6
    peers = {
        "full": QuadraticDiscriminantAnalysis(),
        "tied": LinearDiscriminantAnalysis(solver="lsqr"),
    }
    for covariance, peer in peers.items():
        # Their tied matrix is divided by n, the one of each class by n - 1 in older releases and by n in newer ones.
        scaled = (X - X.mean()) / X.std()
        theirs = cross_val_predict(peer, scaled, y, cv=LeaveOneOut(), method="predict_proba")
        close = []
        for variance in ("ml", "unbiased"):
            model = GaussianBayes(covariance=covariance, variance=variance).fit(scaled, y)
            found = np.exp(model.leave_one_out(scaled, y).log_posterior)
            close.append(np.abs(found - theirs).max())
        assert min(close) < 1e-9


def test_the_cost_of_leaving_out_is_that_of_one_pass():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 8))
    y = (X[:, 0] + X[:, 1] ** 2 > 1).astype(int)
    model = GaussianBayes().fit(X, y)
    loss = model.leave_one_out(X, y)  # three thousand fits would take minutes
    assert 0 <= loss.error < 0.2
    assert np.isfinite(loss.log_loss)


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("covariance", FORMS)
def test_the_weight_of_a_class_is_the_weight_of_its_rows(covariance, missing):
    X, y = rows(missing)
    weight = {"a": 0.5, "b": 2.0, "c": 3.0}
    weighted = GaussianBayes(covariance=covariance, class_weight=weight).fit(X, y)
    by_rows = GaussianBayes(covariance=covariance).fit(X, y, sample_weight=[weight[label] for label in y])
    assert_allclose(weighted.predict_proba(X), by_rows.predict_proba(X), rtol=0, atol=1e-10)
    assert_array_equal(weighted.class_count_, np.unique(y, return_counts=True)[1])  # counts stay as they are
    balanced = GaussianBayes(covariance=covariance, class_weight="balanced").fit(X, y)
    assert_allclose(balanced.class_prior_, np.full(3, 1 / 3), rtol=1e-12)


def test_weighted_classes_are_those_of_scikit_learns_naive_bayes():
    X, y = rows()
    weight = {"a": 0.5, "b": 2.0, "c": 3.0}
    ours = GaussianBayes(covariance="diagonal", class_weight=weight).fit(X, y)
    theirs = TheirGaussianNB(var_smoothing=0).fit(X, y, sample_weight=[weight[label] for label in y])
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0, atol=1e-7)


def test_batches_with_class_weights_give_what_one_fit_gives(tmp_path):
    X, y = rows()
    whole = GaussianBayes(covariance="tied", class_weight="balanced").fit(X, y)
    parts = GaussianBayes(covariance="tied", class_weight="balanced")
    for part in (slice(0, 30), slice(30, None)):
        parts.partial_fit(X.iloc[part], y[part])
    assert_allclose(parts.predict_proba(X), whole.predict_proba(X), rtol=0, atol=1e-9)
    whole.save(tmp_path / "m.bayes")
    assert_array_equal(load(tmp_path / "m.bayes").predict_proba(X), whole.predict_proba(X))


def test_what_does_not_fit_is_refused():
    X, y = rows()
    with pytest.raises(BayeskitError, match="class_weight names the class 'z'"):
        GaussianBayes(class_weight={"z": 1.0}).fit(X, y)
    with pytest.raises(BayeskitError, match="fit without class_weight"):
        GaussianBayes(class_weight="balanced").fit(X, y).leave_one_out(X, y)
