"""What a fitted naive Bayes model is, and the corners of its life."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import CategoricalNB, GaussianNB, NaiveBayes
from bayeskit.datasets import load_penguins, load_tennis
from bayeskit.errors import BayeskitError

TENNIS = load_tennis()


def test_the_target_may_be_named_and_the_whole_table_may_come_again():
    named = NaiveBayes().fit(TENNIS, target="play")
    X = {name: values for name, values in TENNIS.items() if name != "play"}
    apart = NaiveBayes().fit(X, TENNIS["play"])
    assert_array_equal(named.predict_proba(TENNIS), apart.predict_proba(X))
    assert_array_equal(named.predict_proba(X), apart.predict_proba(X))
    assert named.log_likelihood(TENNIS, target="play") == apart.log_likelihood(X, TENNIS["play"])
    assert apart.log_likelihood(TENNIS, target="play") == apart.log_likelihood(X, TENNIS["play"])


def test_a_later_batch_without_target_does_not_forget_it():
    X = {name: values for name, values in TENNIS.items() if name != "play"}
    model = NaiveBayes().fit(TENNIS, target="play").partial_fit(X, TENNIS["play"])
    assert len(model.predict(TENNIS)) == 14
    model.unlearn(X, TENNIS["play"])
    assert len(model.predict(TENNIS)) == 14


def test_one_class_is_enough():
    model = NaiveBayes().fit({"u": ["a", "b"]}, ["x", "x"])
    assert_array_equal(model.predict({"u": ["a", "?", None]}), ["x"] * 3)
    assert_array_equal(model.predict_proba({"u": ["a"]}), [[1.0]])


def test_one_row_and_one_column_are_enough():
    for model in (NaiveBayes(), GaussianNB()):
        assert model.fit([[2.0]], [7]).predict([[3.0]]) == [7]
    assert CategoricalNB().fit([[2]], [7]).predict([[0]]) == [7]


def test_classes_that_were_announced_take_part_in_the_prior():
    model = NaiveBayes().partial_fit({"u": ["a", "b"]}, ["x", "x"], classes=["x", "y"])
    assert_allclose(model.class_prior_, [3 / 4, 1 / 4], rtol=1e-14)
    model.partial_fit({"u": ["a"]}, ["y"]).unlearn({"u": ["a"]}, ["y"])
    assert model.classes_.tolist() == ["x", "y"]


def test_kinds_by_name_by_position_and_one_for_all():
    X = {"u": [1, 2, 2, 3], "v": [0, 1, 1, 0]}
    y = [0, 0, 1, 1]
    assert [v.kind for v in NaiveBayes(kinds={"u": "categorical"}).fit(X, y).schema_] == ["categorical", "gaussian"]
    assert [v.kind for v in NaiveBayes(kinds={1: "bernoulli"}).fit(X, y).schema_] == ["gaussian", "bernoulli"]
    assert [v.kind for v in NaiveBayes(kinds="poisson").fit(X, y).schema_] == ["poisson", "poisson"]
    assert [v.kind for v in NaiveBayes(kinds={"u": "equal-width"}, numeric="poisson").fit(X, y).schema_] == [
        "binned",
        "poisson",
    ]


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e7 + 0.1])
def test_a_column_of_one_value_has_nothing_to_say(value):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 1)), (rng.random(200) < 0.3).astype(int)
    wide = np.column_stack([np.full(200, value), X])
    expected = GaussianNB().fit(X, y).predict_proba(X)
    assert_allclose(GaussianNB().fit(wide, y).predict_proba(wide), expected, rtol=1e-12)
    model = NaiveBayes().fit(wide, y)
    expected = NaiveBayes().fit(X, y).predict_proba(X)
    assert_allclose(model.predict_proba(wide), expected, rtol=1e-12)
    wide[:, 0] = value + 1.0  # and another value later speaks for no class
    assert_allclose(model.predict_proba(wide), expected, atol=1e-9)


def test_one_column_of_100_000_levels_among_50():
    rng = np.random.default_rng(0)
    n_rows = 100_000
    table = {f"c{j}": rng.integers(0, 8, n_rows, dtype=np.uint8) for j in range(49)}
    table["id"] = np.array([f"customer {k}" for k in rng.permutation(n_rows)], dtype=object)
    y = rng.integers(0, 5, n_rows)
    model = NaiveBayes(kinds=dict.fromkeys(table, "categorical")).fit(table, y)
    assert model.schema_["id"].n_values == n_rows
    few = {name: values[:100] for name, values in table.items()}
    assert_allclose(model.predict_proba(few).sum(axis=1), 1.0, rtol=1e-12)
    # P(id | c) = (1 + 1) / (n_c + 100 000) for the class that had it
    row = model.schema_["id"].code_of[table["id"][0]]
    c = int(y[0])
    expected = 2 / (model.class_count_[c] + n_rows)
    assert_allclose(np.exp(model._beliefs.parameters[49][row, c]), expected, rtol=1e-12)


def test_levels_beyond_two_bytes_are_counted_exactly():
    values = np.arange(70_000)
    model = NaiveBayes(kinds="categorical").fit(values[:, None], values % 2)
    assert_array_equal(model.counts_.values.n_value.sum(axis=0), [35_000, 35_000])
    assert_array_equal(model.counts_.values.n_value[:4], [[1, 0], [0, 1], [1, 0], [0, 1]])


def test_raw_bytes_254_and_255_are_levels_like_others():
    X = np.array([[254], [255], [255], [0]], dtype=np.uint8)
    model = NaiveBayes(kinds="categorical").fit(X, [0, 1, 1, 0])
    assert model.schema_[0].values == (0, 254, 255)
    assert_allclose(model.predict_proba(X)[:, 1], [1 / 3, 3 / 4, 3 / 4, 1 / 3], rtol=1e-13)
    assert_array_equal(model.predict_proba(X.astype(np.int64)), model.predict_proba(X))
    assert_array_equal(model.predict_proba({"x0": X[:, 0]} if model.schema_.named else X), model.predict_proba(X))


def test_a_byte_that_was_not_seen_is_no_missing_cell():
    X = np.arange(8, dtype=np.uint8)[:, None]
    model = NaiveBayes(kinds="categorical", unseen="error").fit(X, [0, 1] * 4)
    with pytest.raises(bayeskit.errors.UnseenValueError, match="row 0: value 255 was not seen"):
        model.predict(np.array([[255]], dtype=np.uint8))
    named = NaiveBayes(kinds="categorical", unseen="error").fit({"a": X[:, 0]}, [0, 1] * 4)
    with pytest.raises(bayeskit.errors.UnseenValueError, match="row 0: value 255 was not seen"):
        named.predict({"a": np.array([255], dtype=np.uint8)})


def test_declared_levels_in_falling_order_keep_their_meaning():
    pd = pytest.importorskip("pandas", reason="declared levels come from pandas")
    column = pd.Categorical([2, 0, 0], categories=[2, 1, 0])
    model = NaiveBayes().fit(pd.DataFrame({"a": column}), [1, 0, 0])
    assert model.schema_["a"].values == (2, 1, 0)
    assert_array_equal(model.predict({"a": np.array([0, 2], dtype=np.uint8)}), [0, 1])


def test_threads_do_not_change_a_bit_of_a_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60_000, 20)), rng.integers(0, 3, 60_000)
    weight = rng.random(60_000)
    results = []
    for n in (1, 2):
        with bayeskit.threads(n):
            results.append(GaussianNB().fit(X, y, weight).predict_log_proba(X))
    assert_array_equal(results[0], results[1], strict=True)


def test_the_table_is_not_changed_by_anything():
    penguins = load_penguins()
    X = np.random.default_rng(0).normal(size=(30, 3))
    X[3, 1] = np.nan
    copy = X.copy()
    model = NaiveBayes(numeric="equal-frequency").fit(X, np.arange(30) % 2)
    model.predict_proba(X)
    assert_array_equal(X, copy)
    NaiveBayes().fit(penguins, target="species").predict(penguins)
    assert penguins == load_penguins()


def test_results_are_new_arrays_that_may_be_written_to():
    model = NaiveBayes().fit([[1.0], [2.0]], [0, 1])
    for result in (model.predict([[1.0]]), model.predict_proba([[1.0]]), model.score_samples([[1.0]])):
        result[...] = 0
    assert_array_equal(model.classes_, [0, 1])


def test_labels_of_odd_letters_and_long_text():
    labels = ["", " ", "é", "深い", "x" * 100_000]
    model = NaiveBayes().fit({"u": list("abcde")}, labels)
    assert sorted(labels) == model.classes_.tolist()
    assert model.predict({"u": ["e"]})[0] in labels


def test_scores_agree_with_each_other():
    model = NaiveBayes().fit(TENNIS, target="play")
    joint = model.predict_joint_log_proba(TENNIS)
    assert_allclose(np.logaddexp.reduce(joint, axis=1), model.score_samples(TENNIS), rtol=1e-13)
    assert_allclose(
        joint - model.score_samples(TENNIS)[:, None], model.predict_log_proba(TENNIS), rtol=1e-10, atol=1e-14
    )
    assert_allclose(np.exp(model.predict_log_proba(TENNIS)), model.predict_proba(TENNIS), rtol=1e-12)
    assert_array_equal(model.classes_[joint.argmax(axis=1)], model.predict(TENNIS))


def test_aic_and_bic_are_log_likelihood_less_a_price_per_parameter():
    model = NaiveBayes().fit(TENNIS, target="play")
    base = model.log_likelihood(TENNIS, target="play")
    assert_allclose(model.aic(TENNIS, target="play"), 2 * (model.n_parameters_ - base), rtol=1e-14)
    assert_allclose(model.bic(TENNIS, target="play"), np.log(14) * model.n_parameters_ - 2 * base, rtol=1e-14)


def test_log_posteriors_of_a_number_far_out_still_sum_to_one():
    model = NaiveBayes().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], ["a", "b", "b", "a"])
    far = [[0.5, 1e13]]
    assert_allclose(np.exp(model.predict_log_proba(far)), [[0.5, 0.5]], rtol=1e-12)


def test_many_classes_with_few_rows_are_told_apart_by_the_variance_within_them():
    # 300 classes one unit apart, of deviation .3: the best possible error is P(|N(0, .3)| > .5) = .0956. With the
    # variance of the whole column as the target it is .97, since classes of a few rows more are narrower.
    rng = np.random.default_rng(0)
    y, new = rng.integers(0, 300, 3000), rng.integers(0, 300, 3000)
    model = NaiveBayes().fit((y + rng.normal(0, 0.3, 3000))[:, None], y)
    log_proba = model.predict_log_proba((new + rng.normal(0, 0.3, 3000))[:, None])
    place = np.searchsorted(model.classes_, new)
    assert (log_proba.argmax(axis=1) != place).mean() < 0.13
    assert -log_proba[np.arange(3000), place].mean() < 0.4


def test_the_variance_of_the_extra_rows_may_be_given_by_column():
    table = {"a": [1.0, 3.0, 10.0, 14.0], "b": [0.0, 1.0, 0.0, 1.0], "c": list("xyxy")}
    model = NaiveBayes(variance_prior=2.0, variance_target={"a": 5.0}).fit(table, [0, 0, 1, 1])
    # Scatter 2 and 8 of two rows each, and two rows of variance 5.
    assert_allclose(model.tables_["a"].values[1] ** 2, [(2 + 10) / 4, (8 + 10) / 4], rtol=1e-12)
    assert_allclose(model.tables_["b"].values[1] ** 2, [(0.5 + 2 * 0.25) / 4] * 2, rtol=1e-12)
    with pytest.raises(BayeskitError, match="variance_target names 'c', which is not among the columns"):
        NaiveBayes(variance_target={"c": 1.0}).fit(table, [0, 0, 1, 1])
    with pytest.raises(BayeskitError, match="a dict of column name to a number above 0"):
        NaiveBayes(variance_target={"a": 0.0}).fit(table, [0, 0, 1, 1])
