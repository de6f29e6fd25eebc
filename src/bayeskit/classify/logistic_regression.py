"""Logistic regression: the probabilities of the classes as a linear function of the inputs, by maximum likelihood."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.linear_classifier import LinearClassifier, LinearClassifierState
from bayeskit.classify.logistic_fit import Fitted, fit_logistic
from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.estimate.class_separation import ClassSeparation
from bayeskit.estimate.history import History
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.wald import ChiSquared, CoefficientTable, wald_test
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.design_matrix import Matrix
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.linear_units import LinearUnits
from bayeskit.learn.parameters import a_class_weight, at_least, one_of
from bayeskit.learn.state import learned
from bayeskit.progress import Progress
from bayeskit.table.schema import Schema


@dataclass(frozen=True, eq=False)
class LogisticState(LinearClassifierState):
    """The coefficients, and how the fit ended."""

    history: History
    gradient_norm: float
    log_likelihood: float
    null_log_likelihood: float
    n_rows: float
    separation: ClassSeparation | None
    covariance: Matrix | None
    reference: int

    @property
    def n_iter(self) -> int:
        """The number of steps, at least 1."""
        return max(1, self.history.n_steps)


@dataclass(eq=False, repr=False)
class LogisticRegression(LinearClassifier):
    r"""Learn P(c | x) directly, by maximum likelihood: the discriminative counterpart of naive Bayes.

    .. math:: P(c_k \mid x) = \frac{e^{w_k \cdot x + b_k}}{1 + \sum_{l < K} e^{w_l \cdot x + b_l}}, \qquad
              P(c_K \mid x) = \frac{1}{1 + \sum_{l < K} e^{w_l \cdot x + b_l}}

    Numeric columns are used as they are; a categorical column gives one 0-1 input for each value but the first. P(x) is
    not modelled, so a missing cell cannot be summed out: at training and at prediction it takes the mean of the known
    cells of its column, and so adds nothing to the scores; the same holds for a value that was not seen in fit. The
    standard errors do not account for it.

    Where the classes are linearly separable, the likelihood grows without bound and has no maximum: a warning says so
    and ``separation_`` describes it; ``l2`` above 0 gives an estimate that exists.

    Parameters
    ----------
    l2 : float, default 0
        λ of the penalty ½ λ Σ w²: with λ > 0 the estimate is the most probable one under the prior w ~ N(0, 1/λ), and
        equals scikit-learn's with C = 1/λ. Intercepts are not penalised.
    solver : {"lbfgs", "newton", "gradient"}, default "lbfgs"
        SciPy's L-BFGS, on decorrelated inputs; Newton's method (iteratively reweighted least squares),
        for few classes; or plain gradient ascent on standardised inputs, for teaching.
    reference : class label, optional
        The class that the others are compared with in ``log_odds_``; by default the last.
    learning_rate : float or "auto", default "auto"
        The step of "gradient"; "auto" is 1 over the largest curvature there can be, so that no step goes down.
    max_iter : int, default 1000
        The largest number of steps.
    tol : float, default 1e-8
        Stop when no entry of the gradient, per row and for standardised inputs, is larger.
    standard_errors : bool or "auto", default "auto"
        Whether to compute the second derivatives for standard errors and tests. Their cost grows with the square of the
        number of coefficients; "auto" computes them for at most 300.
    kinds : dict of column to kind, or one kind for all, optional
        Overrides the dtype, as in :class:`~bayeskit.NaiveBayes`.
    class_weight : dict or "balanced", optional
        Multiplies the weight of each row by the weight of its class; "balanced" gives all classes the same total. The
        log-likelihood and the standard errors are those of the weighted rows.

    Attributes
    ----------
    coef_ : array of shape (1, n_inputs) with two classes, (n_classes, n_inputs) with more
        The weights, as scikit-learn arranges them: for the second class, or for each.
    intercept_ : array of shape (1,) or (n_classes,)
        The intercepts.
    log_odds_ : NamedTable
        Intercept and weights of each class against the reference.
    input_names_ : tuple of str
        What each weight belongs to: a column, or "column = value".
    log_likelihood_, null_log_likelihood_ : float
        Σ log P(y | x) of the fit, and of the model with intercepts alone.
    separation_ : ClassSeparation or None
        How the classes are separated; None if they are not.
    history_ : History
        The (penalised) log-likelihood per row before each step and at the end, and why the solver stopped. With
        solver="gradient", ``history_.parameters`` are ``coef_`` and, last, ``intercept_`` there; a file keeps them.
    gradient_norm_ : float
        The largest entry of the gradient at the end.

    References
    ----------
    Ng & Jordan (2002), On discriminative vs. generative classifiers. Albert & Anderson (1984), On the existence of
    maximum likelihood estimates in logistic regression models.

    Examples
    --------
    >>> from bayeskit import LogisticRegression
    >>> model = LogisticRegression().fit(
    ...     {"hours": [1, 2, 3, 4, 5, 6]}, ["fail", "fail", "pass", "fail", "pass", "pass"]
    ... )
    >>> model.coef_.round(4)
    array([[1.214]])
    >>> model.coefficients().odds_ratio.round(3)
    array([[70.042],
           [ 0.297]])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = LinearClassifier._rules | {
        "l2": at_least(0),
        "solver": one_of("lbfgs", "newton", "gradient"),
        "standard_errors": (
            "True, False or 'auto'",
            lambda value: isinstance(value, bool | np.bool_) or (isinstance(value, str) and value == "auto"),
        ),
        "class_weight": a_class_weight,
    }

    _state: LogisticState = field(init=False)

    history_ = learned("history", "The objective before each step and at the end, and why the solver stopped.")
    gradient_norm_ = learned("gradient_norm", "The largest entry of the gradient at the end.")
    n_iter_ = learned("n_iter", "The number of steps.")
    log_likelihood_ = learned("log_likelihood", "log P(y | x) of the rows of the fit.")
    null_log_likelihood_ = learned("null_log_likelihood", "The same with intercepts only.")
    n_rows_ = learned("n_rows", "The number of rows, or their weight.")
    separation_ = learned("separation", "How the classes are linearly separated, or None.")
    covariance_ = learned("covariance", "The covariance of the coefficients against the reference, or None.")

    # With a little penalty, since classes that are separated in some fold have no maximum of the likelihood.
    _compared_when_asked: ClassVar[dict[str, dict[str, Any]]] = {
        "LogisticRegression": {"l2": 1.0, "standard_errors": False}
    }

    _: KW_ONLY
    l2: float = 0.0
    solver: str = "lbfgs"
    reference: Any = None
    learning_rate: float | str = "auto"
    max_iter: int = 1000
    tol: float = 1e-8
    standard_errors: bool | str = "auto"
    kinds: Any = None
    class_weight: Any = None

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them.

        ``progress`` is called with a :class:`bayeskit.progress.Step` after each step of the solver.
        """
        settings = self._checked_settings()
        rows = read_labelled(X, y, sample_weight, target, None, type(self).__name__, self.kinds)
        rows = rows.with_class_weight(self.class_weight)
        self._refuse_reference(rows.classes)
        schema = learn_schema(rows.source, self.kinds, weight=rows.weight)
        warn_of_empty_columns(schema)
        state = _state_of(settings, self._solve(rows, schema, progress), rows.classes, schema, rows.target)
        self._say_how_it_ended(state)
        self._state = state
        return self

    def _solve(self, rows: Labelled, schema: Schema, progress: Progress | None = None) -> Fitted:
        return fit_logistic(
            rows,
            schema,
            l2=self.l2,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            standard_errors=self.standard_errors,
            reference=self._reference(rows.classes),
            progress=progress,
        )

    def _say_how_it_ended(self, state: LogisticState) -> None:
        from sklearn.exceptions import ConvergenceWarning

        if state.separation is not None:
            names = [state.input_names[j] for j in state.separation.inputs]
            listed = ", ".join(map(repr, names[:5])) + (" …" if len(names) > 5 else "")
            warn_caller(
                f"the classes are {'completely' if state.separation.complete else 'partly'} separated by {listed}: "
                "the likelihood grows without bound with those coefficients, so the maximum likelihood estimate does "
                "not exist, and the result is where the solver stopped. Pass l2 above 0 for an estimate that exists.",
                ConvergenceWarning,
            )
        elif not state.history.converged:
            objective = state.history.objective
            change = objective[-1] - objective[max(0, len(objective) - 2)]
            warn_caller(
                f"LogisticRegression stopped after {state.n_iter} steps with a gradient of {state.gradient_norm:.3g}, "
                f"above tol={self.tol:g}; the last step gained {change:.3g}. Raise max_iter or tol, or pass another "
                "solver.",
                ConvergenceWarning,
            )

    def _reference(self, classes: NDArray[Any]) -> int:
        return len(classes) - 1 if self.reference is None else classes.tolist().index(self.reference)

    def _refuse_reference(self, classes: NDArray[Any]) -> None:
        if self.reference is not None and self.reference not in classes.tolist():
            raise BayeskitError(
                f"reference must be one of the classes {classes.tolist()}, or None for the last; got "
                f"{self.reference!r}."
            )

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def log_odds_(self) -> NamedTable:
        """Intercept and weights of each class against the reference, which has 0."""
        state: LogisticState = self._fitted
        classes = tuple(state.classes.tolist())
        rows = ("(intercept)", *state.input_names)
        title = f"log-odds of {state.target or 'class'} against {classes[state.reference]}"
        return NamedTable(title, rows, classes, _against_reference(state))

    def coefficients(self, level: float = 0.95) -> CoefficientTable:
        """Return log-odds with standard errors, Wald's tests and odds ratios with their intervals.

        Standard errors come from the second derivatives of the likelihood at its maximum; with ``l2`` they are the
        deviations of the normal approximation of the posterior. Where the classes are separated there are none.

        Parameters
        ----------
        level : float, default 0.95
            The confidence level of the intervals.
        """
        state: LogisticState = self._fitted
        if not 0 < level < 1:
            raise BayeskitError(f"level must lie between 0 and 1; got {level!r}.")
        others = [k for k in range(len(state.classes)) if k != state.reference]
        names = ("(intercept)", *state.input_names)
        errors = np.sqrt(np.diagonal(_covariance(state))).reshape(len(others), len(names)).T
        labels = state.classes.tolist()
        return CoefficientTable(
            names,
            tuple(labels[k] for k in others),
            labels[state.reference],
            _against_reference(state)[:, others],
            errors,
            level,
        )

    def wald_test(self, column: str) -> ChiSquared:
        """Test that a column has no influence, by Wald's statistic over all of its inputs and all classes."""
        state: LogisticState = self._fitted
        place, n = _place(state, column), len(state.input_names) + 1
        inputs = np.flatnonzero(state.design.columns == place) + 1
        others = [k for k in range(len(state.classes)) if k != state.reference]
        places = [u * n + int(j) for u in range(len(others)) for j in inputs]
        return wald_test(_against_reference(state)[:, others].T, _covariance(state), places)

    def likelihood_ratio_test(
        self,
        X: Any = None,
        y: Any = None,
        without: str | None = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
    ) -> ChiSquared:
        """Test that columns have no influence, by twice the gain in log-likelihood.

        Without arguments all columns are tested together, against the model with intercepts only. To test one column,
        ``without``, give the rows of the fit again: the model is fitted to them once more without it.
        """
        model = self._now()
        state = model._state
        if model.l2 > 0:
            raise BayeskitError("a likelihood ratio needs maximum likelihood on both sides; fit with l2=0.")
        n_others = len(state.classes) - 1
        if without is None:
            gain = state.log_likelihood - state.null_log_likelihood
            return ChiSquared(max(0.0, 2.0 * gain), n_others * len(state.input_names))
        place, schema = _place(state, without), state.schema
        rows = read_labelled(X, y, sample_weight, target, schema, type(self).__name__)
        if not np.isclose(state.n_rows, rows.source.n_rows if rows.weight is None else rows.weight.sum()):
            raise TableError("the rows must be those of the fit; their number differs.")
        smaller = Schema(tuple(variable for variable in schema if variable.name != without), schema.named)
        less = replace(rows, source=rows.source.select(smaller.names))
        gain = state.log_likelihood - model._solve(less, smaller).log_likelihood
        return ChiSquared(max(0.0, 2.0 * gain), n_others * int((state.design.columns == place).sum()))

    def summary(self) -> ModelSummary:
        """Return a printable summary: the log-likelihood, and the coefficients with their standard errors."""
        model = self._now()
        state = model._state
        classes = [str(label) for label in state.classes.tolist()]
        separated = None if state.separation is None else [state.input_names[j] for j in state.separation.inputs]
        facts: dict[str, Any] = {
            "classes": classes,
            "log_likelihood": state.log_likelihood,
            "null_log_likelihood": state.null_log_likelihood,
            "steps": state.n_iter,
            "separated_by": separated,
        }
        lines = [f"log-likelihood {state.log_likelihood:.6g} (intercepts alone {state.null_log_likelihood:.6g})"]
        if not model.l2:
            lines.append(f"all columns against none: {model.likelihood_ratio_test()}")
        if separated is not None:
            lines.append(f"separated by {', '.join(separated)}: maximum likelihood does not exist")
        if state.covariance is None:
            table = model.log_odds_
            facts["log_odds"] = {
                str(c): dict(zip(table.rows, table.values[:, k].tolist(), strict=True)) for k, c in enumerate(classes)
            }
            lines.append(str(table))
        else:
            facts["coefficients"] = model.coefficients().to_json()
            lines.append(str(model.coefficients()))
        title = f"LogisticRegression: {state.n_rows:g} rows, {len(state.schema)} features, {len(classes)} classes"
        return ModelSummary(title, facts, "\n".join(lines))

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state: LogisticState = self._fitted
        meta, arrays = super()._learned()
        separation = state.separation
        fields = {
            "history": state.history.to_json(),
            "reference_place": state.reference,
            "separation": None if separation is None else [separation.complete, list(separation.inputs)],
        }
        numbers = [state.log_likelihood, state.null_log_likelihood, state.gradient_norm, state.n_rows]
        arrays["numbers"] = np.array(numbers)
        if state.covariance is not None:
            arrays["covariance"] = state.covariance
        if state.history.parameters:
            arrays["path"] = np.stack(state.history.parameters)
        return {**meta, **fields}, arrays

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> LogisticState:
        classes, units = self._restored_units(schema, meta, arrays)
        n = units.coef.shape[1]
        log_likelihood, null, gradient, n_rows = expect_array(arrays, "numbers", np.float64, (4,)).tolist()
        side = (len(classes) - 1) * (n + 1)
        with_errors = "covariance" in arrays
        reference = expect_field(meta, "reference_place", int)
        if not 0 <= reference < len(classes):
            raise ValueError("the reference is not a class")
        stored = meta["separation"]
        separation = None if stored is None else ClassSeparation(bool(stored[0]), tuple(int(j) for j in stored[1]))
        if separation is not None and not all(0 <= j < n for j in separation.inputs):
            raise ValueError("the separation names an input that is not there")
        history = History.from_json(expect_field(meta, "history", dict))
        if "path" in arrays:
            shape = (len(history.objective), len(units.coef), n + 1)
            history = replace(history, parameters=tuple(expect_array(arrays, "path", np.float64, shape)))
        return LogisticState(
            self,
            schema,
            target,
            classes,
            units,
            history=history,
            gradient_norm=gradient,
            log_likelihood=log_likelihood,
            null_log_likelihood=null,
            n_rows=n_rows,
            separation=separation,
            covariance=expect_array(arrays, "covariance", np.float64, (side, side)) if with_errors else None,
            reference=reference,
        )


