"""Gaussian mixtures: what they refuse, what they say, and what they are used with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import GaussianMixture, datasets
from bayeskit.errors import BayeskitError, BayeskitWarning, TableError


def blobs(n=150, k=3, d=2, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % k
    return rng.normal(size=(n, d)) + 8 * rng.permutation(np.eye(max(k, d)))[:k, :d][labels] * (
        1 + labels[:, None]
    ), labels


def agree(a, b):
    """Whether two labellings name the same groups."""
    return len(set(zip(a, b, strict=True))) == len(set(a)) == len(set(b))


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_blobs_are_found_and_counted(covariance):
    X, labels = blobs()
    model = GaussianMixture(covariance=covariance).fit(X)
    assert model.n_components_ == 3
    assert agree(model.labels_.tolist(), labels.tolist())
    assert [each.n_components for each in model.selection_] == [1, 2, 3, 4, 5, 6]
    best = min(model.selection_, key=lambda each: each.bic)
    assert best.n_components == 3
    assert_allclose(best.bic, model.bic(X), rtol=1e-12)
    assert_allclose(best.aic, model.aic(X), rtol=1e-12)


def test_a_number_that_was_chosen_gives_the_model_of_that_number():
    X, _ = blobs()
    assert_array_equal(GaussianMixture().fit(X).means_, GaussianMixture(3).fit(X).means_)


def test_fixed_follows_the_textbook():
    """E[z_ij] ∝ exp(-(x_i - μ_j)² / 2σ²), μ_j ← Σ E[z_ij] x_i / Σ E[z_ij] (Mitchell, section 6.12; not 1/m)."""
    x, means, sigma = np.array([1.0, 1.5, 4.0, 5.5, 6.0]), np.array([2.0, 5.0]), 1.2
    model = GaussianMixture(2, covariance="fixed", sigma=sigma, init=means[:, None], max_iter=3, tol=0)
    with pytest.warns(BayeskitWarning, match="stopped after 3 steps"):
        model.fit(x[:, None])
    for _ in range(3):
        share = np.exp(-((x[:, None] - means) ** 2) / (2 * sigma**2))
        share /= share.sum(axis=1, keepdims=True)
        means = (share * x[:, None]).sum(axis=0) / share.sum(axis=0)
    assert_allclose(model.means_[:, 0], means, rtol=1e-13)
    assert_array_equal(model.weights_, [0.5, 0.5])
    assert float(model.covariances_) == pytest.approx(sigma**2)


def test_a_component_that_dies_is_placed_anew_and_said():
    X = np.concatenate([np.zeros((5, 1)), np.full((5, 1), 10.0), np.full((5, 1), 11.0)]) + np.arange(15)[:, None] / 1e3
    init = [[0.0], [500.0], [10.0]]
    with pytest.warns(BayeskitWarning, match=r"left without rows 1 time\(s\) and was re-initialised"):
        model = GaussianMixture(3, covariance="fixed", hard=True, init=init).fit(X)
    assert_allclose(np.sort(model.means_[:, 0]), [0.002, 10.007, 11.012])
    assert (np.diff(model.history_.objective) >= 0).all()  # a new history


def test_more_components_than_rows_are_refused():
    with pytest.raises(BayeskitError, match="n_components is 4, but there are only 3 rows"):
        GaussianMixture(4).fit([[1.0], [2.0], [3.0]])
    with pytest.raises(BayeskitError, match="only 2 distinct rows"):
        GaussianMixture(3).fit([[1.0], [1.0], [3.0], [3.0]])
    with pytest.raises(BayeskitError, match="only 2 rows"):
        GaussianMixture(3).fit([[1.0], [2.0], [3.0]], sample_weight=[1, 0, 2])


def test_a_singular_covariance_is_refused_without_regularisation_and_said_with_it():
    X = np.random.default_rng(0).normal(size=(60, 1)) @ [[1.0, 2.0]]
    with pytest.raises(BayeskitError, match=r"covariance of component 0 of 1 became singular.*Raise regularization"):
        GaussianMixture(1, regularization=0).fit(X)
    assert np.isfinite(GaussianMixture(1).fit(X).log_likelihood_)
    Y = np.concatenate([np.full((20, 2), 3.0), np.random.default_rng(1).normal(size=(40, 2))])
    with pytest.warns(BayeskitWarning, match="has one value of column 'x0' throughout"):
        GaussianMixture(2).fit(Y)


def test_constant_and_empty_columns_are_left_out_and_said():
    X, labels = blobs()
    wide = np.column_stack([np.full(150, 7.0), X, np.full(150, np.nan)])
    with pytest.warns(BayeskitWarning, match="left out: 'x0', 'x3'"):
        model = GaussianMixture(3).fit(wide)
    assert_array_equal(model.predict_proba(wide), GaussianMixture(3).fit(X).predict_proba(X))
    assert_array_equal(model.means_[:, 0], [7.0] * 3)
    assert np.isnan(model.means_[:, 3]).all()
    assert model.covariances_[:, 0].sum() == 0
    with pytest.raises(TableError, match="every column is constant or empty"):
        GaussianMixture(1).fit(np.ones((4, 2)))
    drawn, _ = model.sample(5, random_state=0)
    assert (drawn[:, 0] == 7.0).all()
    assert agree(labels.tolist(), model.labels_.tolist())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sample_weight": np.zeros(150)}, "sample_weight is zero in every row"),
        ({"sample_weight": np.full(150, -1.0)}, "must not be negative"),
        ({"sample_weight": np.ones(3)}, "expected"),
    ],
)
def test_weights_are_checked(given, message):
    with pytest.raises(TableError, match=message):
        GaussianMixture(2).fit(blobs()[0], **given)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"covariance": "round"}, "The 'covariance' parameter of GaussianMixture must be one of 'full'"),
        ({"n_components": 0}, "must be 'auto' or a whole number of at least 1"),
        ({"covariance": "fixed"}, "needs sigma"),
        ({"sigma": 1.0}, "sigma is for covariance='fixed'"),
        ({"covariance": "fixed", "hard": True}, "k-means has no likelihood"),
        ({"init": [[1.0, 2.0]]}, "pass n_components too"),
        ({"n_components": 2, "init": [[1.0, 2.0]]}, r"init must be finite means of shape \(2, 2\)"),
        ({"n_components": 1, "init": {"means": [[1.0, 2.0]]}}, "init needs 'weights', 'means' and 'covariances'"),
        ({"init": "random"}, "must be 'k-means\\+\\+'"),
        ({"tol": -1}, "must be a finite number of at least 0"),
    ],
)
def test_odd_parameters_are_refused(parameters, message):
    with pytest.raises(BayeskitError, match=message):
        GaussianMixture(**parameters).fit(blobs()[0])


def test_text_and_infinity_are_refused_by_name():
    with pytest.raises(TableError, match="column 'island' cannot be gaussian: it holds text"):
        GaussianMixture(2).fit(datasets.load_penguins() | {"species": [1.0] * 344})
    with pytest.raises(TableError, match=r"contains infinity.*column 'a', row 1"):
        GaussianMixture(2).fit({"a": [1.0, np.inf, 2.0]})
    with pytest.raises(TableError, match="squares of their differences overflow"):
        GaussianMixture(2).fit({"a": [1.0, 1e300, -1e300]})


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_with_holes_give_what_a_dict_gives(library):
    frames = pytest.importorskip(library, reason=f"frames come from {library}")
    birds = datasets.load_penguins()
    table = {name: birds[name] for name in ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")}
    frame = frames.table(table) if library == "pyarrow" else frames.DataFrame(table)
    model = GaussianMixture(3).fit(table)
    assert_allclose(model.predict_proba(frame), GaussianMixture(3).fit(frame).predict_proba(table), atol=1e-12)
    assert list(model.feature_names_in_) == list(table)
    turned = dict(reversed(table.items()))
    assert_array_equal(model.predict(turned), model.labels_)


def test_drawn_rows_have_the_moments_of_the_mixture():
    X, _ = blobs(k=2)
    model = GaussianMixture(2).fit(X)
    drawn, labels = model.sample(40_000, random_state=1)
    for c in range(2):
        own = drawn[labels == c]
        n, weight, covariance = len(own), model.weights_[c], model.covariances_[c]
        variance = np.diag(covariance)
        # Four standard errors of a share, of a mean and of a covariance of n normal rows (Anderson 2003, section 3.4).
        assert abs(n / 40_000 - weight) < 4 * np.sqrt(weight * (1 - weight) / 40_000)
        assert (abs(own.mean(axis=0) - model.means_[c]) < 4 * np.sqrt(variance / n)).all()
        error = np.sqrt((np.outer(variance, variance) + covariance**2) / n)
        assert (abs(np.cov(own.T) - covariance) < 4 * error).all()


def test_an_explanation_adds_up_and_a_summary_names_the_columns():
    birds = datasets.load_penguins()
    table = {name: birds[name] for name in ("bill_length_mm", "bill_depth_mm", "body_mass_g")}
    model = GaussianMixture(2).fit(table)
    row = {"bill_length_mm": 39.1, "bill_depth_mm": 18.7, "body_mass_g": None}
    found = model.explain(row)
    log = model.predict_log_proba({name: [value] for name, value in row.items()})[0]
    a, b = found.classes
    assert_allclose(found.log_odds, log[a] - log[b], rtol=1e-9)
    text = str(model.summary())
    assert text.startswith("GaussianMixture: 3 features, 2 clusters")
    assert "bill_depth_mm low" in text
    assert model.summary().to_json()["clusters"][0]["cluster"] == 0


def test_a_picture_has_two_ellipses_per_cluster():
    pytest.importorskip("matplotlib", reason="pictures need matplotlib")
    import matplotlib

    matplotlib.use("Agg")
    X, _ = blobs(d=3)
    model = GaussianMixture(3).fit(X)
    ax = model.plot(X)
    assert len(ax.patches) == 6
    assert model.history_.plot().get_ylabel() == "objective"
    with pytest.raises(BayeskitError, match="column 'x9' is not one of"):
        model.plot(X, columns=("x0", "x9"))


def test_threads_do_not_change_a_bit():
    X = np.random.default_rng(0).normal(size=(60_000, 4)) + 3 * (np.arange(60_000) % 2)[:, None]
    found = []
    for n in (1, 3):
        with bayeskit.threads(n):
            found.append(GaussianMixture(2, n_init=1).fit(X).means_)
    assert_array_equal(*found)


def test_a_row_beyond_all_densities_is_refused_by_number():
    model = GaussianMixture(2).fit(blobs()[0])
    with pytest.raises(BayeskitError, match="row 1: it lies so far from every component"):
        model.predict([[0.0, 0.0], [1e200, 0.0]])
    assert model.score_samples([[1e200, 0.0]])[0] == -np.inf
