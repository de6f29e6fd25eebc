"""Maximum likelihood of logistic models: gradient ascent, Newton's method and L-BFGS over one fused kernel."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, optimize
from scipy.special import softmax

from bayeskit._kernels import logistic_gradient, logistic_hessian, n_threads
from bayeskit.estimate.history import History
from bayeskit.progress import Progress, report_step

Matrix = NDArray[np.float64]

# Rows whose inputs are looked at for their correlations; more would only change how quickly a solver gets there.
_SAMPLE = 20_000
# Cells times coefficients of a problem so small that Newton steps at the end cost next to nothing: rows that come in
# another order, or as weights, then give the same digits.
_SMALL = 10_000_000
# Rows of a part that tells where to start.
_FEWEST = 4_000


@dataclass(frozen=True, eq=False)
class LogisticProblem:
    r"""The penalised log-likelihood of units over centred inputs, as something to minimise, per row.

    .. math:: f(W) = -\frac1n \Big( \sum_i w_i \log P(y_i \mid x_i) - \tfrac{\lambda}2 \sum_{uj} W_{uj}^2 \Big), \quad
              P(c \mid x) \propto e^{W_c \cdot (x - m) + b_c}

    The last column of W is the intercept, which is not penalised. One unit stands for the second of two classes.
    """

    table: NDArray[Any]  # (n_rows, n_inputs); NaN is a cell that takes the centre
    y: NDArray[Any]  # (n_rows,) class codes
    weight: NDArray[np.float64] | None
    center: NDArray[np.float64]  # (n_inputs,)
    scale: NDArray[np.float64]  # (n_inputs,): deviations, the units in which a gradient is judged
    n_units: int
    l2: float
    # (n_units, n_inputs + 1), or None: Σ w_i (d_i − [y_i = 1]) (x_i − m) where a unit learns frequencies d instead of
    # labels. The log-likelihood is linear in d, so that this is all they change.
    frequencies: NDArray[np.float64] | None = None

    @property
    def total(self) -> float:
        """Rows, or their weight."""
        return float(len(self.y) if self.weight is None else self.weight.sum())

    @property
    def shape(self) -> tuple[int, int]:
        """Units, and inputs with the intercept."""
        return self.n_units, self.table.shape[1] + 1

    def value(self, coef: Matrix) -> tuple[float, Matrix]:
        """Return f and its gradient."""
        threads = n_threads(self.table.size * self.n_units)
        loss, gradient = logistic_gradient(self.table, self.y, self.weight, coef, self.center, threads)
        if self.frequencies is not None:
            loss -= float((self.frequencies * coef).sum())
            gradient -= self.frequencies
        if self.l2:
            loss += 0.5 * self.l2 * float((coef[:, :-1] ** 2).sum())
            gradient[:, :-1] += self.l2 * coef[:, :-1]
        return loss / self.total, gradient / self.total

    def hessian(self, coef: Matrix) -> Matrix:
        """Return the second derivatives of f, of shape (n_units · n_inputs, n_units · n_inputs)."""
        units, inputs = self.shape
        threads = n_threads(self.table.size * units * inputs)
        matrix = logistic_hessian(self.table, self.weight, coef, self.center, threads)
        if self.l2:
            diagonal = np.full((units, inputs), self.l2)
            diagonal[:, -1] = 0.0
            matrix[np.diag_indices_from(matrix)] += diagonal.ravel()
        return matrix / self.total

    def unit_hessians(self, coef: Matrix) -> Matrix:
        """Return the second derivatives of f by the coefficients of each unit, (n_units, n_inputs, n_inputs)."""
        hessians = np.zeros((self.n_units, self.shape[1], self.shape[1]))
        for x, _, w in self.blocks():
            p = softmax(x @ coef.T, axis=1)
            for u, share in enumerate((w[:, None] * p * (1.0 - p)).T):
                hessians[u] += (x * share[:, None]).T @ x
        return hessians / self.total

    def part(self, step: int) -> LogisticProblem:
        """Return the problem of every k-th row."""
        weight = None if self.weight is None else np.ascontiguousarray(self.weight[::step])
        return replace(self, table=self.table[::step], y=self.y[::step], weight=weight)

    def blocks(self, step: int = 1) -> Iterator[tuple[Matrix, NDArray[Any], NDArray[np.float64]]]:
        """Yield every k-th row, block by block: centred inputs with the intercept, class codes and weights."""
        for begin in range(0, len(self.table), step << 14):
            rows = slice(begin, begin + (step << 14), step)
            x = np.asarray(self.table[rows], dtype=np.float64) - self.center
            if x.size and np.isnan(x.min()):
                x[np.isnan(x)] = 0.0
            w = np.ones(len(x)) if self.weight is None else self.weight[rows]
            yield np.column_stack([x, np.ones(len(x))]), self.y[rows], w

    def correlations(self) -> Matrix:
        """Return Σ x xᵀ / n over centred inputs with the intercept, of evenly spaced rows."""
        parts = list(self.blocks(-(-len(self.table) // _SAMPLE)))
        x, w = np.concatenate([part[0] for part in parts]), np.concatenate([part[2] for part in parts])
        return np.asarray((x * (w / max(w.sum(), 1e-300))[:, None]).T @ x)


@dataclass(frozen=True, eq=False)
class Optimum:
    """The result of a solver, and its history: −f before each step and at the end."""

    coef: Matrix  # (n_units, n_inputs + 1), for centred inputs
    gradient: float  # the largest entry, per row and for inputs of deviation 1
    history: History


def solve(
    problem: LogisticProblem,
    solver: str,
    tol: float,
    max_iter: int,
    learning_rate: float | str = "auto",
    *,
    record: bool = False,
    progress: Progress | None = None,
) -> Optimum:
    """Maximise the likelihood from zero, until no entry of the gradient (inputs of deviation 1) is above ``tol``.

    With ``record`` the history keeps the coefficients before each step and at the end; ``progress`` is called after
    each step.
    """
    path = _Path(solver, tol, max_iter, record, progress)
    if solver == "gradient":
        return _ascend(problem, path, learning_rate)
    return (_newton if solver == "newton" else _lbfgs)(problem, path)


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


def _size(problem: LogisticProblem, gradient: Matrix) -> float:
    unit = np.append(problem.scale, 1.0)
    return float(np.abs(gradient / unit).max(initial=0.0))


def _ascend(problem: LogisticProblem, path: _Path, learning_rate: float | str) -> Optimum:
    unit = np.append(problem.scale, 1.0)
    eta = _rate(problem, unit) if isinstance(learning_rate, str) else learning_rate
    coef = np.zeros(problem.shape)
    value, gradient = problem.value(coef)
    path.add(coef, value)
    while _size(problem, gradient) > path.tol and path.may_go_on:
        # The textbook's rule on inputs of deviation 1: w ← w + η Σ (d − p) x, written back for the inputs as they are.
        coef = coef - eta * gradient / unit**2
        value, gradient = problem.value(coef)
        path.add(coef, value)
    return path.end(coef, _size(problem, gradient))


def _rate(problem: LogisticProblem, unit: Matrix) -> float:
    # P (1 − P) ≤ ¼, and the matrix of a softmax has no eigenvalue above ½ (Böhning 1992): no step then goes down.
    most = float(np.linalg.eigvalsh(problem.correlations() / unit[:, None] / unit)[-1])
    return 1.0 / float(
        (0.25 if problem.n_units == 1 else 0.5) * 1.5 * most + problem.l2 / problem.total / unit.min() ** 2
    )


def _newton(problem: LogisticProblem, path: _Path) -> Optimum:
    coef = np.zeros(problem.shape)
    value, gradient = problem.value(coef)
    path.add(coef, value)
    ahead = True
    while ahead and _size(problem, gradient) > path.tol and path.may_go_on:
        step = newton_step(problem, coef, gradient)
        ahead = False
        for _ in range(40):  # halved until it goes up, which a full step far from the optimum need not
            new, slope = problem.value(coef - step)
            if new <= value or _size(problem, slope) < 0.5 * _size(problem, gradient):
                coef, value, gradient, ahead = coef - step, new, slope, True
                break
            step = step / 2
        path.add(coef, value)
    return path.end(coef, _size(problem, gradient))


def newton_step(problem: LogisticProblem, coef: Matrix, gradient: Matrix) -> Matrix:
    """Return H⁻¹ g; directions in which the likelihood does not change get no step."""
    units, inputs = problem.shape
    unit = np.tile(np.append(problem.scale, 1.0), units)
    matrix = problem.hessian(coef) / unit[:, None] / unit
    values, vectors = linalg.eigh(matrix)
    # Adding the same to all classes changes nothing, nor does a move along inputs that depend on each other.
    steep = values > 1e-13 * max(float(values[-1]), 1e-300) * len(values)
    inside = vectors[:, steep].T @ (gradient.ravel() / unit)
    return np.asarray((vectors[:, steep] @ (inside / values[steep]) / unit).reshape(units, inputs))


def _polished(problem: LogisticProblem, coef: Matrix, size: float, tol: float) -> tuple[Matrix, float]:
    """Return coefficients after a few Newton steps, where a line search ends at the rounding error of the value."""
    for _ in range(3):
        if size <= tol or coef.size > 2000:
            break
        new = coef - newton_step(problem, coef, problem.value(coef)[1])
        gradient = _size(problem, problem.value(new)[1])
        if not gradient < size:
            break
        coef, size = new, gradient
    return coef, size


class _Start(NamedTuple):
    """Where to begin, the second derivatives there, and f of all rows with its gradient."""

    coef: Matrix
    curvature: Matrix  # (n_inputs, n_inputs), of every unit alike, or (n_units, n_inputs, n_inputs)
    value: tuple[float, Matrix]


def _start(problem: LogisticProblem) -> _Start:
    """Return the coefficients that some of many rows ask for: the way on all rows is then a few steps.

    Where that would not pay, or where the part misleads, the way begins at zero, where all classes are as likely.
    """
    units, inputs = problem.shape
    step = len(problem.table) // max(_FEWEST, 20 * inputs, 10 * units * inputs)
    if problem.frequencies is None and step >= 4:
        part = replace(problem.part(step), l2=problem.l2 / step)
        if units == 1:
            coef = _newton(part, _Path("newton", 1e-4, 20)).coef
        else:
            coef = _lbfgs(part, _Path("lbfgs", 1e-3, 100)).coef
        value = problem.value(coef)
        if value[0] < np.log(max(2, units)):
            return _Start(coef, part.hessian(coef) if units == 1 else part.unit_hessians(coef), value)
    at_zero = 0.25 if units == 1 else (1.0 - 1.0 / units) / units
    zero = np.zeros(problem.shape)
    return _Start(zero, at_zero * problem.correlations(), problem.value(zero))


class _Coordinates:
    """Coordinates in which the second derivatives at the start are the identity: W = V L⁻¹, unit by unit.

    There the first step is nearly Newton's, and the way is short.
    """

    def __init__(self, problem: LogisticProblem, curvature: Matrix) -> None:
        self.unit, self.shape = np.append(problem.scale, 1.0), problem.shape
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


def _lbfgs(problem: LogisticProblem, path: _Path) -> Optimum:
    tol, max_iter = path.tol, path.max_iter
    start, curvature, at_start = _start(problem)
    space = _Coordinates(problem, curvature)
    if start.any():
        path.add(np.zeros(problem.shape), float(np.log(max(2, problem.n_units))))
    n_before = len(path.objective)

    def down(v: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        if len(path.objective) == n_before:
            value, gradient = at_start
            path.add(start, value)
        else:
            value, gradient = problem.value(space.outside(v))
        size = _size(problem, gradient)
        if size <= tol:  # judged for inputs of deviation 1, whatever the coordinates
            raise _FoundError(v, value, size)
        return value, space.slope(gradient)

    def note(intermediate_result: Any) -> None:
        path.add(space.outside(intermediate_result.x), intermediate_result.fun)

    options: Any = {"maxiter": max_iter, "gtol": 0.0, "ftol": 0.0, "maxcor": 20, "maxls": 40, "maxfun": 100 * max_iter}
    minimize: Any = optimize.minimize
    try:
        result = minimize(down, space.inside(start), jac=True, method="L-BFGS-B", options=options, callback=note)
        coef = space.outside(result.x)
        size = _size(problem, problem.value(coef)[1])
        if size > tol and result.nit < max_iter:
            coef, size = _polished(problem, coef, size, tol)
            path.replace_last(coef, problem.value(coef)[0])
    except _FoundError as end:
        coef, size = space.outside(end.v), end.size
        value = end.value
        if problem.table.size * coef.size <= _SMALL:
            coef, size = _polished(problem, coef, size, 0.0)
            value = problem.value(coef)[0]
        path.add(coef, value)
    return path.end(coef, size)


class _FoundError(Exception):
    """The gradient is small enough; only an exception stops SciPy."""

    def __init__(self, v: NDArray[np.float64], value: float, size: float) -> None:
        super().__init__()
        self.v, self.value, self.size = v.copy(), value, size
