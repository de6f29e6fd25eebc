"""Where the definitions agree, the numbers are scikit-learn's."""

from itertools import product

import numpy as np
import pytest
import sklearn.naive_bayes as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import KBinsDiscretizer

import bayeskit

ROUNDING = 1e-9


@st.composite
def coded_tables(draw):
    n_rows, n_columns = draw(st.integers(2, 20)), draw(st.integers(1, 4))
    cells = draw(st.lists(st.integers(0, 4), min_size=n_rows * n_columns, max_size=n_rows * n_columns))
    y = draw(st.lists(st.integers(0, 2), min_size=n_rows, max_size=n_rows))
    weight = draw(st.none() | st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n_rows, max_size=n_rows))
    return np.array(cells).reshape(n_rows, n_columns), np.array(y), weight


@given(coded_tables(), st.sampled_from([0.5, 1.0, 3.0]), st.booleans())
@settings(max_examples=80, deadline=None)
def test_categorical_nb_is_scikit_learns(data, alpha, fit_prior):
    X, y, weight = data
    theirs = peer.CategoricalNB(alpha=alpha, fit_prior=fit_prior).fit(X, y, weight)
    ours = bayeskit.CategoricalNB(alpha=alpha, fit_prior=fit_prior).fit(X, y, weight)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12, atol=1e-12)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-11, atol=1e-14)
    assert_allclose(ours.class_log_prior_, theirs.class_log_prior_, rtol=1e-13)
    assert_allclose(ours.class_count_, theirs.class_count_)
    assert_array_equal(ours.n_categories_, theirs.n_categories_)
    for mine, other in zip(ours.category_count_, theirs.category_count_, strict=True):
        assert_allclose(mine, other, rtol=1e-13)
    for mine, other in zip(ours.feature_log_prob_, theirs.feature_log_prob_, strict=True):
        assert_allclose(mine, other, rtol=1e-12, atol=1e-14)


@given(coded_tables())
@settings(max_examples=40, deadline=None)
def test_naive_bayes_with_declared_levels_is_scikit_learns_categorical_nb(data):
    pd = pytest.importorskip("pandas", reason="declared levels come from pandas")
    X, y, weight = data
    frame = pd.DataFrame({f"c{j}": pd.Categorical(X[:, j], categories=range(5)) for j in range(X.shape[1])})
    theirs = peer.CategoricalNB(min_categories=5).fit(X, y, weight)
    ours = bayeskit.NaiveBayes(prior="data").fit(frame, y, weight)
    assert_allclose(ours.predict_log_proba(frame), theirs.predict_log_proba(X), rtol=1e-11, atol=1e-12)


# Pixels of digits are constant within a class, where scikit-learn without smoothing divides by zero.
@pytest.mark.parametrize(
    ("load", "var_smoothing"),
    [pair for pair in product([load_iris, load_wine, load_digits], [0, 1e-9, 1e-3]) if pair != (load_digits, 0)],
)
@pytest.mark.parametrize("prior", ["data", "given"])
def test_gaussian_nb_is_scikit_learns(load, var_smoothing, prior):
    X, y = load(return_X_y=True)
    X = X[:, X.std(axis=0) > 0] if var_smoothing == 0 else X
    k = len(np.unique(y))
    priors = None if prior == "data" else np.arange(1, k + 1) / (k * (k + 1) / 2)
    theirs = peer.GaussianNB(var_smoothing=var_smoothing, priors=priors).fit(X, y)
    ours = bayeskit.GaussianNB(var_smoothing=var_smoothing, priors=priors).fit(X, y)
    assert_allclose(ours.epsilon_, theirs.epsilon_, rtol=1e-12)
    assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    assert_allclose(ours.var_, theirs.var_, rtol=ROUNDING)
    assert_allclose(ours.class_prior_, theirs.class_prior_, rtol=1e-12)
    assert_allclose(ours.class_count_, theirs.class_count_, rtol=1e-12)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=ROUNDING)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10, atol=1e-10)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_weighted_gaussian_nb_is_scikit_learns_but_for_the_weights_in_epsilon(load):
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y))
    theirs = peer.GaussianNB(var_smoothing=0).fit(X, y, weight)
    ours = bayeskit.GaussianNB(var_smoothing=0).fit(X, y, weight)
    assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    assert_allclose(ours.var_, theirs.var_, rtol=ROUNDING)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-10, atol=1e-14)
    mean = np.average(X, axis=0, weights=weight)
    largest = np.average((X - mean) ** 2, axis=0, weights=weight).max()
    assert_allclose(bayeskit.GaussianNB().fit(X, y, weight).epsilon_, 1e-9 * largest, rtol=1e-12)


def test_batches_of_gaussian_nb_are_one_fit_and_without_smoothing_scikit_learns_batches():
    X, y = load_iris(return_X_y=True)
    ours, theirs, smoothed = (
        bayeskit.GaussianNB(var_smoothing=0),
        peer.GaussianNB(var_smoothing=0),
        bayeskit.GaussianNB(),
    )
    for rows in np.array_split(np.random.default_rng(1).permutation(len(y)), 7):
        for model in (ours, theirs, smoothed):
            model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    assert_allclose(ours.var_, theirs.var_, rtol=ROUNDING)
    one = peer.GaussianNB().fit(X, y)
    assert_allclose([smoothed.epsilon_], [one.epsilon_], rtol=1e-12)
    assert_allclose(smoothed.predict_proba(X), one.predict_proba(X), rtol=1e-10, atol=1e-14)


def test_bernoulli_columns_are_scikit_learns_bernoulli_nb():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 2, (60, 5)), rng.integers(0, 3, 60)
    theirs = peer.BernoulliNB(alpha=0.7).fit(X, y)
    ours = bayeskit.NaiveBayes(kinds="bernoulli", smoothing=0.7, prior="data").fit(X, y)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=1e-12)


@pytest.mark.parametrize(("strategy", "numeric"), [("uniform", "equal-width")])
def test_bins_of_equal_width_are_scikit_learns(strategy, numeric):
    X, y = load_iris(return_X_y=True)
    cutter = KBinsDiscretizer(5, encode="ordinal", strategy=strategy).fit(X)
    ours = bayeskit.NaiveBayes(numeric=numeric, bins=5).fit(X, y)
    for variable, edges in zip(ours.schema_, cutter.bin_edges_, strict=True):
        assert_allclose(variable.edges, edges[1:-1], rtol=1e-14)


def test_a_column_of_huge_scale_does_not_drown_a_small_one():
    # One lognormal revenue column beside a ratio whose classes lie two deviations apart (Bayes accuracy Φ(1) = 0.841).
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 20_000)
    X = np.column_stack([rng.lognormal(15, 2, len(y)), 0.1 * (rng.normal(size=len(y)) + 2 * y)])
    for drop_in in (peer.GaussianNB(), bayeskit.GaussianNB()):
        assert 0.49 < cross_val_score(drop_in, X, y, cv=5).mean() < 0.55
    assert cross_val_score(bayeskit.NaiveBayes(), X, y, cv=5).mean() == pytest.approx(0.841, abs=0.01)
