"""GaussianBayes: moments that add, EM over missing cells, singular classes, bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

import bayeskit
from bayeskit import GaussianBayes
from bayeskit.errors import BayeskitError, MergeError, TableError, TooLargeError

X, Y = load_iris(return_X_y=True)
KINDS = ["full", "tied", "diagonal", "spherical"]


def with_holes(share=0.2, seed=0):
    table = X.copy()
    table[np.random.default_rng(seed).random(table.shape) < share] = np.nan
    return table


def observed_log_likelihood(model, table):
    return float(model.predict_joint_log_proba(table)[np.arange(len(table)), Y].sum())


@pytest.mark.parametrize("covariance", KINDS)
@pytest.mark.parametrize("table", [X, with_holes()], ids=["whole", "holes"])
def test_batches_merging_and_unlearning_give_what_one_fit_gives(covariance, table):
    whole = GaussianBayes(covariance=covariance).fit(table, Y).predict_proba(table)
    batches = GaussianBayes(covariance=covariance)
    for part in np.array_split(np.random.default_rng(0).permutation(150), 4):
        batches.partial_fit(table[part], Y[part], classes=[0, 1, 2])
    assert_allclose(batches.predict_proba(table), whole, rtol=0, atol=1e-9)
    a, b = GaussianBayes(covariance=covariance), GaussianBayes(covariance=covariance)
    a.fit(table[:100], Y[:100]).merge(b.fit(table[100:], Y[100:]))
    assert_allclose(a.predict_proba(table), whole, rtol=0, atol=1e-9)
    a.unlearn(table[100:], Y[100:])
    assert_allclose(
        a.predict_proba(table),
        GaussianBayes(covariance=covariance).fit(table[:100], Y[:100]).predict_proba(table),
        rtol=0,
        atol=1e-9,
    )


def test_unlearning_rows_far_away_leaves_no_trace():
    far = 1e9 + 1e6 * np.random.default_rng(0).normal(size=(30, 4))
    model = GaussianBayes().fit(np.concatenate([X, far]), np.concatenate([Y, np.zeros(30, int)]))
    model.unlearn(far, np.zeros(30, int))
    assert_allclose(model.predict_proba(X), GaussianBayes().fit(X, Y).predict_proba(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_an_offset_changes_no_posterior(offset):
    table = np.round(X * 1024) / 1024  # so that the offset is added without rounding
    expected = GaussianBayes().fit(table, Y).predict_proba(table)
    assert_allclose(GaussianBayes().fit(table + offset, Y).predict_proba(table + offset), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-100, 1e-12, 1e12, 1e100])
def test_a_unit_changes_no_posterior(scale):
    expected = GaussianBayes().fit(X, Y).predict_proba(X)
    unit = np.array([1.0, scale, 1.0, scale])
    assert_allclose(GaussianBayes().fit(X * unit, Y).predict_proba(X * unit), expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_em_climbs_to_where_no_small_change_is_better(covariance):
    table = with_holes()
    model = GaussianBayes(covariance=covariance, tol=1e-11).fit(table, Y)
    for history in model.em_histories_:
        assert history.converged
        assert (np.diff(history.objective) >= -1e-12).all()
    best = observed_log_likelihood(model, table)
    gaussians = model._beliefs.gaussians
    mean, matrix = gaussians.mean.copy(), gaussians.covariance.copy()
    rng = np.random.default_rng(1)
    for _ in range(20):
        # Any nearby parameters give less: scale, shear and shift at random.
        change = np.eye(4) + 0.02 * rng.normal(size=(4, 4))
        gaussians.covariance[:] = change @ matrix @ change.T
        gaussians.mean[:] = mean + 0.02 * rng.normal(size=(3, 4))
        model._beliefs._factors.clear()
        model._beliefs.__dict__.pop("_scales", None)
        assert observed_log_likelihood(model, table) < best


def test_em_equals_em_over_rows():
    """A plain EM that goes through the rows one by one, for the first class."""
    table = with_holes()[Y == 0]
    mean, matrix = np.nanmean(table, axis=0), np.diag(np.nanvar(table, axis=0))
    for _ in range(100):
        filled, extra = np.empty_like(table), np.zeros((4, 4))
        for i, row in enumerate(table):
            h, o = np.flatnonzero(np.isnan(row)), np.flatnonzero(~np.isnan(row))
            slopes = matrix[np.ix_(h, o)] @ np.linalg.inv(matrix[np.ix_(o, o)])
            filled[i, o] = row[o]
            filled[i, h] = mean[h] + slopes @ (row[o] - mean[o])
            extra[np.ix_(h, h)] += matrix[np.ix_(h, h)] - slopes @ matrix[np.ix_(o, h)]
        mean = filled.mean(axis=0)
        matrix = ((filled - mean).T @ (filled - mean) + extra) / len(table)
    model = GaussianBayes(tol=0.0, max_iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(with_holes(), Y)
        assert_allclose(model.means_[0], mean, rtol=1e-9)
        assert_allclose(model.covariances_[0], matrix, rtol=1e-7, atol=1e-10)


@pytest.mark.parametrize("covariance", KINDS)
def test_a_missing_cell_is_integrated_out(covariance):
    model = GaussianBayes(covariance=covariance).fit(X, Y)
    row = X[60].copy()
    row[2] = np.nan
    points = np.linspace(-40, 50, 200_001)
    grid = np.repeat(row[None, :], len(points), axis=0)
    grid[:, 2] = points
    density = np.exp(model.predict_joint_log_proba(grid)).sum(axis=0) * (points[1] - points[0])
    assert_allclose(np.exp(model.predict_joint_log_proba(row[None]))[0], density, rtol=1e-9)


def test_weights_are_repetitions_and_zero_is_absence():
    times = np.random.default_rng(0).integers(0, 4, 150)
    weighted = GaussianBayes().fit(X, Y, sample_weight=times)
    repeated = GaussianBayes().fit(np.repeat(X, times, axis=0), np.repeat(Y, times))
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), rtol=0, atol=1e-12)
    with pytest.raises(BayeskitError, match="weight"):
        GaussianBayes().fit(X, Y, sample_weight=np.zeros(150))


@pytest.mark.parametrize("covariance", KINDS)
def test_singular_classes_are_handled_without_a_warning_and_said(covariance):
    table = np.column_stack([X, X[:, 0] - X[:, 1], np.full(150, 7.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = GaussianBayes(covariance=covariance).fit(table, Y)
        posterior = model.predict_proba(table)
    assert np.isfinite(posterior).all()
    assert model.score(table, Y) > 0.85
    if covariance in ("full", "tied"):
        assert_array_equal(model.ranks_, 4)
        assert "rank 4 of 6" in str(model.summary())
    else:
        assert "rank" not in str(GaussianBayes(covariance=covariance).fit(X, Y).summary())


def test_a_class_of_one_row_and_two_rows():
    rows, y = np.concatenate([X[:50], X[[60]], X[100:102]]), np.array([0] * 50 + [1] + [2] * 2)
    model = GaussianBayes().fit(rows, y)
    assert_array_equal(model.ranks_, [4, 0, 1])
    assert_array_equal(model.predict(rows), y)
    assert GaussianBayes(variance="unbiased").fit(rows, y).predict(rows[50:51]) == [1]


def test_shrinkage_mixes_with_the_sphere():
    plain, half, sphere = (GaussianBayes(shrinkage=a).fit(X, Y).covariances_ for a in (0.0, 0.25, 1.0))
    expected = np.trace(plain, axis1=1, axis2=2)[:, None, None] / 4 * np.eye(4)
    assert_allclose(sphere, expected, rtol=1e-14)
    assert_allclose(half, 0.75 * plain + 0.25 * expected, rtol=1e-13)


def test_a_column_without_a_value_waits_for_one():
    table = X.copy()
    table[:, 3] = np.nan
    with pytest.warns(bayeskit.errors.BayeskitWarning, match="'x3' has no value in any row"):
        model = GaussianBayes().fit(table, Y)
    assert_allclose(model.predict_proba(X), GaussianBayes().fit(X[:, :3], Y).predict_proba(X[:, :3]), rtol=1e-12)
    assert np.isnan(model.means_[:, 3]).all()
    model.partial_fit(X, Y)
    assert np.isfinite(model.means_).all()


def test_save_and_load_keep_every_bit(tmp_path):
    model = GaussianBayes(shrinkage=0.1, prior={"a": 0.5, "b": 0.25, "c": 0.25}).fit(
        with_holes(), np.array(list("abc"))[Y]
    )
    model.save(tmp_path / "m.bayes")
    loaded = bayeskit.load(tmp_path / "m.bayes")
    assert_array_equal(loaded.predict_log_proba(with_holes()), model.predict_log_proba(with_holes()), strict=True)
    loaded.partial_fit(X, np.array(list("abc"))[Y])


def test_risk_and_explanations_use_the_joint_density():
    model = GaussianBayes().fit(X, Y)
    risk = bayeskit.bayes_risk(model, random_state=0, n_samples=20_000)
    assert 0.0 < risk.risk < 0.05
    found = model.explain(X[70])
    log_proba = model.predict_log_proba(X[70:71])[0]
    a, b = (model.classes_.tolist().index(c) for c in found.classes)
    assert_allclose(found.log_odds, log_proba[a] - log_proba[b], rtol=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"covariance": "banana"}, "must be one of 'full'"),
        ({"shrinkage": 1.5}, "a number from 0 to 1"),
        ({"shrinkage": float("nan")}, "a number from 0 to 1"),
        ({"variance": "n"}, "one of 'ml' or 'unbiased'"),
        ({"prior": [0.5, 0.5]}, "Number of priors"),
        ({"max_iter": 0}, "at least 1"),
        ({"tol": -1}, "at least 0"),
        ({"max_memory": "much"}, "a number of bytes"),
    ],
)
def test_parameters_are_refused_in_words(parameters, message):
    with pytest.raises(BayeskitError, match=message):
        GaussianBayes(**parameters).fit(X, Y)


def test_bad_cells_are_refused_by_name():
    with pytest.raises(ValueError, match="'wind'"):
        GaussianBayes().fit({"wind": ["weak", "strong"], "t": [1.0, 2.0]}, [0, 1])
    with pytest.raises(TableError, match="x1"):
        GaussianBayes().fit([[1.0, np.inf], [2.0, 1.0]], [0, 1])
    for scale, word in ((1e200, "large"), (1e-200, "small")):
        with pytest.raises(TableError, match=f"column 'x1' holds numbers so {word}"):
            GaussianBayes().fit(X * [1, scale, 1, 1], Y)
    with pytest.raises(TooLargeError, match=r"different sets of missing cells.*raise max_memory"):
        GaussianBayes(max_memory=1000).fit(with_holes(), Y)
    with pytest.raises(MergeError, match="same missing cells"):
        GaussianBayes().fit(X, Y).unlearn([[np.nan, 1.0, 1.0, 1.0]], [0])


def test_em_that_does_not_end_says_so():
    with pytest.warns(bayeskit.errors.BayeskitWarning, match="EM stopped after 2 steps"):
        GaussianBayes(max_iter=2, covariance="tied").fit(with_holes(), Y).predict(X)


def test_widening_a_narrow_direction_leaves_the_others_as_they_are():
    X = [[0.0, 0.0], [2.0, 0.0], [4.0, 0.0], [1.0, 1.0], [3.0, 2.0], [2.0, 4.0]]
    model = GaussianBayes().fit(X, [0, 0, 0, 1, 1, 1])
    assert model.ranks_.tolist() == [1, 2]
    assert_allclose(model.covariances_[0, 0, 0], np.var([0.0, 2.0, 4.0]), rtol=1e-12)
    # A thousandth of the column's deviation over all rows.
    assert_allclose(model.covariances_[0, 1, 1], 1e-6 * np.var([row[1] for row in X]), rtol=1e-9)


def test_a_table_of_columns_with_holes_is_the_array_with_holes():
    table = with_holes()
    columns = {f"x{j}": [None if np.isnan(cell) else cell for cell in table[:, j]] for j in range(table.shape[1])}
    by_column, by_array = GaussianBayes().fit(columns, Y), GaussianBayes().fit(table, Y)
    assert_allclose(by_column.covariances_, by_array.covariances_, rtol=1e-12)


def test_diagonal_variances_of_columns_with_holes_are_those_of_the_known_cells():
    table = with_holes() + 1e6
    model = GaussianBayes(covariance="diagonal").fit(table, Y)
    for c in range(3):
        assert_allclose(np.diag(model.covariances_[c]), np.nanvar(table[c == Y], axis=0), rtol=1e-6)
        assert_allclose(model.means_[c], np.nanmean(table[c == Y], axis=0), rtol=1e-12)


def test_shrinkage_leaves_the_variance_of_a_single_column_as_it_is():
    plain, shrunken = (GaussianBayes(shrinkage=s).fit(X[:, :1], Y).covariances_ for s in (0.0, 0.7))
    assert_allclose(shrunken, plain, rtol=1e-12)


@pytest.mark.parametrize("covariance", ["full", "tied"])
def test_an_unbiased_covariance_of_as_many_rows_as_classes_is_the_least_that_is_allowed(covariance):
    model = GaussianBayes(covariance=covariance, variance="unbiased").fit(np.array([[0.0], [2.0]]), ["a", "b"])
    assert_allclose(model.covariances_.ravel(), 1e-6, rtol=1e-9)  # of the whole column's variance, which is 1
    assert model.predict([[0.1], [1.9]]).tolist() == ["a", "b"]


@pytest.mark.parametrize("covariance", KINDS)
def test_score_samples_is_the_sum_over_the_classes_of_the_joint_density(covariance):
    model = GaussianBayes(covariance=covariance).fit(X, Y)
    assert_allclose(model.score_samples(X), np.logaddexp.reduce(model.predict_joint_log_proba(X), axis=1), rtol=1e-9)