def _state_of(
    settings: LogisticRegression, fitted: Fitted, classes: NDArray[Any], schema: Schema, target: str | None
) -> LogisticState:
    optimum = fitted.optimum
    # The solver centres the inputs; its steps are given for the inputs as they are, as the result is.
    steps = [LinearUnits.around_mean(fitted.design, coef) for coef in optimum.history.parameters]
    path = tuple(np.column_stack([step.coef, step.intercept]) for step in steps)
    return LogisticState(
        settings,
        schema,
        target,
        classes,
        LinearUnits.around_mean(fitted.design, optimum.coef),
        history=replace(optimum.history, parameters=path),
        gradient_norm=optimum.gradient,
        log_likelihood=fitted.log_likelihood,
        null_log_likelihood=fitted.null_log_likelihood,
        n_rows=fitted.n_rows,
        separation=fitted.separation,
        covariance=fitted.covariance,
        reference=settings._reference(classes),
    )


def _against_reference(state: LogisticState) -> Matrix:
    """Return intercept and weights of all classes against the reference, of shape (n_inputs + 1, n_classes)."""
    log_odds = np.column_stack([state.intercept, state.coef]).T
    if len(state.classes) == 2:
        log_odds = np.column_stack([np.zeros(len(log_odds)), log_odds[:, 0]])
    if len(state.classes) == 1:
        log_odds = np.zeros((state.coef.shape[1] + 1, 1))
    return np.asarray(log_odds - log_odds[:, [state.reference]])


def _covariance(state: LogisticState) -> Matrix:
    if state.covariance is None:
        raise BayeskitError(
            "the model was fitted without standard errors, as by default with more than 300 coefficients; fit it with "
            "standard_errors=True."
        )
    return state.covariance


def _place(state: LogisticState, column: str) -> int:
    names = state.schema.names
    if column not in names:
        raise BayeskitError(f"{column!r} is not a column of the fit; the columns are {', '.join(names)}.")
    return int(names.index(column))
