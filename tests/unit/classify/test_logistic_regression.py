"""LogisticRegression: identities at the optimum, separation, coded columns, missing cells, bad input."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning

import bayeskit
from bayeskit import LogisticRegression, datasets
from bayeskit.errors import BayeskitError, TableError


def noisy(n=400, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 3))
    scores = x @ rng.normal(size=(3, n_classes)) + rng.gumbel(size=(n, n_classes))
    return x, scores.argmax(axis=1)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("solver", ["lbfgs", "newton"])
def test_at_the_optimum_the_probabilities_sum_to_the_labels(n_classes, solver):
    X, y = noisy(n_classes=n_classes)
    model = LogisticRegression(solver=solver, tol=1e-12).fit(X, y)
    p = model.predict_proba(X)
    assert_allclose(p.sum(axis=0), np.bincount(y), rtol=1e-10)
    for c in range(n_classes):
        assert_allclose(p[:, c] @ X, X[y == c].sum(axis=0), rtol=0, atol=1e-8)


def test_log_odds_are_against_the_reference():
    X, y = noisy(n_classes=3)
    for reference in (None, 0, 1, 2):
        model = LogisticRegression(reference=reference).fit(X, y)
        table, place = model.log_odds_, 2 if reference is None else reference
        assert_array_equal(table.values[:, place], 0.0)
        # P(c_k | x) = exp(w_k · x + b_k) / (1 + Σ exp), as the textbook writes it.
        scores = np.column_stack([np.ones(len(X)), X]) @ table.values
        rest = np.delete(np.exp(scores), place, axis=1)
        assert_allclose(
            np.delete(model.predict_proba(X), place, axis=1), rest / (1 + rest.sum(axis=1, keepdims=True)), rtol=1e-10
        )


def test_gradient_ascent_never_goes_down_and_keeps_its_path():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match=r"stopped after 30 steps.*the last step gained"):
        model = LogisticRegression(solver="gradient", max_iter=30, tol=1e-12).fit(X, y)
    assert len(model.history_.objective) == len(model.history_.parameters) == 31
    assert (np.diff(model.history_.objective) > 0).all()
    assert_array_equal(model.history_.parameters[0], 0.0)
    done = LogisticRegression().fit(X, y)
    assert_allclose(model.history_.objective[-1], done.history_.objective[-1], rtol=1e-3)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_path_of_gradient_ascent_is_for_the_inputs_as_they_are_and_is_saved(n_classes, tmp_path):
    X, y = noisy(n_classes=n_classes)
    X = X + 50  # the solver takes the means off, which must not show
    model = LogisticRegression(solver="gradient").fit(X, y)
    last = np.column_stack([model.coef_, model.intercept_])
    assert_array_equal(model.history_.parameters[-1], last)
    for step in (1, 5):  # the log-likelihood of each step is that of its coefficients
        w = model.history_.parameters[step]
        scores = X @ w[:, :-1].T + w[:, -1]
        scores = np.column_stack([np.zeros(len(X)), scores]) if n_classes == 2 else scores
        log_p = scores[np.arange(len(y)), y] - np.log(np.exp(scores).sum(axis=1))
        assert_allclose(log_p.mean(), model.history_.objective[step], rtol=1e-12)
    model.save(tmp_path / "path.bayes")
    loaded = bayeskit.load(tmp_path / "path.bayes")
    assert_array_equal(loaded.history_.parameters, model.history_.parameters)


def test_one_step_of_gradient_ascent_is_the_rule_of_the_textbook():
    X, y = noisy()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(solver="gradient", learning_rate=0.1, max_iter=1).fit(X, y)
    assert_allclose(model.coef_[0], 0.1 / len(X) * (y - 0.5) @ X, rtol=1e-10)
    assert_allclose(model.intercept_[0], 0.1 / len(X) * (y - 0.5).sum(), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("n_classes", "complete"), [(2, True), (2, False), (3, True)])
def test_separation_is_found_and_named(n_classes, complete):
    rng = np.random.default_rng(0)
    wide = rng.normal(size=300)
    cut = np.digitize(wide, np.linspace(-0.7, 0.7, n_classes - 1) if n_classes > 2 else [0.0])
    if not complete:
        wide = np.where(wide > 0, wide, 0.0)
        cut = np.where(wide > 0, 1, rng.integers(0, 2, 300))
    with pytest.warns(ConvergenceWarning, match=f"{'completely' if complete else 'partly'} separated by .*'size'"):
        model = LogisticRegression().fit({"noise": rng.normal(size=300), "size": wide}, cut)
    assert model.separation_.complete is complete
    assert "maximum likelihood does not exist" in str(model.summary())
    assert np.isnan(model.coefficients().standard_error).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mild = LogisticRegression(l2=1.0).fit({"noise": rng.normal(size=300), "size": wide}, cut)
    assert np.isfinite(mild.coefficients().standard_error).all()


def test_strong_effects_are_not_called_separation():
    rng = np.random.default_rng(1)
    x = 10 * rng.normal(size=2000)
    y = (x + rng.logistic(size=2000) > 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression().fit(x[:, None], y)
    assert model.separation_ is None
    assert abs(model.coef_[0, 0] - 1) < 0.2


def test_columns_of_values_are_coded():
    rng = np.random.default_rng(2)
    colour = rng.choice(["red", "green", "blue"], 500)
    p = {"red": 0.2, "green": 0.5, "blue": 0.8}
    y = np.where(rng.random(500) < [p[c] for c in colour], "yes", "no")
    model = LogisticRegression(reference="no", tol=1e-12).fit({"colour": colour}, y)
    assert model.input_names_ == ("colour = green", "colour = red")
    share = {c: (y[colour == c] == "yes").mean() for c in p}
    odds = {c: share[c] / (1 - share[c]) for c in p}
    # With one column of values the odds ratios are those of the table of counts.
    found = model.coefficients().odds_ratio[:, 0]
    assert_allclose(found, [odds["blue"], odds["green"] / odds["blue"], odds["red"] / odds["blue"]], rtol=1e-8)
    n = [[((colour == c) & (y == label)).sum() for label in ("no", "yes")] for c in ("blue", "green")]
    woolf = np.sqrt(sum(1 / cell for pair in n for cell in pair))
    assert_allclose(model.coefficients().standard_error[1, 0], woolf, rtol=1e-8)
    assert model.wald_test("colour").df == 2


def test_a_missing_cell_takes_the_mean():
    X, y = noisy()
    holes = X.copy()
    holes[::5, 1] = np.nan
    filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
    model, plain = LogisticRegression().fit(holes, y), LogisticRegression().fit(filled, y)
    assert_allclose(model.coef_, plain.coef_, rtol=1e-6)
    assert_allclose(model.predict_proba(holes), plain.predict_proba(filled), rtol=1e-6)
    listed = {f"x{j}": [None if np.isnan(v) else float(v) for v in holes[:, j]] for j in range(3)}
    assert_allclose(LogisticRegression().fit(listed, y).coef_, model.coef_, rtol=1e-6)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_an_offset_changes_only_the_intercept(offset):
    X, y = noisy()
    X = np.round(X * 1024) / 1024
    expected = LogisticRegression().fit(X, y)
    found = LogisticRegression().fit(X + offset, y)
    assert_allclose(found.coef_, expected.coef_, rtol=1e-6)
    assert_allclose(found.coefficients().standard_error[1:], expected.coefficients().standard_error[1:], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-100, 1e-9, 1e9, 1e100])
def test_a_unit_changes_only_its_coefficient(scale):
    X, y = noisy()
    expected = LogisticRegression().fit(X, y)
    for solver in ("lbfgs", "newton"):
        found = LogisticRegression(solver=solver).fit(X * [1.0, scale, 1.0], y)
        assert_allclose(found.coef_ * [1.0, scale, 1.0], expected.coef_, rtol=1e-6)


def test_constant_and_repeated_columns_have_no_error_of_their_own():
    X, y = noisy()
    table = np.column_stack([X, X[:, 0], np.full(len(X), 3.0)])
    model = LogisticRegression().fit(table, y)
    assert_allclose(model.predict_proba(table), LogisticRegression().fit(X, y).predict_proba(X), rtol=0, atol=1e-6)
    errors = model.coefficients().standard_error[:, 0]
    assert np.isnan(errors[[1, 4]]).all()
    assert np.isfinite(errors[[2, 3]]).all()


def test_whole_weights_are_repetitions():
    X, y = noisy()
    times = np.random.default_rng(0).integers(0, 3, len(y))
    weighted = LogisticRegression().fit(X, y, sample_weight=times)
    repeated = LogisticRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    assert_allclose(weighted.coefficients().standard_error, repeated.coefficients().standard_error, rtol=1e-6)


def test_penguins_without_their_flippers():
    table = datasets.load_penguins()
    model = LogisticRegression(l2=0.1).fit(table, target="species")
    assert model.score(table, target="species") > 0.98
    assert "sex = male" in model.input_names_


def test_one_class_is_certain():
    model = LogisticRegression().fit([[1.0], [2.0]], ["a", "a"])
    assert_array_equal(model.predict_proba([[5.0]]), [[1.0]])
    assert "1 class" in str(model.summary())


def test_a_file_keeps_errors_and_separation(tmp_path):
    X, y = noisy(n_classes=3)
    model = LogisticRegression(reference=1).fit(X, y)
    model.save(tmp_path / "m.bayes")
    loaded = bayeskit.load(tmp_path / "m.bayes")
    assert str(loaded.coefficients()) == str(model.coefficients())
    assert str(loaded.summary()) == str(model.summary())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"l2": -1}, "at least 0"),
        ({"solver": "magic"}, "one of 'lbfgs', 'newton' or 'gradient'"),
        ({"reference": 7}, r"one of the classes \[0, 1\]"),
        ({"learning_rate": 0}, "above 0"),
        ({"max_iter": 0}, "at least 1"),
        ({"standard_errors": "yes"}, "True, False or 'auto'"),
    ],
)
def test_parameters_are_refused_in_words(parameters, message):
    X, y = noisy()
    with pytest.raises(BayeskitError, match=message):
        LogisticRegression(**parameters).fit(X, y)


def test_what_cannot_be_told_is_refused():
    X, y = noisy()
    with pytest.raises(TableError, match="x1"):
        LogisticRegression().fit(np.where(np.arange(3) == 1, np.inf, X), y)
    model = LogisticRegression(standard_errors=False).fit(X, y)
    with pytest.raises(BayeskitError, match="without standard errors"):
        model.coefficients()
    assert "log-odds" in str(model.summary())
    with pytest.raises(BayeskitError, match="level must lie between 0 and 1"):
        LogisticRegression().fit(X, y).coefficients(level=95)
    with pytest.raises(BayeskitError, match="'z' is not a column"):
        LogisticRegression().fit(X, y).wald_test("z")
    with pytest.raises(BayeskitError, match="maximum likelihood on both sides"):
        LogisticRegression(l2=1.0).fit(X, y).likelihood_ratio_test()
    with pytest.raises(TableError, match="must be those of the fit"):
        LogisticRegression().fit(X, y).likelihood_ratio_test(X[:50], y[:50], without="x0")


def test_gradient_ascent_with_a_penalty_takes_steps_that_arrive():
    X, y = noisy()
    exact = LogisticRegression(l2=5.0, tol=1e-10).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # it arrives in time
        found = LogisticRegression(l2=5.0, solver="gradient", tol=1e-8, max_iter=2000).fit(X, y)
    assert_allclose(found.coef_, exact.coef_, rtol=1e-5, atol=1e-7)
    assert (np.diff(found.history_.objective) >= -1e-12).all()


def test_an_input_that_separates_alone_is_named_alone():
    a, b = [0.0, 1.0, 2.0, 5.0, 6.0, 7.0], [3.0, -1.0, 2.0, 2.5, 0.0, 1.0]
    with pytest.warns(ConvergenceWarning, match="completely separated by 'a': "):
        model = LogisticRegression().fit({"a": a, "b": b}, [0, 0, 0, 1, 1, 1])
    assert model.separation_.inputs == (0,)


def test_the_history_begins_where_all_classes_are_as_likely():
    rows = np.random.default_rng(0).normal(size=(30_000, 3))
    for n_classes in (2, 4):
        y = np.minimum((rows[:, 0] + 2).astype(int).clip(0), n_classes - 1)
        model = LogisticRegression(l2=1.0).fit(rows, y)
        assert_allclose(model.history_.objective[0], -np.log(len(model.classes_)), rtol=1e-12)


@pytest.mark.parametrize("weight", [{0: 3.0}, "balanced"])
def test_the_weight_of_a_class_is_the_weight_of_its_rows(weight):
    rng = np.random.default_rng(1)
    y = (rng.random(200) < 0.2).astype(int)
    rows = rng.normal(size=(200, 2)) + y[:, None]
    factor = {0: 3.0, 1: 1.0} if isinstance(weight, dict) else {c: 100 / (y == c).sum() for c in (0, 1)}
    by_class = LogisticRegression(class_weight=weight, tol=1e-10).fit(rows, y)
    by_row = LogisticRegression(tol=1e-10).fit(rows, y, np.vectorize(factor.get)(y))
    assert_allclose(by_class.predict_proba(rows), by_row.predict_proba(rows), rtol=1e-7)


def test_errors_that_cost_more_than_the_fit_are_computed_when_asked_for():
    X, y = noisy(n=600, n_classes=16)
    wide = np.hstack([X, np.random.default_rng(1).normal(size=(600, 16))])  # 16 × 20 coefficients
    model = LogisticRegression(l2=1.0).fit(wide, y)
    with pytest.raises(BayeskitError, match=r"more than 300 coefficients.*standard_errors=True"):
        model.coefficients()
    asked = LogisticRegression(l2=1.0, standard_errors=True).fit(wide, y)
    assert_array_equal(asked.coef_, model.coef_)
    assert (asked.coefficients().standard_error > 0).all()
    few = LogisticRegression(l2=1.0).fit(X, y)
    told = LogisticRegression(l2=1.0, standard_errors=True).fit(X, y)
    assert_array_equal(few.coefficients().standard_error, told.coefficients().standard_error)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_gradient_ascent_with_a_penalty_goes_up_in_any_unit(scale):
    X, y = noisy()
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(solver="gradient", l2=5.0, max_iter=30, tol=1e-14).fit(scale * X, y)
    assert (np.diff(model.history_.objective) > -1e-15).all()
