"""Kernel densities are scipy's with the stated bandwidth, and everything a model can do they can do too."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import bayeskit
from bayeskit import NaiveBayes, bayes_risk, feature_relevance, value_of_information
from bayeskit.counts import numbers
from bayeskit.errors import BayeskitWarning, MergeError, TableError
from bayeskit.kinds import kind_of
from bayeskit.kinds.kde import GRID_BANDWIDTHS, GRID_POINTS

RNG = np.random.default_rng(0)
# Two peaks in class 0, one between them in class 1: no bell curve tells them apart.
Y = RNG.integers(0, 2, 400)
X = np.where(Y == 0, RNG.choice([-2.0, 2.0], 400), 0.0) + 0.5 * RNG.normal(size=400)
COUNTS = RNG.poisson(2.0, 400).astype(float)
TABLE = {"x": X.tolist(), "u": [str(n) for n in RNG.integers(0, 3, 400)]}


def fit(x, y, **parameters):
    return NaiveBayes(kinds={"x": "kde"}, **parameters).fit({"x": x}, y)


def test_the_density_of_each_class_is_scipys_gaussian_kde_with_the_stated_bandwidth():
    model = fit(X, Y, smoothing=0)
    at = np.linspace(-5, 5, 41)
    joint = model.predict_joint_log_proba({"x": at})
    for c in (0, 1):
        own = X[c == Y]
        bandwidth = X.std() / np.cbrt(len(own))
        peer = stats.gaussian_kde(own, bw_method=bandwidth / own.std(ddof=1))
        assert_allclose(joint[:, c], np.log(np.mean(c == Y)) + peer.logpdf(at), rtol=1e-11)
        assert_allclose(model.tables_["x"]["bandwidth", c], bandwidth, rtol=1e-12)


def test_it_tells_apart_what_a_bell_curve_does_not():
    peaks = np.where(Y == 0, RNG.choice([-3.0, 1.0], 400), RNG.choice([-1.0, 3.0], 400))  # in turn, from left to right
    train, test = ({"x": peaks + 0.3 * RNG.normal(size=400)} for _ in range(2))
    assert fit(train["x"], Y).score(test, Y) > 0.99
    assert NaiveBayes().fit(train, Y).score(test, Y) < 0.8


def test_the_unit_of_a_column_changes_no_posterior():
    at = np.linspace(-4, 4, 9)
    assert_allclose(
        fit(X * 1000, Y).predict_proba({"x": at * 1000}), fit(X, Y).predict_proba({"x": at}), rtol=1e-9, atol=1e-12
    )


def test_weights_are_copies_and_so_are_class_weights():
    x, y, weight = [1.0, 2.0, 4.0, 2.0], [0, 0, 1, 1], [2, 1, 3, 0]
    copies = [i for i, n in enumerate(weight) for _ in range(n)]
    at = {"x": [0.0, 3.0]}
    weighted = NaiveBayes(kinds="kde").fit({"x": x}, y, weight)
    repeated = fit([x[i] for i in copies], [y[i] for i in copies])
    assert_allclose(weighted.predict_proba(at), repeated.predict_proba(at), rtol=1e-13)
    twice = fit([*x, 4.0, 2.0], [*y, 1, 1])
    assert_allclose(fit(x, y, class_weight={1: 2}).predict_proba(at), twice.predict_proba(at), rtol=1e-13)


cells = st.floats(-100, 100, width=16) | st.none()
columns = st.lists(st.tuples(cells, st.sampled_from("ab")), min_size=2, max_size=20)


@given(columns, st.integers(1, 19))
@settings(max_examples=60, deadline=None)
def test_batches_merging_and_unlearning_give_the_bits_of_one_fit(rows, cut):
    cut = min(cut, len(rows) - 1)
    halves = [rows[:cut], rows[cut:]]
    assume(all(any(x is not None for x, _ in half) for half in halves))
    parts = [({"x": [x for x, _ in half]}, [c for _, c in half]) for half in halves]
    whole = fit([x for x, _ in rows], [c for _, c in rows])
    at = {"x": [-3.0, 0.0, 17.5, None]}
    grown = NaiveBayes(kinds="kde").partial_fit(*parts[0]).partial_fit(*parts[1])
    merged = fit(parts[0][0]["x"], parts[0][1]).merge(fit(parts[1][0]["x"], parts[1][1]))
    for model in (grown, merged):
        assert_array_equal(model.predict_joint_log_proba(at), whole.predict_joint_log_proba(at), strict=True)
    rest = whole.unlearn(*parts[1])
    first = fit(parts[0][0]["x"], parts[0][1])
    assert_array_equal(rest.predict_joint_log_proba(at), first.predict_joint_log_proba(at), strict=True)


def test_rows_that_were_never_learned_cannot_be_unlearned():
    with pytest.raises(MergeError, match="one of their numbers never occurred"):
        fit([1.0, 2.0, 3.0], [0, 1, 1]).unlearn({"x": [2.5]}, [1])


def test_a_saved_model_gives_the_same_bits(tmp_path):
    model = NaiveBayes(kinds={"x": "kde"}).fit(TABLE, Y)
    model.save(tmp_path / "m.bayes")
    again = bayeskit.load(tmp_path / "m.bayes")
    assert_array_equal(again.predict_joint_log_proba(TABLE), model.predict_joint_log_proba(TABLE), strict=True)
    assert again.partial_fit(TABLE, Y).class_count_.sum() == 800


def test_a_missing_cell_is_left_out_and_an_infinite_one_refused():
    model = NaiveBayes(kinds={"x": "kde"}).fit(TABLE, Y)
    without = NaiveBayes().fit({"u": TABLE["u"]}, Y)
    assert_allclose(model.predict_proba({"x": [None], "u": ["1"]}), without.predict_proba({"u": ["1"]}), rtol=1e-13)
    with pytest.raises(TableError, match=r"infinity .* column 'x', row 1"):
        model.predict({"x": [0.0, np.inf], "u": ["1", "1"]})
    with pytest.raises(TableError, match=r"infinity .* column 'x', row 0"):
        fit([-np.inf, 1.0], [0, 1])
    with pytest.raises(TableError, match="column 'x' cannot be kde: it holds text"):
        fit(["a", "b"], [0, 1])


def test_an_explanation_is_the_log_ratio_of_the_densities():
    model = NaiveBayes(kinds={"x": "kde"}, smoothing=0).fit(TABLE, Y)
    told = model.explain({"x": 1.9, "u": "1"}, classes=(0, 1))
    ratio = [
        stats.gaussian_kde(X[c == Y], bw_method=X.std() / np.cbrt(np.sum(c == Y)) / X[c == Y].std(ddof=1)).logpdf(1.9)
        for c in (0, 1)
    ]
    assert_allclose(told.terms[0], (ratio[0] - ratio[1])[0], rtol=1e-11)
    assert_allclose(told.log_odds, np.diff(model.predict_log_proba({"x": [1.9], "u": ["1"]}))[0, 0] * -1, rtol=1e-11)
    assert "kde" in str(model.summary())


def test_questions_are_answered_by_sums_over_a_grid_that_holds_all_of_the_density():
    model = NaiveBayes(kinds={"x": "kde"}).fit(TABLE, Y)
    fine = np.linspace(-8, 8, 200_001)
    density = np.exp(model.predict_joint_log_proba({"x": fine, "u": [None] * len(fine)})) * (fine[1] - fine[0])
    risk = np.minimum(density[:, 0], density[:, 1]).sum()
    asked = {question.feature: question for question in value_of_information(model, {})}
    assert_allclose(asked["x"].risk_after, risk, rtol=1e-4)
    some = density[(density > 0).all(axis=1)]  # far out both are below the least double
    information = (some * np.log(some / (some.sum(axis=1, keepdims=True) * density.sum(axis=0)))).sum()
    relevance = {each.feature: each.information for each in feature_relevance(model)}
    assert_allclose(relevance["x"], information, rtol=1e-6)


def test_draws_come_from_the_density():
    model = fit(X, Y)
    drawn = np.array(model.sample_columns(20_000, np.random.default_rng(1))[0], dtype=float)
    parts = [
        stats.gaussian_kde(X[c == Y], bw_method=X.std() / np.cbrt(np.sum(c == Y)) / X[c == Y].std(ddof=1))
        for c in (0, 1)
    ]

    def cdf(x):
        return sum(
            model.class_prior_[c] * np.array([part.integrate_box_1d(-np.inf, at) for at in x])
            for c, part in enumerate(parts)
        )

    assert stats.kstest(drawn[:2000], cdf).pvalue > 0.001
    assert abs(bayes_risk(model).risk - (1 - fit(X, Y).score({"x": X}, Y))) < 0.03


def test_a_class_without_a_number_takes_the_density_of_the_column_and_one_number_has_some_width():
    model = fit([1.0, 2.0, None], ["a", "a", "b"], prior="uniform")
    assert_allclose(np.diff(model.predict_log_proba({"x": [1.3]})), 0.0, atol=1e-13)
    alone = fit([5.0, 5.0, 5.0], ["a", "a", "b"], prior="uniform")
    assert_allclose(alone.tables_["x"]["bandwidth", "b"], 5e-3, rtol=1e-12)
    rest = fit([1.0, None, None], ["a", "a", "b"]).unlearn({"x": [1.0]}, ["a"])
    assert_allclose(rest.predict_proba({"x": [0.5]}), rest.predict_proba({"x": [None]}), rtol=1e-13)


def test_kernels_are_the_parameters():
    model = fit([1.0, 1.0, 2.0, 3.0], [0, 0, 0, 1], prior="uniform")
    assert model.n_parameters_ == 3
    assert model.tables_["x"]["kernels", 0] == 2


def test_of_too_many_numbers_bins_are_counted_which_is_said_once_and_splits_change_nothing(monkeypatch):
    monkeypatch.setattr(numbers, "MOST_NUMBERS", 100)
    with pytest.warns(BayeskitWarning, match=r"distinct numbers: 'x' \(bins of 0.0625\); they are binned"):
        whole = fit(X, Y)
    at = np.linspace(-4, 4, 50)
    middles = (np.floor(X / 0.0625) + 0.5) * 0.0625
    joint = whole.predict_joint_log_proba({"x": at})
    for c in (0, 1):
        own = middles[c == Y]
        bandwidth = max(middles.std() / np.cbrt(len(own)), 0.0625)
        peer = stats.gaussian_kde(own, bw_method=bandwidth / own.std(ddof=1))
        assert_allclose(joint[:, c], np.log(whole.class_prior_[c]) + peer.logpdf(at), rtol=1e-11)
    grown = NaiveBayes(kinds="kde").partial_fit({"x": X[:90]}, Y[:90])
    with pytest.warns(BayeskitWarning, match="distinct numbers"):
        grown.partial_fit({"x": X[90:150]}, Y[90:150])
    for start in range(150, 400, 50):  # without a warning, which would be an error here
        grown.partial_fit({"x": X[start : start + 50]}, Y[start : start + 50])
    assert_array_equal(grown.predict_joint_log_proba({"x": at}), joint, strict=True)


def test_it_is_for_all_numeric_columns_with_one_word_and_refused_where_values_are_counted():
    model = NaiveBayes(numeric="kde").fit(np.column_stack([X, COUNTS]), Y)
    assert [variable.kind for variable in model.schema_] == ["kde", "kde"]
    with pytest.raises(TableError, match="kinds says 'kde', but TAN counts values"):
        bayeskit.TAN(kinds={"x": "kde"}).fit(TABLE, Y)


@pytest.mark.parametrize("unit", [2.0**-1000, 2.0**-540, 2.0**1000, 2.0**1021])
def test_the_unit_of_a_column_takes_no_part_however_large_or_small_it_is(unit):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    x = (rng.integers(-8, 9, (200, 1)) + 4 * y[:, None]) / 8.0  # exact in any of the units
    plain, scaled = (NaiveBayes(numeric="kde").fit(x * u, y) for u in (1.0, unit))
    assert_allclose(scaled.predict_proba(x * unit), plain.predict_proba(x), rtol=1e-9)


def test_the_table_of_a_column_has_the_mean_of_each_class():
    table = fit([1.0, 2.0, 6.0, 4.0, 4.0], ["a", "a", "a", "b", "b"]).tables_["x"]
    assert table.rows == ("kernels", "mean", "bandwidth")
    assert_allclose(table.values[:2], [[3, 1], [3.0, 4.0]], rtol=1e-12)


def test_the_grid_begins_as_far_below_the_least_number_as_it_ends_above_the_largest():
    model = NaiveBayes(numeric="kde").fit({"x": [1.0, 2.0, 3.0, 2.5]}, ["a", "b", "b", "b"])
    variable, parameters = model.schema_["x"], model._beliefs.parameters[0]
    points = np.array(kind_of(variable).grid(variable, parameters).values)
    reach = GRID_BANDWIDTHS * parameters.bandwidth
    low, high = (1.0 - reach[0], 2.0 - reach[1]), (1.0 + reach[0], 3.0 + reach[1])
    step = parameters.bandwidth.max() / GRID_POINTS
    assert_allclose([points[0], points[-1]], [min(low), max(high)], atol=step)
    assert points[0] <= min(low) + step
