"""A sigmoid unit: probabilities learned by gradient ascent to maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import optimize
from scipy.special import expit, log_expit, softmax

from bayeskit.classify.table_classifier import ClassifierState, TableClassifier, classes_to_parts
from bayeskit.concept.least_squares import read_numbers
from bayeskit.counts.table import read_classes
from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.estimate.history import History
from bayeskit.estimate.logistic import LogisticProblem, solve
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.design_matrix import DesignMatrix, Matrix
from bayeskit.learn.labelled import read_labelled
from bayeskit.learn.parameters import at_least, one_of
from bayeskit.learn.state import learned
from bayeskit.table.labels import read_weight
from bayeskit.table.read import Source, read_table
from bayeskit.table.schema import Schema

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SigmoidState(ClassifierState):
    """The weights of each unit, and the way to them."""

    design: DesignMatrix
    coef: Matrix  # (n_units, n_inputs)
    intercept: Vector  # (n_units,)
    histories: list[History]

    @property
    def n_iter(self) -> int:
        """The largest number of steps over the units."""
        return max((history.n_steps for history in self.histories), default=1)

    @property
    def input_names(self) -> tuple[str, ...]:
        """What each weight belongs to."""
        return self.design.names


class SigmoidUnit(TableClassifier):
    r"""A unit h(x) = σ(w₀ + Σ w_k x_k) that learns the probability of a class.

    The cross-entropy is the log-likelihood of 0-1 labels whose probability is h(x), and its gradient gives the rule of
    the textbook; that of the squared error has the factor h (1 − h) besides:

    .. math::
        \text{cross-entropy:} \quad \Delta w_{jk} &= \eta \sum_i (d_i - h(x_i)) \, x_{ijk} \\
        \text{squared error:} \quad \Delta w_{jk} &= \eta \sum_i h(x_i) (1 - h(x_i)) (d_i - h(x_i)) \, x_{ijk}

    With two classes there is one unit, for the second; with more there is one for each class, and their outputs are
    divided by their sum. Columns are read as in :class:`~bayeskit.LeastSquares`.

    Parameters
    ----------
    rule : {"cross-entropy", "squared-error"}, default "cross-entropy"
        What is maximised: the likelihood, or minus the squared error.
    solver : {"gradient", "lbfgs"}, default "gradient"
        Gradient steps on standardised inputs; or SciPy's L-BFGS on the same objective, which converges where plain
        gradient steps would be many. With many rows its first step goes to the optimum of a part of them.
    learning_rate : float or "auto", default "auto"
        η; "auto" is 1 over the largest curvature that the objective can have, so that no step lowers it.
    max_iter : int, default 1000
        The largest number of steps.
    tol : float, default 1e-4
        Stop when no entry of the gradient, divided by the number of rows, is larger.
    kinds : dict of column to kind, or one kind for all, optional
        Overrides the dtype, as in :class:`~bayeskit.NaiveBayes`.

    Attributes
    ----------
    coef_ : array of shape (n_units, n_inputs)
        w_jk of each unit.
    intercept_ : array of shape (n_units,)
        w₀ of each unit.
    input_names_ : tuple of str
        What each weight belongs to: a column, or "column = value".
    histories_ : list of History
        The objective of each unit, per row, before each step and at the end, and why it stopped.
    n_iter_ : int
        The largest number of steps over the units.

    References
    ----------
    Mitchell (1997), Machine Learning, section 6.5.1.

    Examples
    --------
    >>> unit = SigmoidUnit(solver="lbfgs", tol=1e-8).fit({"x": [1, 2, 3, 4]}, [0, 1, 0, 1])
    >>> unit.predict_proba({"x": [2.5]}).round(6)
    array([[0.5, 0.5]])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "rule": one_of("cross-entropy", "squared-error"),
        "solver": one_of("gradient", "lbfgs"),
        "learning_rate": (
            "'auto' or a finite number above 0",
            lambda eta: eta == "auto" if isinstance(eta, str) else at_least(0)[1](eta) and eta > 0,
        ),
        "max_iter": at_least(1, whole=True),
        "tol": at_least(0),
    }

    _state: SigmoidState

    coef_ = learned("coef", "w_jk of each unit, of shape (n_units, n_inputs).")
    intercept_ = learned("intercept", "w₀ of each unit, of shape (n_units,).")
    input_names_ = learned("input_names", 'What each weight belongs to: a column, or "column = value".')
    histories_ = learned("histories", "The objective of each unit, per row, on the way, and why it stopped.")
    n_iter_ = learned("n_iter", "The largest number of steps over the units.")

    def __init__(
        self,
        *,
        rule: str = "cross-entropy",
        solver: str = "gradient",
        learning_rate: float | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        kinds: Any = None,
    ) -> None:
        self.rule = rule
        self.solver = solver
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them."""
        settings = self._checked_settings()
        rows = read_labelled(X, y, sample_weight, target, None, type(self).__name__, self.kinds)
        n_classes = len(rows.classes)
        units = [1] if n_classes == 2 else list(range(n_classes))
        wanted = np.stack([(rows.y == c).astype(np.float64) for c in units]) if n_classes > 1 else np.empty((0, 0))
        self._state = settings._fit(rows.source, wanted, rows.weight, rows.classes, rows.target)
        return self

    def fit_frequencies(self, X: Any, frequency: Any, sample_weight: Any = None) -> Self:
        """Learn from the share of positive labels at each x; equal to a fit to the raw 0-1 rows.

        Parameters
        ----------
        X : table
            One row for each x.
        frequency : array of shape (n_rows,)
            How often the label was 1 there, between 0 and 1.
        sample_weight : array of shape (n_rows,), optional
            The number of raw rows at each x.
        """
        settings = self._checked_settings()
        source = read_table(X)
        wanted = read_numbers(frequency, source.n_rows)
        outside = ~((wanted >= 0.0) & (wanted <= 1.0))
        if outside.any():
            row = int(outside.argmax())
            raise TableError(f"frequency, row {row}: a share lies between 0 and 1; got {wanted[row]:g}.")
        weight = read_weight(sample_weight, source.n_rows)
        if weight is not None and not weight.all():
            kept = np.flatnonzero(weight)
            source, wanted, weight = source.take(kept), wanted[kept], weight[kept]
        self._state = settings._fit(source, wanted[None, :], weight, np.array([0, 1]), None)
        return self

    def _fit(
        self, source: Source, wanted: Matrix, weight: Vector | None, classes: NDArray[Any], target: str | None
    ) -> SigmoidState:
        schema = learn_schema(source, self.kinds, weight=weight)
        design, table, scale = DesignMatrix.learn(source, schema, weight)
        climb = self._climb_likelihood if self.rule == "cross-entropy" else self._climb_squared_error
        optima = [climb(design, table, scale, d, weight) for d in wanted]
        weights = np.array([v[:-1] for v, _ in optima]).reshape(len(optima), len(scale))
        intercept = np.array([v[-1] for v, _ in optima]) - weights @ design.means
        histories = [history for _, history in optima]
        return SigmoidState(self, schema, target, classes, design, weights, intercept, histories)

    def _climb_likelihood(
        self, design: DesignMatrix, table: NDArray[Any], scale: Vector, d: Vector, weight: Vector | None
    ) -> tuple[Vector, History]:
        """Return the weights of one unit around the mean row, intercept last, and the history."""
        labels = (d == 1.0).astype(np.uint8)
        problem = LogisticProblem(table, labels, weight, design.means, scale, 1, 0.0, _beyond(design, table, d, weight))
        eta: float | str = self.learning_rate
        if self.solver == "gradient" and isinstance(eta, str):
            eta = _rate(*_standard(design, table, scale, weight))
        optimum = solve(problem, self.solver, self.tol, self.max_iter, eta)
        if not optimum.history.converged and optimum.history.n_steps >= self.max_iter:
            self._warn()
        return optimum.coef[0], optimum.history

    def _climb_squared_error(
        self, design: DesignMatrix, table: NDArray[Any], scale: Vector, d: Vector, weight: Vector | None
    ) -> tuple[Vector, History]:
        x, share = _standard(design, table, scale, weight)
        if self.solver == "lbfgs":
            v, path, converged = self._lbfgs(x, d, share)
        else:
            v, path, converged = self._ascend(x, d, share)
        if not converged:
            self._warn()
        reason = f"no entry of the gradient is above {self.tol:g}"
        reason = reason if converged else f"the limit of {self.max_iter} steps was reached"
        return np.append(v[:-1] / scale, v[-1]), History(self.solver, tuple(path), reason, converged)

    def _ascend(self, x: Matrix, d: Vector, share: Vector) -> tuple[Vector, list[float], bool]:
        eta = _rate(x, share) if isinstance(self.learning_rate, str) else float(self.learning_rate)
        v, path = np.zeros(x.shape[1]), []
        for _ in range(self.max_iter):
            value, gradient = squared_error(v, x, d, share)
            path.append(value)
            if np.abs(gradient).max() <= self.tol:
                return v, path, True
            v = v + eta * gradient
        path.append(squared_error(v, x, d, share)[0])
        return v, path, False

    def _lbfgs(self, x: Matrix, d: Vector, share: Vector) -> tuple[Vector, list[float], bool]:
        def down(v: Vector) -> tuple[float, Vector]:
            value, gradient = squared_error(v, x, d, share)
            return -value, -gradient

        start = np.zeros(x.shape[1])
        path = [squared_error(start, x, d, share)[0]]
        options: Any = {"maxiter": self.max_iter, "gtol": self.tol, "ftol": 0.0, "maxcor": 30}
        minimize: Any = optimize.minimize  # its types know no function that gives value and gradient at once
        result = minimize(
            down,
            start,
            jac=True,
            method="L-BFGS-B",
            options=options,
            # The name asks SciPy for the value as well, which it has at hand.
            callback=lambda intermediate_result: path.append(-float(intermediate_result.fun)),
        )
        return np.asarray(result.x), path, result.nit < self.max_iter

    def _warn(self) -> None:
        from sklearn.exceptions import ConvergenceWarning

        warn_caller(
            f"SigmoidUnit took max_iter={self.max_iter} steps and the gradient is still above tol={self.tol:g}. Where "
            "the classes are linearly separable there is no maximum: the weights grow without bound. Otherwise raise "
            "max_iter or pass solver='lbfgs'.",
            ConvergenceWarning,
        )

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return w₀ + Σ w_k x_k of each unit: shape (n_rows,) with two classes, (n_rows, n_classes) with more."""
        scores = self._now()._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Matrix:
        state = self._state
        return state.design.scores(self._read_features(X), state.coef, state.intercept)

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        model = self._now()
        scores = model._scores(X)
        if len(model.classes_) == 1:
            return np.ones((len(scores), 1))
        if len(model.classes_) == 2:
            return np.column_stack([expit(-scores[:, 0]), expit(scores[:, 0])])
        # In logarithms, since all units may say nearly 0.
        return np.asarray(softmax(log_expit(scores), axis=1))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        model = self._now()
        if len(model.classes_) == 2:
            scores = model._scores(X)[:, 0]
            return np.column_stack([log_expit(-scores), log_expit(scores)])
        return super(SigmoidUnit, model).predict_log_proba(X)

    def summary(self) -> ModelSummary:
        """Return a printable summary: the weights of each unit."""
        state: SigmoidState = self._fitted
        names = ("(intercept)", *state.input_names)
        classes = [str(label) for label in state.classes.tolist()]
        units = tuple(classes[1:] if len(classes) == 2 else classes[: len(state.coef)])
        weights = np.column_stack([state.intercept, state.coef]).T if units else np.empty((len(names), 0))
        facts = {
            "classes": classes,
            "weights": {
                unit: dict(zip(names, column.tolist(), strict=True))
                for unit, column in zip(units, weights.T, strict=True)
            },
            "steps": state.n_iter,
        }
        title = f"SigmoidUnit: {len(state.schema)} features, {len(classes)} classes"
        return ModelSummary(title, facts, f"weights of each unit, by its class\n{listed(names, weights, units)}")

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state = self._state
        meta, arrays = classes_to_parts(state.classes)
        arrays |= {"input_means": state.design.means, "coef": state.coef, "intercept": state.intercept}
        return {**meta, "histories": [history.to_json() for history in state.histories]}, arrays

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> SigmoidState:
        classes = read_classes(meta, arrays)
        n_units = {1: 0, 2: 1}.get(len(classes), len(classes))
        design = DesignMatrix.from_arrays(schema, arrays)
        coef = expect_array(arrays, "coef", np.float64, (n_units, len(design.means)))
        intercept = expect_array(arrays, "intercept", np.float64, (n_units,))
        histories = [History.from_json(each) for each in expect_field(meta, "histories", list)]
        if len(histories) != n_units:
            raise BayeskitError("the file does not hold one history per unit.")
        return SigmoidState(self, schema, target, classes, design, coef, intercept, histories)


