"""Log-normal columns are scipy's, and everything a model can do they can do too."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

import bayeskit
from bayeskit import NaiveBayes, feature_relevance, value_of_information
from bayeskit.errors import TableError

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 300)
X = np.exp(RNG.normal(np.where(Y == 0, 1.0, 2.5), np.where(Y == 0, 0.8, 0.4)))
TABLE = {"price": X.tolist(), "u": [str(n) for n in RNG.integers(0, 3, 300)]}


def fit(x, y, **parameters):
    return NaiveBayes(kinds={"price": "lognormal"}, **parameters).fit({"price": x}, y)


def test_the_density_of_each_class_is_scipys_lognorm():
    model = fit(X, Y, smoothing=0, variance="ml")
    at = np.array([1e-3, 0.5, 3.0, 400.0])
    joint = model.predict_joint_log_proba({"price": at})
    for c in (0, 1):
        shape, _, scale = stats.lognorm.fit(X[c == Y], floc=0)
        expected = np.log(np.mean(c == Y)) + stats.lognorm(shape, scale=scale).logpdf(at)
        assert_allclose(joint[:, c], expected, rtol=1e-12)
        assert_allclose(model.tables_["price"].values[:, c], [np.log(scale), shape], rtol=1e-12)
    assert model.tables_["price"].rows == ("mean of log", "deviation of log")


def test_posteriors_are_those_of_a_gaussian_column_of_logarithms():
    at = np.array([0.1, 2.0, 50.0])
    logs = NaiveBayes().fit({"log": np.log(X)}, Y)
    assert_allclose(fit(X, Y).predict_proba({"price": at}), logs.predict_proba({"log": np.log(at)}), rtol=1e-12)


@pytest.mark.parametrize("bad", [0.0, -3.5])
def test_a_number_that_is_not_above_zero_is_refused_by_column_and_row(bad):
    message = rf"column 'price', row 1: a lognormal column holds numbers above zero; got {bad!r}"
    with pytest.raises(TableError, match=message):
        fit([1.0, bad, 2.0], [0, 1, 1])
    model = fit([1.0, 3.0, 2.0], [0, 1, 1])
    for ask in (model.predict, model.explain_rows, model.partial_fit):
        with pytest.raises(TableError, match=message):
            ask({"price": [1.0, bad]}, *([[0, 1]] if ask == model.partial_fit else []))
    assert_array_equal(model.class_count_, [1, 2])
    with pytest.raises(TableError, match=r"infinity .* column 'price', row 0"):
        model.predict({"price": [np.inf]})
    with pytest.raises(TableError, match="column 'price' cannot be lognormal: it holds text"):
        fit(["a", "b"], [0, 1])


rows = st.lists(
    st.tuples(st.floats(2.0**-10, 2.0**10, width=16) | st.none(), st.sampled_from("ab")), min_size=2, max_size=20
)


@given(rows, st.integers(1, 19))
@settings(max_examples=60, deadline=None)
def test_batches_and_merging_give_the_model_of_one_fit(rows, cut):
    cut = min(cut, len(rows) - 1)
    halves = [rows[:cut], rows[cut:]]
    assume(all(any(x is not None for x, _ in half) for half in halves))
    parts = [({"price": [x for x, _ in half]}, [c for _, c in half]) for half in halves]
    whole = fit([x for x, _ in rows], [c for _, c in rows])
    grown = NaiveBayes(kinds="lognormal").partial_fit(*parts[0]).partial_fit(*parts[1])
    merged = fit(parts[0][0]["price"], parts[0][1]).merge(fit(parts[1][0]["price"], parts[1][1]))
    deviation = whole.tables_["price"].values[1]
    assert_allclose(grown.tables_["price"].values[0], whole.tables_["price"].values[0], rtol=1e-12, atol=1e-12)
    # The square root turns a rounding of 1e-16 of a scatter that is nearly none into 1e-8.
    assert_allclose(grown.tables_["price"].values[1], deviation, rtol=1e-12, atol=1e-7)
    assert_array_equal(merged.tables_["price"].values, grown.tables_["price"].values)


def test_unlearned_rows_leave_the_model_of_the_others():
    model = fit(X, Y).unlearn({"price": X[200:]}, Y[200:])
    at = {"price": [0.5, 5.0, 20.0, None]}
    assert_allclose(model.predict_proba(at), fit(X[:200], Y[:200]).predict_proba(at), rtol=1e-9)


def test_a_saved_model_gives_the_same_bits_and_a_missing_cell_is_left_out(tmp_path):
    model = NaiveBayes(kinds={"price": "lognormal"}).fit(TABLE, Y)
    model.save(tmp_path / "m.bayes")
    again = bayeskit.load(tmp_path / "m.bayes")
    assert_array_equal(again.predict_joint_log_proba(TABLE), model.predict_joint_log_proba(TABLE), strict=True)
    without = NaiveBayes().fit({"u": TABLE["u"]}, Y)
    hidden = {"price": [np.nan], "u": ["1"]}
    assert_allclose(again.predict_proba(hidden), without.predict_proba({"u": ["1"]}), rtol=1e-13)
    assert not again.explain({"price": None, "u": "1"}).used[0]


def test_an_explanation_is_the_log_ratio_of_the_densities():
    model = NaiveBayes(kinds={"price": "lognormal"}, variance="ml").fit(TABLE, Y)
    fitted = [stats.lognorm(*stats.lognorm.fit(X[c == Y], floc=0)) for c in (0, 1)]
    told = model.explain({"price": 4.0, "u": "1"}, classes=(0, 1))
    assert_allclose(told.terms[0], fitted[0].logpdf(4.0) - fitted[1].logpdf(4.0), rtol=1e-11)
    assert "lognormal" in str(model.summary())


def test_questions_are_answered_by_integrals_over_the_density():
    model = NaiveBayes(kinds={"price": "lognormal"}).fit(TABLE, Y)
    logs = np.linspace(-8, 10, 400_001)
    at = np.exp(logs)
    density = (
        np.exp(model.predict_joint_log_proba({"price": at, "u": [None] * len(at)}))
        * (at * (logs[1] - logs[0]))[:, None]
    )
    asked = {question.feature: question for question in value_of_information(model, {})}
    assert_allclose(asked["price"].risk_after, np.minimum(*density.T).sum(), rtol=1e-5)
    some = density[(density > 0).all(axis=1)]
    information = (some * np.log(some / (some.sum(axis=1, keepdims=True) * density.sum(axis=0)))).sum()
    relevance = {each.feature: each.information for each in feature_relevance(model)}
    assert_allclose(relevance["price"], information, rtol=1e-6)


def test_draws_come_from_the_density():
    model = fit(X, Y)
    drawn = np.array(model.sample_columns(5000, np.random.default_rng(1))[0], dtype=float)
    fitted = [stats.lognorm(*stats.lognorm.fit(X[c == Y], floc=0)) for c in (0, 1)]

    def cdf(x):
        return sum(p * part.cdf(x) for p, part in zip(model.class_prior_, fitted, strict=True))

    assert stats.kstest(drawn, cdf).pvalue > 0.001


def test_mean_and_deviation_are_the_parameters():
    assert fit(X, Y, prior="uniform").n_parameters_ == 4
