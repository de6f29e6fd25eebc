"""A sigmoid unit: probabilities learned by gradient ascent to maximum likelihood."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from bayeskit.classify.linear_classifier import LinearClassifier, LinearClassifierState, n_units
from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.estimate.history import History
from bayeskit.estimate.linear_problem import LinearProblem, LogisticProblem, SquaredErrorProblem
from bayeskit.estimate.linear_solvers import Optimum, solve
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.io.expect import expect_field
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.design_matrix import DesignMatrix, Matrix, TrainingInputs
from bayeskit.learn.labelled import read_labelled
from bayeskit.learn.linear_units import LinearUnits
from bayeskit.learn.numbered import read_numbered
from bayeskit.learn.parameters import one_of
from bayeskit.learn.state import learned
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SigmoidState(LinearClassifierState):
    """The weights of each unit, and the way to them."""

    histories: list[History]

    @property
    def n_iter(self) -> int:
        """The largest number of steps over the units."""
        return max((history.n_steps for history in self.histories), default=1)


@dataclass(eq=False, repr=False)
class SigmoidUnit(LinearClassifier):
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
    standardize : bool, default True
        Gradient steps on inputs of mean 0 and deviation 1, with η per row; False is the literal rule above on the
        inputs as they are, which sums over the rows and needs a much smaller η.
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
        The objective of each unit, per row, before each step and at the end, and why it stopped; with
        ``fit(record=True)`` its ``parameters`` are w₁ … w_n, w₀ there.
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

    _rules: ClassVar[dict[str, tuple[str, Any]]] = LinearClassifier._rules | {
        "rule": one_of("cross-entropy", "squared-error"),
        "solver": one_of("gradient", "lbfgs"),
        "standardize": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
    }

    _state: SigmoidState = field(init=False)

    histories_ = learned("histories", "The objective of each unit, per row, on the way, and why it stopped.")
    n_iter_ = learned("n_iter", "The largest number of steps over the units.")

    _: KW_ONLY
    rule: str = "cross-entropy"
    solver: str = "gradient"
    learning_rate: float | str = "auto"
    standardize: bool = True
    max_iter: int = 1000
    tol: float = 1e-4
    kinds: Any = None

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None, record: bool = False
    ) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them.

        ``record`` keeps the weights before the first step and after each, as ``histories_[0].parameters``.
        """
        settings = self._checked_settings()
        rows = read_labelled(X, y, sample_weight, target, None, type(self).__name__, self.kinds)
        units = range(len(rows.classes))[-n_units(len(rows.classes)) :] if len(rows.classes) > 1 else ()
        wanted = [(rows.y == c).astype(np.float64) for c in units]
        self._state = settings._fit(rows.source, wanted, rows.weight, rows.classes, rows.target, record)
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
        rows = read_numbered(X, frequency, sample_weight, None, type(self).__name__)
        outside = ~((rows.y >= 0.0) & (rows.y <= 1.0))
        if outside.any():
            row = int(outside.argmax())
            raise TableError(f"frequency, row {row}: a share lies between 0 and 1; got {rows.y[row]:g}.")
        self._state = settings._fit(rows.source, [rows.y], rows.weight, np.array([0, 1]), None)
        return self

    def _fit(
        self,
        source: Source,
        wanted: list[Vector],
        weight: Vector | None,
        classes: NDArray[Any],
        target: str | None,
        record: bool = False,
    ) -> SigmoidState:
        schema = learn_schema(source, self.kinds, weight=weight)
        inputs = DesignMatrix.learn(source, schema, weight)
        optima = [self._solve(inputs, d, record) for d in wanted]
        coef = np.concatenate([np.empty((0, len(inputs.scale) + 1)), *(optimum.coef for optimum in optima)])
        units, histories = LinearUnits.around_mean(inputs.design, coef), [optimum.history for optimum in optima]
        return SigmoidState(self, schema, target, classes, units, histories)

    def _solve(self, inputs: TrainingInputs, d: Vector, record: bool) -> Optimum:
        """Return the coefficients of one unit around the mean row, and the way to them."""
        problem_of = LogisticProblem.of_frequencies if self.rule == "cross-entropy" else SquaredErrorProblem
        table, means = inputs.table, inputs.design.means
        if self.standardize:
            problem: LinearProblem = problem_of(*inputs.with_targets(d))
            rate = self.learning_rate
        else:
            full = np.where(np.isnan(table), means, table)
            problem = problem_of(full, d, inputs.weight, np.zeros(len(means)), np.ones(len(means)))
            # The objective is per row; the literal rule sums over the rows.
            rate = self.learning_rate if isinstance(self.learning_rate, str) else self.learning_rate * problem.total
        optimum = solve(problem, self.solver, self.tol, self.max_iter, rate, record=record)
        shift = means if self.standardize else np.zeros(len(means))
        kept = tuple(_for_inputs(coef[0], -shift) for coef in optimum.history.parameters)
        optimum = Optimum(
            _for_inputs(optimum.coef[0], np.zeros(len(means)) if self.standardize else means)[None],
            optimum.gradient,
            replace(optimum.history, parameters=kept),
        )
        if not optimum.history.converged and optimum.history.n_steps >= self.max_iter:
            self._warn()
        return optimum

    def _warn(self) -> None:
        from sklearn.exceptions import ConvergenceWarning

        warn_caller(
            f"SigmoidUnit took max_iter={self.max_iter} steps and the gradient is still above tol={self.tol:g}. Where "
            "the classes are linearly separable there is no maximum: the weights grow without bound. Otherwise raise "
            "max_iter or pass solver='lbfgs'.",
            ConvergenceWarning,
        )

    def _log_odds(self, scores: Matrix) -> Matrix:
        # In logarithms, since all units may say nearly 0.
        return np.asarray(log_expit(scores))

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
        state: SigmoidState = self._fitted
        meta, arrays = super()._learned()
        return {**meta, "histories": [history.to_json() for history in state.histories]}, arrays

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> SigmoidState:
        classes, units = self._restored_units(schema, meta, arrays)
        histories = [History.from_json(each) for each in expect_field(meta, "histories", list)]
        if len(histories) != len(units.coef):
            raise BayeskitError("the file does not hold one history per unit.")
        return SigmoidState(self, schema, target, classes, units, histories)


def _for_inputs(coef: Vector, shift: Vector) -> Vector:
    """Return w₁ … w_n, w₀ for inputs from which a shift is taken, of those for inputs as they are."""
    return np.append(coef[:-1], coef[-1] + coef[:-1] @ shift)
