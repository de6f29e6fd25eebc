"""Maximum likelihood of linear units: gradient ascent, Newton's method and L-BFGS, over any linear problem."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize

from bayeskit.estimate.history import History
from bayeskit.estimate.linear_problem import LinearProblem, LogisticProblem, Matrix
from bayeskit.estimate.steep_directions import steep_directions
from bayeskit.progress import Progress, report_step

# Cells times coefficients of a problem so small that Newton steps at the end cost next to nothing: rows that come in
# another order, or as weights, then give the same digits.
_SMALL = 10_000_000
# Rows of a part that tells where to start.
_FEWEST = 4_000


@dataclass(frozen=True, eq=False)
class Optimum:
    """The result of a solver, and its history: −f before each step and at the end."""

    coef: Matrix  # (n_units, n_inputs + 1), for centred inputs
    gradient: float  # the largest entry, per row and for inputs of deviation 1
    history: History


def solve(
    problem: LinearProblem,
    solver: str,
    tol: float,
    max_iter: int,
    learning_rate: float | str = "auto",
    *,
    record: bool = False,
    progress: Progress | None = None,
) -> Optimum:
    """Minimise f from zero, until no entry of the gradient (inputs of deviation 1) is above ``tol``.

    With ``record`` the history keeps the coefficients before each step and at the end; ``progress`` is called after
    each step.
    """
    path = _Path(solver, tol, max_iter, record, progress)
    if solver == "gradient":
        return _ascend(problem, path, learning_rate)
    if solver == "newton":
        return _newton(cast(LogisticProblem, problem), path)
    return _lbfgs(problem, path)


@dataclass(eq=False)
class _Path:
    """The way of a solver so far."""

    solver: str
    tol: float
    max_iter: int
    record: bool = False
    progress: Progress | None = None
    objective: list[float] = field(default_factory=list)
    coefs: list[Matrix] = field(default_factory=list)

    def add(self, coef: Matrix, value: float) -> None:
        """Keep the objective −f of a step, and where it is wanted the coefficients."""
        self.objective.append(-float(value))
        if self.record:
            self.coefs.append(coef)
        if len(self.objective) > 1:
            report_step(self.progress, self.solver, len(self.objective) - 1, objective=self.objective[-1])

    def replace_last(self, coef: Matrix, value: float) -> None:
        """Keep other coefficients for the last step."""
        self.objective.pop()
        if self.record:
            self.coefs.pop()
        self.add(coef, value)

    @property
    def may_go_on(self) -> bool:
        """Whether the limit of steps is not reached yet."""
        return len(self.objective) <= self.max_iter

    def end(self, coef: Matrix, size: float) -> Optimum:
        """Return the result, with the reason for the end."""
        reason = f"no entry of the gradient is above {self.tol:g}"
        if size > self.tol:
            reason = f"the limit of {self.max_iter} steps was reached"
            reason = "no step improves the objective" if self.may_go_on else reason
        history = History(self.solver, tuple(self.objective), reason, size <= self.tol, (), tuple(self.coefs))
        return Optimum(coef, size, history)


def _ascend(problem: LinearProblem, path: _Path, learning_rate: float | str) -> Optimum:
    eta = _rate(problem) if isinstance(learning_rate, str) else learning_rate
    coef = np.zeros(problem.shape)
    value, gradient = problem.value(coef)
    path.add(coef, value)
    while problem.size(gradient) > path.tol and path.may_go_on:
        # The textbook's rule on inputs of deviation 1: w ← w + η Σ (d − p) x, written back for the inputs as they are.
        coef = coef - eta * gradient / problem.unit**2
        value, gradient = problem.value(coef)
        path.add(coef, value)
    return path.end(coef, problem.size(gradient))


def _rate(problem: LinearProblem) -> float:
    """Return 1 over the largest curvature there can be, so that no step goes up."""
    unit = problem.unit
    correlations = problem.correlations(len(problem.table)) / unit[:, None] / unit
    steepest = problem.curvature[1] * float(np.linalg.eigvalsh(correlations)[-1])
    return 1.0 / (steepest + problem.l2 / problem.total / float(unit.min()) ** 2)


def _newton(problem: LogisticProblem, path: _Path) -> Optimum:
    coef = np.zeros(problem.shape)
    value, gradient = problem.value(coef)
    path.add(coef, value)
    ahead = True
    while ahead and problem.size(gradient) > path.tol and path.may_go_on:
        step = _newton_step(problem, coef, gradient)
        ahead = False
        for _ in range(40):  # halved until it goes up, which a full step far from the optimum need not
            new, slope = problem.value(coef - step)
            if new <= value or problem.size(slope) < 0.5 * problem.size(gradient):
                coef, value, gradient, ahead = coef - step, new, slope, True
                break
            step = step / 2
        path.add(coef, value)
    return path.end(coef, problem.size(gradient))


def _newton_step(problem: LogisticProblem, coef: Matrix, gradient: Matrix) -> Matrix:
    """Return H⁻¹ g; directions in which the likelihood does not change get no step."""
    # Adding the same to all classes changes nothing, nor does a move along inputs that depend on each other.
    directions = steep_directions(problem.hessian(coef), np.tile(problem.unit, problem.n_units), 1e-13 * coef.size)
    return directions.solve(gradient.ravel()).reshape(coef.shape)


def _polished(problem: LinearProblem, coef: Matrix, size: float, tol: float) -> tuple[Matrix, float]:
    """Return coefficients after a few Newton steps, where a line search ends at the rounding error of the value."""
    for _ in range(3):
        if size <= tol or coef.size > 2000 or not isinstance(problem, LogisticProblem):
            break
        new = coef - _newton_step(problem, coef, problem.value(coef)[1])
        gradient = problem.size(problem.value(new)[1])
        if not gradient < size:
            break
        coef, size = new, gradient
    return coef, size


class _Start(NamedTuple):
    """Where to begin, the second derivatives there, and f of all rows with its gradient."""

    coef: Matrix
    curvature: Matrix  # (n_inputs, n_inputs), of every unit alike, or (n_units, n_inputs, n_inputs)
    value: tuple[float, Matrix]


def _start(problem: LinearProblem) -> _Start:
    """Return the coefficients that some of many rows ask for: the way on all rows is then a few steps.

    Where that would not pay, or where the part misleads, the way begins at zero, where all classes are as likely.
    """
    units, inputs = problem.shape
    step = len(problem.table) // max(_FEWEST, 20 * inputs, 10 * units * inputs)
    if isinstance(problem, LogisticProblem) and problem.frequencies is None and step >= 4:
        part = replace(problem.part(step), l2=problem.l2 / step)
        if units == 1:
            coef = _newton(part, _Path("newton", 1e-4, 20)).coef
        else:
            coef = _lbfgs(part, _Path("lbfgs", 1e-3, 100)).coef
        value = problem.value(coef)
        if value[0] < problem.value_at_zero:
            return _Start(coef, part.hessian(coef) if units == 1 else part.unit_hessians(coef), value)
    zero = np.zeros(problem.shape)
    return _Start(zero, problem.curvature[0] * problem.correlations(), problem.value(zero))


class _Coordinates:
    """Coordinates in which the second derivatives at the start are the identity: W = V L⁻¹, unit by unit.

    There the first step is nearly Newton's, and the way is short.
    """

    def __init__(self, problem: LinearProblem, curvature: Matrix) -> None:
        self.unit, self.shape = problem.unit, problem.shape
        share = curvature / self.unit[:, None] / self.unit
        share[..., range(len(self.unit)), range(len(self.unit))] += (
            1e-9 * len(self.unit) + problem.l2 / problem.total / self.unit**2
        )
        every = [linalg.cholesky(each, lower=True) for each in share.reshape(-1, *share.shape[-2:])]
        inverse = [linalg.solve_triangular(root, np.diag(1.0 / self.unit), lower=True) for root in every]
        self.root, self.inverse = (np.stack(parts).reshape(share.shape) for parts in (every, inverse))

    def inside(self, coef: Matrix) -> NDArray[np.float64]:
        """Return V of coefficients W, flat."""
        return self._times(coef * self.unit, self.root).ravel()

    def outside(self, v: NDArray[np.float64]) -> Matrix:
        """Return the coefficients W of a flat V."""
        return self._times(v.reshape(self.shape), self.inverse)

    def slope(self, gradient: Matrix) -> NDArray[np.float64]:
        """Return the gradient by V, flat, of the one by W."""
        return self._times(gradient, np.swapaxes(self.inverse, -1, -2)).ravel()

    @staticmethod
    def _times(rows: Matrix, matrix: Matrix) -> Matrix:
        return np.asarray(rows @ matrix if matrix.ndim == 2 else (rows[:, None, :] @ matrix)[:, 0])


def _lbfgs(problem: LinearProblem, path: _Path) -> Optimum:
    tol, max_iter = path.tol, path.max_iter
    start, curvature, at_start = _start(problem)
    space = _Coordinates(problem, curvature)
    if start.any() and isinstance(problem, LogisticProblem):
        path.add(np.zeros(problem.shape), problem.value_at_zero)
    n_before = len(path.objective)

    def down(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        if len(path.objective) == n_before:
            value, gradient = at_start
            path.add(start, value)
        else:
            value, gradient = problem.value(space.outside(v))
        size = problem.size(gradient)
        if size <= tol:  # judged for inputs of deviation 1, whatever the coordinates
            raise _ReachedError(v, value, size)
        return value, space.slope(gradient)

    def note(intermediate_result: Any) -> None:
        path.add(space.outside(intermediate_result.x), intermediate_result.fun)

    options: Any = {"maxiter": max_iter, "gtol": 0.0, "ftol": 0.0, "maxcor": 20, "maxls": 40, "maxfun": 100 * max_iter}
    minimize: Any = optimize.minimize
    try:
        result = minimize(down, space.inside(start), jac=True, method="L-BFGS-B", options=options, callback=note)
        coef = space.outside(result.x)
        size = problem.size(problem.value(coef)[1])
        if size > tol and result.nit < max_iter:
            coef, size = _polished(problem, coef, size, tol)
            path.replace_last(coef, problem.value(coef)[0])
    except _ReachedError as end:
        coef, size = space.outside(end.v), end.size
        value = end.value
        if problem.table.size * coef.size <= _SMALL:
            coef, size = _polished(problem, coef, size, 0.0)
            value = problem.value(coef)[0]
        path.add(coef, value)
    return path.end(coef, size)


class _ReachedError(Exception):
    """The gradient is small enough; only an exception stops SciPy."""

    def __init__(self, v: NDArray[np.float64], value: float, size: float) -> None:
        super().__init__()
        self.v, self.value, self.size = v.copy(), value, size
