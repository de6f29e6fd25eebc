"""AutoBayes: what it promises of tables, weights, batches, files, explanations and extremes."""

import copy
import signal
import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import bayeskit
from bayeskit import AutoBayes, datasets, value_of_information, what_if
from bayeskit.errors import BayeskitError, BayeskitWarning, MergeError, ModelFileError, TableError

FAST = {"effort": "fast"}


def mixed(rows=150, seed=0, missing=True):
    """Return a dict of numbers, text and gaps, and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    height, width = rng.normal(size=rows), rng.normal(size=rows)
    colour = rng.choice(["red", "green", "blue"], rows)
    y = np.where(height * width > 0, "in", "out")
    y = np.where(colour == "red", "red", y)
    shown = [None if missing and i % 11 == 0 else str(c) for i, c in enumerate(colour)]
    gaps = [None if missing and i % 13 == 0 else float(h) for i, h in enumerate(height)]
    return {"height": gaps, "width": width.tolist(), "colour": shown}, y


@pytest.fixture(scope="module")
def fitted():
    X, y = mixed()
    return AutoBayes().fit(X, y)


def part(X, rows):
    return {name: [column[i] for i in rows] for name, column in X.items()}


def test_it_learns_what_single_members_cannot():
    X, y = mixed(600)
    test, truth = mixed(300, seed=1)
    assert (AutoBayes().fit(X, y).predict(test) != truth).mean() < 0.12
    assert (bayeskit.NaiveBayes().fit(X, y).predict(test) != truth).mean() > 0.2


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_what_it_learns_from_noise_is_next_to_nothing(numeric):
    rng = np.random.default_rng(0)
    worse, said = [], []
    for _ in range(10):
        X = rng.normal(size=(440, 40)) if numeric else rng.integers(0, 3, (440, 40)).astype(str)
        y = rng.integers(0, 2, 440)
        model = AutoBayes().fit(X[:40], y[:40])
        share = np.bincount(y[:40])[y[40:]] / 40
        worse.append(np.log(share / model.predict_proba(X[40:])[np.arange(400), y[40:]]).mean())
        said.append(list(model.left_out_loss_.values()))
    # Above the loss of the class shares; structures and strengths that have seen the rows would say 0.05 of both.
    assert np.mean(worse) < 0.04
    assert np.mean(said, axis=0).min() > np.log(2) - 0.1


def test_a_model_that_has_nothing_but_the_class_frequencies_says_so():
    X, y = {"constant": ["a"] * 30}, ["yes"] * 20 + ["no"] * 10
    with pytest.warns(BayeskitWarning, match="stay near these"):
        model = AutoBayes().fit(X, y)
    assert_allclose(model.predict_proba({"constant": ["a"]}), [[1 / 3, 2 / 3]], atol=0.01)


@pytest.mark.parametrize("effort", ["fast", "balanced", "thorough"])
def test_effort_says_how_many_members_there_are(effort):
    X, y = mixed(80)
    model = AutoBayes(effort).fit(X, y)
    plan = model.counts_.plan
    assert list(model.members_) == ["networks", "Gaussians", "normal scores", *(["trees"] if plan.trees else [])]
    assert len(plan.networks.bins) == {"fast": 4, "balanced": 8, "thorough": 8}[effort]
    # Of at most 250 rows there are four times as many trees as of 1,000 and more.
    assert [each.n_trees for each in plan.trees] == {"fast": [], "balanced": [112], "thorough": [112]}[effort]


def test_fewer_rows_have_more_trees():
    X, y = mixed(1100)
    for n, n_trees in ((250, 112), (500, 56), (1000, 28), (1100, 28)):
        model = AutoBayes().fit({name: values[:n] for name, values in X.items()}, y[:n])
        assert model.counts_.plan.trees[0].n_trees == n_trees


def test_rows_that_are_repeated_have_the_scores_of_single_rows():
    X, y = mixed(80)
    model = AutoBayes().fit(X, y)
    rows = np.random.default_rng(0).integers(0, 80, 10_000)
    assert_array_equal(model.predict_proba(part(X, rows)), model.predict_proba(X)[rows])


def test_seeds_threads_and_the_order_of_rows_change_no_bit():
    X, y = mixed(300)
    with bayeskit.threads(1):
        one = AutoBayes(random_state=3).fit(X, y).predict_proba(X)
    with bayeskit.threads(2):
        two = AutoBayes(random_state=3).fit(X, y).predict_proba(X)
    assert_array_equal(one, two)
    order = np.random.default_rng(0).permutation(300)
    shuffled = AutoBayes(random_state=3).fit(part(X, order), y[order])
    assert_array_equal(shuffled.predict_proba(X), one)
    assert (AutoBayes(random_state=4).fit(X, y).predict_proba(X) != one).any()


def test_a_weight_of_two_is_the_row_twice_and_zero_is_no_row():
    X, y = mixed(90)
    weight = np.arange(90) % 3
    rows = np.repeat(np.arange(90), weight)
    weighted = AutoBayes().fit(X, y, sample_weight=weight)
    repeated = AutoBayes().fit(part(X, rows), y[rows])
    assert_array_equal(weighted.predict_proba(X), repeated.predict_proba(X))


def test_a_missing_cell_is_a_level_where_it_was_one_in_fit_and_is_summed_out_elsewhere():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    tells = np.where((y == 1) & (rng.random(200) < 0.9), np.nan, rng.normal(size=200))  # missing says class 1
    X = np.column_stack([tells, rng.normal(size=200)])
    model = AutoBayes().fit(X, y)
    row = np.array([[np.nan, 0.0]])
    assert model.predict_proba(row)[0, 1] > 0.9
    hidden = np.array([[True, False]])
    assert np.exp(model.log_posterior_hiding(row, hidden))[0, 1] < 0.7
    # The second column never missed a cell, so a gap there is as good as hidden.
    gap, not_asked = np.array([[0.5, np.nan]]), np.array([[False, True]])
    assert_array_equal(model.predict_log_proba(gap), model.log_posterior_hiding(gap, not_asked))
    assert model._used_cells(gap).tolist() == [[True, False]]
    assert model._used_cells(row).tolist() == [[True, True]]


def test_explanations_sum_to_the_log_odds_with_the_floor_as_a_term(fitted):
    X, _ = mixed()
    for i in (0, 1, 11, 13):
        row = {name: column[i] for name, column in X.items()}
        log_proba = fitted.predict_log_proba({name: [value] for name, value in row.items()})[0]
        for order in (None, ["colour", "width", "height"]):
            found = fitted.explain(row, classes=("in", "out"), order=order)
            assert abs(found.log_odds - (log_proba[0] - log_proba[1])) < 1e-9
            assert abs(found.prior + found.terms.sum() + found.floor - found.log_odds) < 1e-12
            assert found.floor != 0.0
            assert "floor" in str(found)
        parts = fitted.explain_members(row, ("in", "out"))
        assert abs(sum(each.log_odds for each in parts) - (log_proba[0] - log_proba[1])) < 1e-9
        networks = parts[0]
        assert abs(networks.terms.sum() + networks.rest - networks.log_odds) < 1e-9


def test_a_feature_left_out_of_a_row_is_hidden_and_one_given_as_none_is_missing(fitted):
    left_out = fitted.explain({"height": 0.5, "width": 1.0}, classes=("red", "in"))
    none = fitted.explain({"height": 0.5, "width": 1.0, "colour": None}, classes=("red", "in"))
    assert left_out.used.tolist() == [True, True, False]
    assert none.used.tolist() == [True, True, True]
    assert left_out.terms[2] == 0.0
    assert none.terms[2] != 0.0


def test_the_best_question_is_the_column_that_tells_most(fitted):
    questions = value_of_information(fitted, {"width": 0.1})
    assert {question.feature for question in questions} == {"height", "colour"}
    assert all(0 <= question.value <= question.risk_before for question in questions)
    # A recorded gap is an answer, so it is no question any more.
    assert [q.feature for q in value_of_information(fitted, {"width": 0.1, "height": None})] == ["colour"]


def test_what_if_and_summary(fitted):
    day = {"height": 1.0, "width": 1.0, "colour": "blue"}
    found = what_if(fitted, day)
    assert found.before == fitted.predict({name: [value] for name, value in day.items()})[0]
    changed = {name: [value] for name, value in {**day, **found.changes}.items()}
    assert found.after == fitted.predict(changed)[0] != found.before
    text = str(fitted.summary())
    assert "150 rows, 3 features, 3 classes" in text
    for name in fitted.members_:
        assert name in text
    assert fitted.left_out_loss_["pool"] <= min(fitted.left_out_loss_.values()) + 1e-6


def test_batches_are_exact_under_a_frozen_plan_and_said_once():
    X, y = mixed(200)
    first, rest = range(120), range(120, 200)
    model = AutoBayes(**FAST)
    with pytest.warns(BayeskitWarning, match="plan of the model .* was chosen on the first batch"):
        model.partial_fit(part(X, first), y[first])
    plan = model.counts_.plan
    model.partial_fit(part(X, rest), y[rest])
    assert model.counts_.plan is plan
    assert model.counts_.n_class.sum() == 200
    other = copy.deepcopy(model)
    before = model.predict_proba(X)
    with pytest.warns(BayeskitWarning, match="the plan was chosen on 120 rows, and there are 320 now"):
        other.partial_fit(part(X, first), y[first])
    other.unlearn(part(X, first), y[first])
    assert_array_equal(other.counts_.networks, model.counts_.networks)
    assert_array_equal(other.counts_.n_level, model.counts_.n_level)
    assert_allclose(other.predict_proba(X), before, rtol=1e-9)
    with pytest.raises(MergeError, match=r"fitted separately.*copies of one model.*count once"):
        AutoBayes(**FAST).fit(part(X, first), y[first]).merge(AutoBayes(**FAST).fit(part(X, rest), y[rest]))
    with pytest.raises(MergeError, match="never counted"):
        model.unlearn({"height": [0.0] * 300, "width": [0.0] * 300, "colour": ["red"] * 300}, ["in"] * 300)


def test_new_classes_and_values_may_come_later():
    X, y = mixed(100, missing=False)
    model = AutoBayes(**FAST).fit(X, y)
    with pytest.warns(BayeskitWarning, match="stays as it is"):
        model.partial_fit({"height": [9.0] * 30, "width": [9.0] * 30, "colour": ["white"] * 30}, ["new"] * 30)
    assert model.classes_.tolist() == ["in", "new", "out", "red"]
    assert model.predict({"height": [9.0], "width": [9.0], "colour": ["white"]}).tolist() == ["new"]


def test_a_saved_model_answers_with_the_same_bits_and_a_damaged_one_is_refused(tmp_path, fitted):
    X, _ = mixed()
    fitted.save(tmp_path / "auto.bayes")
    loaded = bayeskit.load(tmp_path / "auto.bayes")
    assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.members_ == fitted.members_
    meta, arrays = fitted._to_parts()
    short = "networks", "trees0_next", "networks_child", "gaussian0_sums", "gaussian0_level", "class_matrix", "places"
    for name in (*short, "member_weight"):
        with pytest.raises((ModelFileError, ValueError)):
            AutoBayes._from_parts(meta, {**arrays, name: arrays[name][1:]})
    for name, number in (("features", 99), ("features", 0), ("level", -1), ("level", 255)):
        bad = arrays[f"gaussian0_{name}"].copy()
        bad[-1] = number  # the last one is an indicator
        with pytest.raises(ModelFileError, match="of the Gaussians"):
            AutoBayes._from_parts(meta, {**arrays, f"gaussian0_{name}": bad})
    bad = arrays["networks_bins"].copy()
    bad[:] = 250
    with pytest.raises(ValueError, match="out of range"):
        AutoBayes._from_parts(meta, {**arrays, "networks_bins": bad})


def test_a_time_budget_stops_with_what_there_is_and_says_so():
    X, y = mixed(200)
    with pytest.warns(BayeskitWarning, match="max_seconds=1e-06 were over before all Gaussians and trees were learned"):
        model = AutoBayes(max_seconds=1e-6).fit(X, y)
    assert list(model.members_) == ["networks"]
    assert model.score(X, y) > 0.6


def test_the_size_is_bounded():
    X, y = mixed(400)
    small = AutoBayes(max_nodes=1000).fit(X, y)
    assert small.n_nodes_ < 1500 < 2000 < AutoBayes().fit(X, y).n_nodes_
    assert small.score(X, y) > 0.7


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_ctrl_c_leaves_a_fitted_model_as_it_was():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 30)), rng.integers(0, 4, 6000)
    model = AutoBayes(**FAST).fit(X[:200], y[:200])
    before = model.predict_proba(X[:5])
    # Python drops what a signal raises inside a finaliser, which the first one may meet by chance.
    presses = [threading.Timer(seconds, signal.raise_signal, [signal.SIGINT]) for seconds in (0.3, 3.0, 6.0)]
    model.set_params(effort="thorough")
    for press in presses:
        press.start()
    with pytest.raises(KeyboardInterrupt):
        [model.fit(X, y) for _ in range(40)]
    for press in presses:
        press.cancel()
    assert_array_equal(model.predict_proba(X[:5]), before)


@pytest.mark.parametrize(
    ("name", "value"), [("effort", "lazy"), ("max_seconds", 0), ("max_nodes", 0), ("random_state", -1)]
)
def test_parameters_are_refused_by_name(name, value):
    X, y = mixed(20)
    with pytest.raises(BayeskitError, match=f"The '{name}' parameter of AutoBayes must be"):
        AutoBayes(**{name: value}).fit(X, y)


# -- extremes ---------------------------------------------------------------------------------------------------------


def sums_to_one(model, X):
    posterior = model.predict_proba(X)
    assert_allclose(posterior.sum(axis=1), 1.0, rtol=1e-9)
    assert (posterior > 0).all()
    return posterior


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_one_feature_constant_features_and_one_class():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 1))
    y = (x[:, 0] > 0).astype(int)
    assert (AutoBayes().fit(x, y).predict(x) == y).mean() > 0.9
    constant = np.column_stack([x, np.full(80, 5.0), np.zeros(80)])
    assert (AutoBayes().fit(constant, y).predict(constant) == y).mean() > 0.9
    only = AutoBayes().fit(np.ones((20, 2)), np.arange(20) % 2)
    assert_allclose(sums_to_one(only, np.ones((1, 2))), 0.5, atol=1e-6)  # halves of the rows choose other parents
    assert_array_equal(AutoBayes().fit(x, np.zeros(80)).predict_proba(x[:2]), [[1.0], [1.0]])


@pytest.mark.filterwarnings("ignore:rows left out gain nothing")
def test_two_rows_a_class_and_one_row_a_class():
    rng = np.random.default_rng(0)
    y = np.arange(20) // 2
    X = 10.0 * y[:, None] + rng.normal(size=(20, 3))
    pairs = sums_to_one(AutoBayes().fit(X, y), X)
    assert pairs.shape == (20, 10)
    assert (pairs.argmax(axis=1) == y).mean() >= 0.5  # by chance it is a tenth
    single = sums_to_one(AutoBayes().fit(X, np.arange(20)), X)
    assert single.shape == (20, 20)
    assert single.max() < 0.5  # one row of each class shows nothing of how its class differs from row to row


def test_an_imbalance_of_one_to_a_thousand():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3003, 3))
    y = np.zeros(3003, dtype=int)
    y[:3] = 1
    X[:3] += 6
    model = AutoBayes(**FAST).fit(X, y)
    posterior = sums_to_one(model, np.array([[6.0, 6.0, 6.0], [0.0, 0.0, 0.0]]))
    assert posterior[0, 1] > 100 * posterior[1, 1]


def test_ten_thousand_columns():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = rng.integers(0, 3, (60, 10_000)).astype(float)
    X[:, 77] = y * 2
    X[:, 4000] = 1 - y
    model = AutoBayes(**FAST).fit(X, y)
    assert (sums_to_one(model, X).argmax(axis=1) == y).mean() > 0.9


def test_a_thousand_classes():
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 1000
    X = np.column_stack([y // 32, y % 32]) + rng.normal(0, 0.05, (2000, 2))
    model = AutoBayes(**FAST).fit(X, y)
    assert (sums_to_one(model, X[:500]).argmax(axis=1) == y[:500]).mean() > 0.5


@pytest.mark.parametrize(("scale", "offset"), [(1e-300, 0.0), (1e300, 0.0), (1.0, 2.0**30)])
def test_numbers_of_any_size_and_offset(scale, offset):
    X, y = mixed(600, missing=False)
    table, new = np.split(np.round(np.column_stack([X["height"], X["width"]]), 3), 2)
    plain, moved = AutoBayes().fit(table, y[:300]), AutoBayes().fit(table * scale + offset, y[:300])
    for ours, theirs in zip(plain.counts_.plan.gaussians, moved.counts_.plan.gaussians, strict=True):
        codes = np.zeros((2, 300), dtype=np.uint8)  # there are no indicators
        there = theirs.transform(list((table * scale + offset).T), codes, 1)
        here = ours.transform(list(table.T), codes, 1)
        assert_allclose(there, here, rtol=1e-5, atol=1e-5)
    assert_array_equal(moved.counts_.n_level, plain.counts_.n_level)
    assert_allclose(moved.predict_proba(table * scale + offset), plain.predict_proba(table), rtol=0, atol=1e-5)
    # A new number that lies half-way between two others, on the edge of a bin, may be rounded to the other side.
    differ = np.abs(moved.predict_proba(new * scale + offset) - plain.predict_proba(new)).max(axis=1)
    assert (differ > 1e-5).mean() < 0.1


def test_infinite_numbers_are_refused_by_column_and_row():
    X, y = mixed(30, missing=False)
    X["width"][4] = np.inf
    with pytest.raises(TableError, match="column 'width', row 4"):
        AutoBayes(**FAST).fit(X, y)
    X["width"][4] = 0.0
    model = AutoBayes(**FAST).fit(X, y)
    with pytest.raises(TableError, match="column 'height', row 1"):
        model.predict({"height": [0.0, np.inf], "width": [0.0, 0.0], "colour": ["red", "red"]})


def test_penguins_by_name():
    model = AutoBayes(**FAST).fit(datasets.load_penguins(), target="species")
    assert model.score(datasets.load_penguins(), target="species") > 0.97


def test_few_rows_with_many_numeric_columns():
    wrong = []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 1100)
        X = rng.normal(size=(1100, 500))
        X[:, :20] += y[:, None] - 0.5
        model = AutoBayes().fit(X[:100], y[:100])
        found = model.predict_proba(X[100:])
        wrong.append((found.argmax(axis=1) != y[100:]).mean())
        # What it says of itself on rows left out holds for new ones.
        assert abs(-np.log(found[np.arange(1000), y[100:]]).mean() - model.left_out_loss_["pool"]) < 0.1
    assert np.mean(wrong) < 0.12  # NaiveBayes has 0.10 there


@pytest.mark.parametrize("row", [{"a": [1.0]}, {"a": ["x"], "b": ["y"]}, {"a": [1.0], "b": ["x"]}])
def test_one_row_is_learned_without_a_warning(row):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AutoBayes().fit(row, ["only"])
    assert_array_equal(model.predict_proba(row), [[1.0]])
