"""What holds of every mixture: no step lowers the objective, weights repeat rows, files keep bits."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad

import bayeskit
from bayeskit import GaussianMixture, LatentClass
from bayeskit.errors import BayeskitWarning

SHAPES = ["full", "tied", "diagonal", "spherical", "fixed"]
ROUNDING = 1e-9  # of the objective, beside its size


@st.composite
def tables(draw, missing=True):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(8, 40)), draw(st.integers(1, 4))
    X = rng.normal(size=(n, d)) + rng.integers(0, 3, (n, 1)) * draw(st.sampled_from([0.5, 5.0]))
    X = X * 10.0 ** draw(st.integers(-3, 6)) + draw(st.sampled_from([0.0, 1e9]))
    if missing and draw(st.booleans()):
        X[rng.random(X.shape) < 0.2] = np.nan
    weight = rng.integers(1, 4, n).astype(float) if draw(st.booleans()) else None
    return X, weight


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("hard", [False, True])
@given(tables(), st.integers(1, 4))
@settings(max_examples=12, deadline=None)
def test_no_step_lowers_the_objective(shape, hard, table, k):
    X, weight = table
    sigma = float(np.nanstd(X)) + 1e-9 if shape == "fixed" else None
    model = GaussianMixture(k, covariance=shape, hard=hard, sigma=sigma, n_init=1, max_iter=40, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spikes and steps that are not enough are meant here
        model.fit(X, sample_weight=weight)
    path = np.array(model.history_.objective)
    assert (np.diff(path) >= -ROUNDING * (np.abs(path).max() + len(X))).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.sampled_from([0.0, 1.0]))
@settings(max_examples=40, deadline=None)
def test_no_step_of_latent_classes_lowers_the_objective(seed, k, smoothing):
    table, _ = mixed(seed, 40)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LatentClass(k, smoothing=smoothing, n_init=1, max_iter=60, tol=0).fit(table)
    path = np.array(model.history_.objective)
    assert (np.diff(path) >= -ROUNDING * (np.abs(path).max() + 40)).all()


def mixed(seed, n):
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 2, n)
    table = {
        "colour": rng.choice(["red", "green", "blue"], n).tolist(),
        "flag": (rng.random(n) < 0.2 + 0.6 * z).tolist(),
        "size": rng.normal(3.0 * z, 1.0),
    }
    hole = rng.random(n) < 0.2
    table["colour"] = [None if hidden else value for value, hidden in zip(table["colour"], hole, strict=True)]
    table["size"][rng.random(n) < 0.2] = np.nan
    return table, z


def models():
    return [GaussianMixture(2, covariance=shape, sigma=1.0 if shape == "fixed" else None) for shape in SHAPES]


@pytest.mark.parametrize("model", models(), ids=SHAPES)
def test_a_weight_repeats_a_row_and_order_means_nothing(model):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3)) + 4 * rng.integers(0, 2, (60, 1))
    X[rng.random(X.shape) < 0.1] = np.nan
    weight = rng.integers(0, 4, 60)
    order = rng.permutation(60)
    by_weight = model.fit(X, sample_weight=weight).predict_proba(X)
    assert_allclose(model.fit(np.repeat(X, weight, axis=0)).predict_proba(X), by_weight, atol=1e-8)
    assert_allclose(model.fit(X[order], sample_weight=weight[order]).predict_proba(X), by_weight, atol=1e-8)


def test_latent_classes_take_a_weight_as_repetition():
    table, _ = mixed(3, 80)
    weight = np.random.default_rng(0).integers(0, 4, 80)
    rows = np.repeat(np.arange(80), weight)
    again = {name: [column[i] for i in rows] for name, column in table.items()}
    by_weight = LatentClass(2).fit(table, sample_weight=weight).predict_proba(table)
    assert_allclose(LatentClass(2).fit(again).predict_proba(table), by_weight, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_units_and_offsets_change_nothing_but_units(shape):
    rng = np.random.default_rng(7)
    near = np.round((rng.normal(size=(200, 2)) + 5 * rng.integers(0, 2, (200, 1))) * 64) / 64  # held exactly at 1e9
    sigma = 1.0 if shape == "fixed" else None
    model = GaussianMixture(2, covariance=shape, sigma=sigma)
    here, away = model.fit(near).predict_proba(near), model.fit(near + 1e9).predict_proba(near + 1e9)
    assert_allclose(away, here, atol=1e-9)
    if shape in ("full", "tied", "diagonal"):
        units = np.array([1e-6, 1e6])
        assert_allclose(model.fit(near * units).predict_proba(near * units), here, atol=1e-7)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_file_keeps_the_bits(shape, tmp_path):
    X = np.random.default_rng(0).normal(size=(80, 3)) + 3 * np.arange(80)[:, None] % 2
    X[::7, 1] = np.nan
    model = GaussianMixture(2, covariance=shape, sigma=1.0 if shape == "fixed" else None).fit(X)
    model.save(tmp_path / "m.bayes")
    again = bayeskit.load(tmp_path / "m.bayes")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X), strict=True)
    assert_array_equal(again.covariances_, model.covariances_)
    assert again.history_ == model.history_
    assert again.selection_ == model.selection_
    assert str(again.summary()) == str(model.summary())


def test_a_file_of_latent_classes_keeps_the_bits(tmp_path):
    table, _ = mixed(1, 100)
    model = LatentClass(2).fit(table)
    model.save(tmp_path / "m.bayes")
    again = bayeskit.load(tmp_path / "m.bayes")
    assert_array_equal(again.predict_proba(table), model.predict_proba(table), strict=True)
    assert str(again.summary()) == str(model.summary())


def test_a_missing_cell_is_integrated_out():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2)) @ np.array([[1.0, 0.8], [0.0, 0.6]]) + 3 * rng.integers(0, 2, (300, 1))
    model = GaussianMixture(2).fit(X)
    for known in (-1.0, 2.5):
        density, _ = quad(lambda b, a=known: np.exp(model.score_samples([[a, b]])[0]), -12, 15, epsabs=1e-12)
        assert_allclose(model.score_samples([[known, np.nan]])[0], np.log(density), rtol=1e-9)


def test_training_with_missing_cells_climbs_the_likelihood_of_the_known_ones():
    """The end is a maximum: moving any parameter a little lowers the log-likelihood of the known cells."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(150, 3)) @ np.array([[1.0, 0.8, 0.2], [0, 0.6, 0.5], [0, 0, 0.7]])
    X[:75] += 4
    X[rng.random(X.shape) < 0.25] = np.nan
    model = GaussianMixture(2, tol=1e-13, max_iter=5000, regularization=0).fit(X)
    best = model.score_samples(X).sum()
    assert_allclose(best, model.log_likelihood_, rtol=1e-12)
    own = model._state.components
    for part in ("mean", "spread"):
        array = getattr(own, part)
        for _ in range(10):
            move = rng.normal(size=array.shape) * 1e-3
            if part == "spread":
                move = (move + move.transpose(0, 2, 1)) / 2
            before = array.copy()
            array += move
            assert model.score_samples(X).sum() < best
            array[...] = before


def test_non_convergence_says_the_last_change_and_what_to_try():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(
        BayeskitWarning, match=r"stopped after 2 steps, .* improved the objective by .*; raise max_iter or tol"
    ):
        stopped = GaussianMixture(3, max_iter=2, n_init=1).fit(X)
    assert (stopped.converged_, stopped.n_iter_) == (False, 2)
    assert GaussianMixture(3, max_iter=5000, n_init=1).fit(X).converged_