def _standard(design: DesignMatrix, table: NDArray[Any], scale: Vector, weight: Vector | None) -> tuple[Matrix, Vector]:
    """Return inputs of mean 0 and deviation 1 with a last one that is 1, and the rows' weights, which sum to 1."""
    w = np.ones(len(table)) if weight is None else weight
    return np.column_stack([design.centred(table) / scale, np.ones(len(table))]), w / w.sum()


def _rate(x: Matrix, share: Vector) -> float:
    # σ′ ≤ 1/4, so that the curvature of the cross-entropy is at most λ_max / 4; that of the squared error is less.
    return 4.0 / float(np.linalg.eigvalsh((x * share[:, None]).T @ x)[-1])


def _beyond(design: DesignMatrix, table: NDArray[Any], d: Vector, weight: Vector | None) -> Matrix | None:
    """Return Σ w_i d_i (x_i − m) over the frequencies that are no labels, intercept last; None where all are labels."""
    rest = np.where(d == 1.0, 0.0, d)
    if not rest.any():
        return None
    w = rest if weight is None else rest * weight
    return np.append(w @ design.centred(table), w.sum())[None, :]


def squared_error(v: Vector, x: Matrix, d: Vector, share: Vector) -> tuple[float, Vector]:
    r"""Return −½ Σ (d − h)² of a unit per row, and its gradient.

    Parameters
    ----------
    v : array of shape (n_inputs,)
        The weights.
    x : array of shape (n_rows, n_inputs)
        The inputs, one of which may be 1.
    d : array of shape (n_rows,)
        The targets: 0-1 labels, or frequencies.
    share : array of shape (n_rows,)
        The rows' weights, which sum to 1.
    """
    h = expit(x @ v)
    return float(-0.5 * share @ (d - h) ** 2), (share * h * (1.0 - h) * (d - h)) @ x
