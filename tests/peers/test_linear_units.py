"""Least squares and sigmoid units find what scikit-learn's linear and logistic regression find."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression, LogisticRegression

from bayeskit import LeastSquares, SigmoidUnit
from bayeskit.errors import BayeskitError, TableError
from bayeskit.estimate.least_squares import least_squares
from bayeskit.estimate.linear_problem import LogisticProblem, SquaredErrorProblem

# scikit-learn 1.8 says so of C=inf too, which means the same.
pytestmark = pytest.mark.filterwarnings("ignore:Setting penalty=None will ignore the C:UserWarning")


def rows(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1.0, 20.0, 0.1][:d] + [0.0, 1000.0, -3.0][:d]
    return X, rng


@settings(max_examples=30)
@given(st.integers(0, 10**6))
def test_least_squares_is_linear_regression(seed):
    X, rng = rows(seed)
    y, weight = X @ [1.0, -0.2, 3.0] + rng.normal(size=60), rng.random(60) + 0.1
    for w in (None, weight):
        ours, theirs = LeastSquares().fit(X, y, w), LinearRegression().fit(X, y, w)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7)
        assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
        residual = y - theirs.predict(X)
        assert_allclose(ours.noise_, np.sqrt(np.average(residual**2, weights=w)), rtol=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.floats(0.1, 10.0))
def test_least_squares_is_maximum_likelihood_under_gaussian_noise_of_any_size(seed, noise):
    X, rng = rows(seed, n=30)
    y = rng.normal(size=30)
    model = LeastSquares().fit(X, y)
    best = model.log_likelihood(X, y, noise=noise)
    near = clone(model)
    for _ in range(5):
        coef, intercept = model.coef_ + rng.normal(size=3) * 0.01, model.intercept_ + rng.normal() * 0.01
        units = replace(model._state.units, coef=coef[None, :], intercept=np.array([intercept]))
        near._state = replace(model._state, units=units)
        assert near.log_likelihood(X, y, noise=noise) <= best
    own = model.log_likelihood(X, y)
    assert all(model.log_likelihood(X, y, noise=model.noise_ * factor) <= own for factor in (0.9, 0.99, 1.01, 1.1))


def test_values_are_inputs_of_0_and_1():
    table = {"colour": ["red", "blue", "green", "red", "blue", "green"], "x": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0]}
    y = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6]
    model = LeastSquares().fit(table, y)
    assert model.input_names_ == ("colour = green", "colour = red", "x")
    dummies = np.array([[c == "green", c == "red", x] for c, x in zip(*table.values(), strict=True)], dtype=float)
    assert_allclose(model.predict(table), LinearRegression().fit(dummies, y).predict(dummies), rtol=1e-9)
    # What is not known adds nothing.
    assert_allclose(model.predict({"colour": [None], "x": [None]}), [np.mean(y)], rtol=1e-12)
    assert_allclose(model.predict({"colour": ["violet"], "x": [None]}), [np.mean(y)], rtol=1e-12)


def overlapping(seed, n_classes=2):
    X, rng = rows(seed, n=150)
    score = (X - X.mean(axis=0)) / X.std(axis=0) @ [1.0, -0.5, 0.3] + rng.logistic(size=150) * 1.5
    return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))


@pytest.mark.parametrize("likeness", [1.0, 1e-3, 1e-5, 1e-9, 0.0])
def test_inputs_that_are_nearly_alike_have_the_weights_of_a_singular_value_decomposition(likeness):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3)) * [1.0, 1e6, 1e-6]
    x = np.column_stack([x, x[:, 0] + likeness * rng.normal(size=200)])
    d = x @ [1.0, 1e-6, 1e6, -1.0] + rng.normal(size=200)
    size = np.linalg.norm(x, axis=0)
    expected = np.linalg.lstsq(x, d, rcond=200 * np.finfo(float).eps)[0]
    if likeness >= 1e-5:
        expected = np.linalg.lstsq(x / size, d, rcond=None)[0] / size  # of inputs of one size, where nothing is cut off
    assert_allclose(x @ least_squares(x, d), x @ expected, rtol=1e-7, atol=1e-7)
    if likeness >= 1e-5:
        assert_allclose(least_squares(x, d), expected, rtol=1e-9 / likeness)


def test_many_rows_start_where_a_part_of_them_leads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40_000, 3))
    y = X @ [2.0, -1.0, 0.5] + rng.logistic(size=40_000) > 0.7
    for order in (np.arange(40_000), np.argsort(y, kind="stable")):
        ours = SigmoidUnit(solver="lbfgs", tol=1e-9).fit(X[order], y[order])
        theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, solver="newton-cholesky").fit(X, y)
        assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)
        assert_allclose(ours.histories_[0].objective[0], -np.log(2), rtol=1e-12)
        assert (np.diff(ours.histories_[0].objective) >= -1e-12).all()


def test_a_part_that_misleads_is_not_followed():
    # Every tenth row, the ones a part of 4,000 would hold, has the other class than its x asks for.
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40_000, 1))
    y = X[:, 0] + rng.logistic(size=40_000) > 0
    y[::10] = X[::10, 0] + rng.logistic(size=4_000) / 4 < 0
    ours = SigmoidUnit(solver="lbfgs", tol=1e-9).fit(X, y)
    theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=1000, solver="newton-cholesky").fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-6)


@pytest.mark.parametrize("solver", ["gradient", "lbfgs"])
def test_a_sigmoid_unit_is_logistic_regression_without_penalty(solver):
    for seed in range(3):
        X, y = overlapping(seed)
        ours = SigmoidUnit(solver=solver, tol=1e-9, max_iter=20_000).fit(X, y)
        scaled = (X - X.mean(axis=0)) / X.std(axis=0)
        theirs = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(scaled, y)
        assert_allclose(ours.predict_proba(X), theirs.predict_proba(scaled), atol=1e-6)
        assert_allclose(ours.coef_ * X.std(axis=0), theirs.coef_, rtol=1e-5)


def test_several_classes_have_a_unit_each():
    X, y = overlapping(1, n_classes=3)
    model = SigmoidUnit(solver="lbfgs", tol=1e-8).fit(X, y)
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    single = [
        LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000, solver="newton-cholesky").fit(scaled, y == c)
        for c in range(3)
    ]
    outputs = np.stack([unit.predict_proba(scaled)[:, 1] for unit in single], axis=1)
    assert_allclose(model.predict_proba(X), outputs / outputs.sum(axis=1, keepdims=True), atol=1e-5)
    assert model.decision_function(X).shape == (150, 3)


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_the_fit_to_frequencies_is_the_fit_to_raw_rows(seed):
    rng = np.random.default_rng(seed)
    x = np.arange(6.0)
    n = rng.integers(3, 12, 6)
    ones = np.clip(rng.binomial(n, 0.2 + 0.1 * x), 1, n - 1)
    raw = np.repeat(x, n)
    labels = np.concatenate([[1] * k + [0] * (m - k) for k, m in zip(ones, n, strict=True)])
    for rule in ("cross-entropy", "squared-error"):
        unit = SigmoidUnit(rule=rule, solver="lbfgs", tol=1e-10, max_iter=5000)
        by_rows = unit.fit({"x": raw}, labels).predict_proba({"x": x})
        by_shares = unit.fit_frequencies({"x": x}, ones / n, n).predict_proba({"x": x})
        assert_allclose(by_shares, by_rows, atol=1e-6)


@pytest.mark.parametrize("rule", ["cross-entropy", "squared-error"])
@pytest.mark.parametrize("labels", [True, False])
def test_the_gradient_is_that_of_the_objective(rule, labels):
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.normal(size=(9, 3)), np.ones(9)])
    d = rng.integers(0, 2, 9).astype(float) if labels else rng.random(9)
    v = rng.normal(size=4)
    problem_of = LogisticProblem.of_frequencies if rule == "cross-entropy" else SquaredErrorProblem
    problem = problem_of(x[:, :-1], d, None, np.zeros(3), np.ones(3))

    def objective(v):
        loss, gradient = problem.value(v[None, :])
        return -loss, -gradient[0]

    value, gradient = objective(v)
    steps = np.eye(4) * 1e-6
    measured = [(objective(v + s)[0] - objective(v - s)[0]) / 2e-6 for s in steps]
    assert_allclose(gradient, measured, rtol=1e-6)
    h = 1 / (1 + np.exp(-x @ v))
    factor = 1.0 if rule == "cross-entropy" else h * (1 - h)
    assert_allclose(gradient, (factor * (d - h)) @ x / 9, rtol=1e-12)
    entropy, error = d * np.log(h) + (1 - d) * np.log(1 - h), -0.5 * (d - h) ** 2
    assert_allclose(value, (entropy if rule == "cross-entropy" else error).mean(), rtol=1e-12)


@pytest.mark.parametrize("rule", ["cross-entropy", "squared-error"])
def test_no_step_lowers_the_objective(rule):
    X, y = overlapping(4)
    path = SigmoidUnit(rule=rule, tol=1e-7, max_iter=5000).fit(X, y).histories_[0].objective
    assert len(path) > 5
    assert (np.diff(path) >= -1e-15).all()


def test_a_given_rate_makes_the_textbooks_step():
    X, y = overlapping(5)
    with pytest.warns(ConvergenceWarning, match="took max_iter=1 steps"):
        unit = SigmoidUnit(learning_rate=0.5, max_iter=1).fit(X, y)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    # All weights start at 0, where h = ½.
    assert_allclose(unit.coef_[0] * X.std(axis=0), 0.5 * (y - 0.5) @ z / len(y), rtol=1e-9)


def test_classes_that_can_be_parted_have_no_maximum():
    with pytest.warns(ConvergenceWarning, match="the weights grow without bound"):
        SigmoidUnit(max_iter=50).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: SigmoidUnit(rule="other").fit([[0.0]], [1]), "'rule' parameter of SigmoidUnit must be"),
        (lambda: SigmoidUnit(learning_rate=0).fit([[0.0]], [1]), "'learning_rate' parameter of SigmoidUnit must be"),
        (lambda: SigmoidUnit().fit_frequencies([[0.0]], [1.5]), "frequency, row 0: a share lies between 0 and 1"),
        (lambda: LeastSquares().fit([[0.0]], ["a"]), "y must be a numeric column"),
        (lambda: LeastSquares().fit([[1e200], [2e200]], [1.0, 2.0]), "numbers so large that their squares overflow"),
        (lambda: LeastSquares().fit([[0.0], [1.0]], [1.0, np.nan]), "Input y contains NaN: row 1 has no label"),
        (
            lambda: LeastSquares().fit([[0.0], [1.0]], [1.0, 2.0]).log_likelihood([[0.0]], [0.0], noise=0.0),
            "noise above 0",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises((BayeskitError, TableError), match=message):
        call()
