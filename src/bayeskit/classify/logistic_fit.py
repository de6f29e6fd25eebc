"""A table with labels → the coefficients of a logistic model, their covariance, and whether they exist."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.linear_classifier import n_units
from bayeskit.estimate.class_separation import ClassSeparation, find_separation
from bayeskit.estimate.history import History
from bayeskit.estimate.linear_problem import LogisticProblem
from bayeskit.estimate.linear_solvers import Optimum, solve
from bayeskit.estimate.overlap import proves_overlap
from bayeskit.estimate.steep_directions import steep_directions
from bayeskit.learn.design_matrix import DesignMatrix, Matrix
from bayeskit.learn.labelled import Labelled
from bayeskit.progress import Progress
from bayeskit.table.schema import Schema

# Where all scores are below this (or below what a loose tolerance asks for) classes cannot be separated: a separating
# direction would have been followed further.
_LARGE_SCORE = 12.0
# Rows on which overlap is looked for first: where some rows overlap, all do.
_SOME_ROWS = (2_000, 20_000)
# Coefficients whose second derivatives are quick to compute: the cost of a row grows with their square.
_FEW = 300


@dataclass(frozen=True, eq=False)
class Fitted:
    """The result of a fit."""

    design: DesignMatrix
    optimum: Optimum
    covariance: Matrix | None  # of the coefficients against the reference, class by class, intercept first
    log_likelihood: float
    null_log_likelihood: float
    n_rows: float
    separation: ClassSeparation | None


def fit_logistic(
    rows: Labelled,
    schema: Schema,
    *,
    l2: float,
    solver: str,
    tol: float,
    max_iter: int,
    learning_rate: float | str,
    standard_errors: bool | str,
    reference: int,
    progress: Progress | None = None,
) -> Fitted:
    """Fit a logistic model to labelled rows under a schema."""
    n_classes = len(rows.classes)
    inputs = DesignMatrix.learn(rows.source, schema, rows.weight)
    design = inputs.design
    problem = LogisticProblem(*inputs.with_targets(rows.y), n_units(n_classes), float(l2))
    n_class = np.bincount(rows.y, rows.weight, minlength=n_classes)
    null = float((n_class * np.log(n_class / n_class.sum())).sum())
    if n_classes == 1:
        history = History(solver, (0.0,), "there is one class", True)
        empty = Optimum(np.empty((0, len(design.means) + 1)), 0.0, history)
        return Fitted(design, empty, np.empty((0, 0)), 0.0, 0.0, problem.total, None)
    # Gradient ascent is there to be looked at, so its path is kept.
    optimum = solve(problem, solver, tol, max_iter, learning_rate, record=solver == "gradient", progress=progress)
    separation = _separation(problem, optimum, n_classes, tol) if l2 == 0 else None
    if separation is not None and solver == "lbfgs" and optimum.coef.size <= _FEW:
        # Nothing to converge to: Newton's way, stopped early, is the same for rows in any order.
        optimum = solve(problem, "newton", max(tol, 1e-4), max_iter)
    covariance = None
    if optimum.coef.size <= _FEW if standard_errors == "auto" else standard_errors:
        covariance = _covariance(problem, design, optimum.coef, n_classes, reference, separation)
    penalty = 0.5 * l2 * float((optimum.coef[:, :-1] ** 2).sum())
    log_likelihood = optimum.history.objective[-1] * problem.total + penalty
    return Fitted(design, optimum, covariance, log_likelihood, null, problem.total, separation)


def _separation(problem: LogisticProblem, optimum: Optimum, n_classes: int, tol: float) -> ClassSeparation | None:
    n = len(problem.table)
    if proves_overlap(problem, optimum.coef, -(-n // _SOME_ROWS[-1])):
        return None
    for some in _SOME_ROWS:
        if 2 * some < n:
            part = problem.part(-(-n // some))
            if len(np.unique(part.y)) == n_classes and proves_overlap(part, solve(part, "lbfgs", 1e-6, 300).coef):
                return None
    largest = 0.0
    for x, _, _ in problem.blocks():
        scores = x @ optimum.coef.T
        spread = np.ptp(scores, axis=1) if n_classes > 2 else np.abs(scores[:, 0])
        largest = max(largest, float(spread.max(initial=0.0)))
    if largest < min(_LARGE_SCORE, -0.7 * np.log(max(tol, 1e-300))):
        return None
    whole = np.concatenate([x for x, _, _ in problem.blocks()])[:, :-1]
    return find_separation(whole / problem.scale, problem.y, n_classes)


def _covariance(
    problem: LogisticProblem, design: DesignMatrix, coef: Matrix, n_classes: int, reference: int, separation: Any
) -> Matrix:
    """Return H⁻¹ of the coefficients against the reference, for inputs as they are, intercepts first."""
    units, inputs = problem.shape
    side = (n_classes - 1) * inputs
    if separation is not None:
        return np.full((side, side), np.nan)
    matrix = problem.hessian(coef) * problem.total
    if n_classes > 2:
        kept = np.concatenate([np.arange(u * inputs, (u + 1) * inputs) for u in range(units) if u != reference])
        # With a penalty all classes have coefficients of their own; their differences are what is asked for.
        if problem.l2 == 0:
            matrix = matrix[np.ix_(kept, kept)]
    unit = np.tile(problem.unit, len(matrix) // inputs)
    directions = steep_directions(matrix, unit, 1e-11)
    inverse = (directions.steep / directions.values) @ directions.steep.T
    flat = (np.abs(directions.flat) * unit[:, None]).max(axis=1, initial=0.0) > 1e-6
    if n_classes > 2 and problem.l2 > 0:
        differences = np.kron(np.delete(np.eye(units), reference, axis=0) - np.eye(units)[reference], np.eye(inputs))
        inverse, flat = differences @ inverse @ differences.T, np.zeros(side, dtype=bool)
    # Inputs that depend on each other have no coefficient of their own, and no finite error.
    inverse[flat], inverse[:, flat] = np.nan, np.nan
    # From centred inputs, intercept last, to inputs as they are, intercept first.
    move = np.zeros((inputs, inputs))
    move[1:, :-1] = np.eye(inputs - 1)
    move[0, :-1], move[0, -1] = -design.means, 1.0
    whole: Matrix = np.asarray(np.kron(np.eye(n_classes - 1), move), dtype=np.float64)
    if flat.any():
        return _with_gaps(whole, inverse, flat)
    return np.asarray(whole @ inverse @ whole.T)


def _with_gaps(whole: Matrix, inverse: Matrix, flat: NDArray[np.bool_]) -> Matrix:
    reached = (np.abs(whole) > 0) @ flat
    result = whole @ np.nan_to_num(inverse) @ whole.T
    result[reached], result[:, reached] = np.nan, np.nan
    return np.asarray(result)
