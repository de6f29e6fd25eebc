"""Where the definitions agree, the numbers are scikit-learn's."""

import numpy as np
import pytest
import sklearn.naive_bayes as peer
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, load_wine
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


@pytest.mark.parametrize("load", [load_iris, load_wine])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("priors", [None, [0.2, 0.3, 0.5]])
def test_gaussian_nb_is_scikit_learns_without_smoothing(load, weighted, priors):
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).random(len(y)) if weighted else None
    theirs = peer.GaussianNB(var_smoothing=0, priors=priors).fit(X, y, weight)
    ours = bayeskit.GaussianNB(var_smoothing=0, priors=priors).fit(X, y, weight)
    assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    assert_allclose(ours.var_, theirs.var_, rtol=ROUNDING)
    assert_allclose(ours.class_prior_, theirs.class_prior_, rtol=1e-12)
    assert_allclose(ours.class_count_, theirs.class_count_, rtol=1e-12)
    assert_allclose(ours.predict_joint_log_proba(X), theirs.predict_joint_log_proba(X), rtol=ROUNDING)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-7, atol=1e-14)
    assert_array_equal(ours.predict(X), theirs.predict(X))


def test_gaussian_batches_are_scikit_learns():
    X, y = load_iris(return_X_y=True)
    ours, theirs = bayeskit.GaussianNB(var_smoothing=0), peer.GaussianNB(var_smoothing=0)
    for rows in np.array_split(np.random.default_rng(1).permutation(len(y)), 7):
        ours.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        theirs.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert_allclose(ours.theta_, theirs.theta_, rtol=1e-12)
    assert_allclose(ours.var_, theirs.var_, rtol=ROUNDING)


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
    theirs = cross_val_score(peer.GaussianNB(), X, y, cv=5).mean()
    assert 0.49 < theirs < 0.55
    for model in (bayeskit.NaiveBayes(), bayeskit.GaussianNB()):
        assert cross_val_score(model, X, y, cv=5).mean() == pytest.approx(0.841, abs=0.01)
