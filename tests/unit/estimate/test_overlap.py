"""Overlap is proved where the likelihood has a maximum, and never where classes are separated."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from bayeskit import LogisticRegression
from bayeskit.estimate.class_separation import find_separation
from bayeskit.estimate.linear_problem import LogisticProblem
from bayeskit.estimate.linear_solvers import solve
from bayeskit.estimate.overlap import proves_overlap


def problem_of(x, y, n_classes, weight=None):
    scale = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    return LogisticProblem(x, y, weight, x.mean(axis=0), scale, 1 if n_classes == 2 else n_classes, 0.0)


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.booleans(), st.sampled_from([1e-2, 1e-5, 1e-9]))
@settings(max_examples=150, deadline=None)
def test_what_a_linear_program_separates_is_never_said_to_overlap(seed, n_classes, few_values, tol):
    rng = np.random.default_rng(seed)
    n, d = rng.integers(2 * n_classes, 40), rng.integers(1, 4)
    x = rng.integers(0, 2, (n, d)).astype(float) if few_values else rng.normal(size=(n, d))
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    problem = problem_of(x, y, n_classes)
    coef = solve(problem, "lbfgs", tol, 300).coef
    if find_separation((x - problem.center) / problem.scale, y, n_classes) is not None:
        assert not proves_overlap(problem, coef)


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("step", [1, 3])
def test_classes_that_overlap_are_proved_to(n_classes, weighted, step):
    rng = np.random.default_rng(n_classes)
    x, y = rng.normal(size=(900, 4)) * [1, 1e4, 1e-4, 1], rng.integers(0, n_classes, 900)
    x = np.column_stack([x, x[:, 0] - x[:, 3], np.ones(900)])  # inputs that depend on each other change nothing
    problem = problem_of(x, y, n_classes, rng.random(900) + 0.5 if weighted else None)
    assert proves_overlap(problem, solve(problem, "lbfgs", 1e-8, 300).coef, step)


@pytest.mark.parametrize("n_rare", [1, 3, 30])
def test_a_rare_value_with_one_class_alone_is_no_overlap(n_rare):
    rng = np.random.default_rng(0)
    rare = np.arange(5000) < n_rare
    x = np.column_stack([rng.normal(size=5000), rare])
    y = np.where(rare, 1, rng.integers(0, 2, 5000))
    problem = problem_of(x, y, 2)
    for tol in (1e-3, 1e-6, 1e-9):
        assert not proves_overlap(problem, solve(problem, "lbfgs", tol, 300).coef)
    assert find_separation((x - problem.center) / problem.scale, y, 2) is not None
    y[0] = 0  # one row of the other class, and the estimate exists
    if n_rare > 1:
        problem = problem_of(x, y, 2)
        assert proves_overlap(problem, solve(problem, "lbfgs", 1e-9, 300).coef)


# Of 800 random tables the ones whose separation was taken for overlap while the unit of the largest column judged all.
@pytest.mark.parametrize("seed", [209, 233, 573, 617, 669, 675])
def test_separation_on_mixed_scales_is_not_taken_for_overlap(seed):
    rng = np.random.default_rng(seed)
    n_classes, n = rng.integers(2, 4), rng.integers(8, 60)
    x, y = rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    rare = rng.random(n) < 0.15
    if seed % 3:
        x[rare, rng.integers(3)], y[rare] = 5.0, 0
    problem = problem_of(x * [1e6, 1e-6, 1e4], y, n_classes)
    assert find_separation((problem.table - problem.center) / problem.scale, y, n_classes) is not None
    assert not proves_overlap(problem, solve(problem, "lbfgs", 1e-8, 1000).coef)
    with pytest.warns(ConvergenceWarning, match="separated by"):
        assert LogisticRegression().fit(problem.table, y).separation_ is not None
