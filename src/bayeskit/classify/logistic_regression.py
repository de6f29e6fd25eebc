"""Logistic regression: the probabilities of the classes as a linear function of the inputs, by maximum likelihood."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, log_softmax, softmax

from bayeskit.classify.logistic_fit import Fitted, fit_logistic
from bayeskit.classify.table_classifier import TableClassifier, classes_to_parts
from bayeskit.counts.table import read_classes
from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.estimate.class_separation import ClassSeparation
from bayeskit.estimate.history import History
from bayeskit.estimate.logistic import Optimum
from bayeskit.estimate.named_table import NamedTable
from bayeskit.estimate.wald import ChiSquared, CoefficientTable, wald_test
from bayeskit.explain.model_summary import ModelSummary
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.learn.checks import warn_of_empty_columns
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.design_matrix import DesignMatrix
from bayeskit.learn.labelled import Labelled, read_labelled
from bayeskit.learn.parameters import a_class_weight, at_least, one_of, refuse_parameters
from bayeskit.table.schema import Schema

Matrix = NDArray[np.float64]


class LogisticRegression(TableClassifier):
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
    standard_errors : bool, default True
        Whether to compute the second derivatives for standard errors and tests, which takes one more pass over the
        rows; slow with many classes.
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
        solver="gradient", ``history_.parameters`` are the coefficients there, for centred inputs, intercept last.
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

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "l2": at_least(0),
        "solver": one_of("lbfgs", "newton", "gradient"),
        "learning_rate": (
            "'auto' or a finite number above 0",
            lambda eta: eta == "auto" if isinstance(eta, str) else at_least(0)[1](eta) and eta > 0,
        ),
        "max_iter": at_least(1, whole=True),
        "tol": at_least(0),
        "standard_errors": ("True or False", lambda value: isinstance(value, bool | np.bool_)),
        "class_weight": a_class_weight,
    }

    # With a little penalty, since classes that are separated in some fold have no maximum of the likelihood.
    compared_when_asked: ClassVar[dict[str, dict[str, Any]]] = {
        "LogisticRegression": {"l2": 1.0, "standard_errors": False}
    }

    def __init__(
        self,
        *,
        l2: float = 0.0,
        solver: str = "lbfgs",
        reference: Any = None,
        learning_rate: float | str = "auto",
        max_iter: int = 1000,
        tol: float = 1e-8,
        standard_errors: bool = True,
        kinds: Any = None,
        class_weight: Any = None,
    ) -> None:
        self.l2 = l2
        self.solver = solver
        self.reference = reference
        self.learning_rate = learning_rate
        self.max_iter = max_iter
        self.tol = tol
        self.standard_errors = standard_errors
        self.kinds = kinds
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels, or from a table whose column ``target`` holds them."""
        refuse_parameters(self, self._rules)
        rows = read_labelled(X, y, sample_weight, target, None, type(self).__name__)
        rows = rows.with_class_weight(self.class_weight)
        self._refuse_reference(rows.classes)
        schema = learn_schema(rows.source, self.kinds, weight=rows.weight)
        warn_of_empty_columns(schema)
        fitted = self._solve(rows, schema)
        self._take_over(fitted, rows.classes, schema, target)
        self._say_how_it_ended(fitted.optimum)
        return self

    def _solve(self, rows: Labelled, schema: Schema) -> Fitted:
        return fit_logistic(
            rows,
            schema,
            l2=self.l2,
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            learning_rate=self.learning_rate,
            standard_errors=bool(self.standard_errors),
            reference=self._reference(rows.classes),
        )

    def _take_over(self, fitted: Fitted, classes: NDArray[Any], schema: Schema, target: str | None) -> None:
        self._design = fitted.design
        self.coef_, self.intercept_ = fitted.design.around_zero(fitted.optimum.coef)
        self.history_ = fitted.optimum.history
        self.gradient_norm_ = fitted.optimum.gradient
        self.n_iter_ = max(1, fitted.optimum.history.n_steps)
        self.log_likelihood_, self.null_log_likelihood_ = fitted.log_likelihood, fitted.null_log_likelihood
        self.n_rows_ = fitted.n_rows
        self.separation_ = fitted.separation
        self.covariance_ = fitted.covariance
        self.input_names_ = fitted.design.names
        self.classes_ = classes
        self._reference_place, self._l2 = self._reference(classes), float(self.l2)
        self._note_columns(schema, target)

    def _say_how_it_ended(self, optimum: Optimum) -> None:
        from sklearn.exceptions import ConvergenceWarning

        if self.separation_ is not None:
            names = [self.input_names_[j] for j in self.separation_.inputs]
            listed = ", ".join(map(repr, names[:5])) + (" …" if len(names) > 5 else "")
            warn_caller(
                f"the classes are {'completely' if self.separation_.complete else 'partly'} separated by {listed}: "
                "the likelihood grows without bound with those coefficients, so the maximum likelihood estimate does "
                "not exist, and the result is where the solver stopped. Pass l2 above 0 for an estimate that exists.",
                ConvergenceWarning,
            )
        elif not optimum.history.converged:
            objective = optimum.history.objective
            change = objective[-1] - objective[max(0, len(objective) - 2)]
            warn_caller(
                f"LogisticRegression stopped after {self.n_iter_} steps with a gradient of {optimum.gradient:.3g}, "
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

    # -- prediction -------------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Matrix:
        """Return w · x + b: shape (n_rows,) with two classes, (n_rows, n_classes) with more."""
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _scores(self, X: Any) -> Matrix:
        self._refuse_unfitted()
        return self._design.scores(self._read_features(X), self.coef_, self.intercept_)

    def predict_proba(self, X: Any) -> Matrix:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        scores = self._scores(X)
        if len(self.classes_) < 3:
            ones = np.ones((len(scores), 1))
            return np.column_stack([expit(-scores), expit(scores)]) if scores.shape[1] else ones
        return np.asarray(softmax(scores, axis=1))

    def predict_log_proba(self, X: Any) -> Matrix:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        scores = self._scores(X)
        if len(self.classes_) < 3:
            zeros = np.zeros((len(scores), 1))
            return np.column_stack([log_expit(-scores), log_expit(scores)]) if scores.shape[1] else zeros
        return np.asarray(log_softmax(scores, axis=1))

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def log_odds_(self) -> NamedTable:
        """Intercept and weights of each class against the reference, which has 0."""
        self._refuse_unfitted()
        classes, reference = tuple(self.classes_.tolist()), self._reference_place
        rows = ("(intercept)", *self.input_names_)
        title = f"log-odds of {self.target_ or 'class'} against {classes[reference]}"
        return NamedTable(title, rows, classes, self._against(reference))

    def _against(self, reference: int) -> Matrix:
        """Return intercept and weights of all classes against one, of shape (n_inputs + 1, n_classes)."""
        own = np.column_stack([self.intercept_, self.coef_]).T
        if len(self.classes_) == 2:
            own = np.column_stack([np.zeros(len(own)), own[:, 0]])
        if len(self.classes_) == 1:
            own = np.zeros((self.coef_.shape[1] + 1, 1))
        return np.asarray(own - own[:, [reference]])

    def coefficients(self, level: float = 0.95) -> CoefficientTable:
        """Return log-odds with standard errors, Wald's tests and odds ratios with their intervals.

        Standard errors come from the second derivatives of the likelihood at its maximum; with ``l2`` they are the
        deviations of the normal approximation of the posterior. Where the classes are separated there are none.

        Parameters
        ----------
        level : float, default 0.95
            The confidence level of the intervals.
        """
        self._refuse_unfitted()
        if not 0 < level < 1:
            raise BayeskitError(f"level must lie between 0 and 1; got {level!r}.")
        reference = self._reference_place
        others = [k for k in range(len(self.classes_)) if k != reference]
        names = ("(intercept)", *self.input_names_)
        errors = np.sqrt(np.diagonal(self._covariance())).reshape(len(others), len(names)).T
        labels = self.classes_.tolist()
        return CoefficientTable(
            names,
            tuple(labels[k] for k in others),
            labels[reference],
            self._against(reference)[:, others],
            errors,
            level,
        )

    def _covariance(self) -> Matrix:
        if self.covariance_ is None:
            raise BayeskitError("the model was fitted with standard_errors=False, so it has none; fit it with True.")
        return self.covariance_

    def wald_test(self, column: str) -> ChiSquared:
        """Test that a column has no influence, by Wald's statistic over all of its inputs and all classes."""
        self._refuse_unfitted()
        if column not in self.schema_.names:
            raise BayeskitError(
                f"{column!r} is not a column of the fit; the columns are {', '.join(self.schema_.names)}."
            )
        reference, n = self._reference_place, len(self.input_names_) + 1
        own = np.flatnonzero(self._design.columns == self.schema_.names.index(column)) + 1
        others = [k for k in range(len(self.classes_)) if k != reference]
        places = [u * n + int(j) for u in range(len(others)) for j in own]
        return wald_test(self._against(reference)[:, others].T, self._covariance(), places)

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
        self._refuse_unfitted()
        if self._l2 > 0:
            raise BayeskitError("a likelihood ratio needs maximum likelihood on both sides; fit with l2=0.")
        n_others = len(self.classes_) - 1
        if without is None:
            gain = self.log_likelihood_ - self.null_log_likelihood_
            return ChiSquared(max(0.0, 2.0 * gain), n_others * len(self.input_names_))
        if without not in self.schema_.names:
            raise BayeskitError(
                f"{without!r} is not a column of the fit; the columns are {', '.join(self.schema_.names)}."
            )
        rows = read_labelled(X, y, sample_weight, target, self.schema_, type(self).__name__)
        if not np.isclose(self.n_rows_, rows.source.n_rows if rows.weight is None else rows.weight.sum()):
            raise TableError("the rows must be those of the fit; their number differs.")
        kept = tuple(name for name in self.schema_.names if name != without)
        smaller = Schema(tuple(variable for variable in self.schema_ if variable.name != without), self.schema_.named)
        less = Labelled(rows.source.select(kept), rows.y, rows.classes, rows.weight, rows.target)
        gain = self.log_likelihood_ - self._solve(less, smaller).log_likelihood
        own = int((self._design.columns == self.schema_.names.index(without)).sum())
        return ChiSquared(max(0.0, 2.0 * gain), n_others * own)

    def summary(self) -> ModelSummary:
        """Return a printable summary: the log-likelihood, and the coefficients with their standard errors."""
        self._refuse_unfitted()
        classes = [str(label) for label in self.classes_.tolist()]
        facts: dict[str, Any] = {
            "classes": classes,
            "log_likelihood": self.log_likelihood_,
            "null_log_likelihood": self.null_log_likelihood_,
            "steps": self.n_iter_,
            "separated_by": None
            if self.separation_ is None
            else [self.input_names_[j] for j in self.separation_.inputs],
        }
        lines = [f"log-likelihood {self.log_likelihood_:.6g} (intercepts alone {self.null_log_likelihood_:.6g})"]
        if not self._l2:
            lines.append(f"all columns against none: {self.likelihood_ratio_test()}")
        if self.separation_ is not None:
            lines.append(f"separated by {', '.join(facts['separated_by'])}: maximum likelihood does not exist")
        if self.covariance_ is None:
            table = self.log_odds_
            facts["log_odds"] = {
                str(c): dict(zip(table.rows, table.values[:, k].tolist(), strict=True)) for k, c in enumerate(classes)
            }
            lines.append(str(table))
        else:
            facts["coefficients"] = self.coefficients().to_json()
            lines.append(str(self.coefficients()))
        title = f"LogisticRegression: {self.n_rows_:g} rows, {len(self.schema_)} features, {len(classes)} classes"
        return ModelSummary(title, facts, "\n".join(lines))

    # -- files ------------------------------------------------------------------------------------------------------

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = classes_to_parts(self.classes_)
        separation = self.separation_
        own = {
            "n_iter": self.n_iter_,
            "history": self.history_.to_json(),
            "fitted_with": {"reference": self._reference_place, "l2": self._l2},
            "separation": None if separation is None else [separation.complete, list(separation.inputs)],
        }
        numbers = [self.log_likelihood_, self.null_log_likelihood_, self.gradient_norm_, self.n_rows_]
        arrays |= {"input_means": self._design.means, "coef": self.coef_, "intercept": self.intercept_}
        arrays |= {"numbers": np.array(numbers)}
        if self.covariance_ is not None:
            arrays["covariance"] = self.covariance_
        return {**meta, **own}, arrays

    def _restore(self, schema: Schema, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
        self.classes_ = read_classes(meta, arrays)
        n_units = {1: 0, 2: 1}.get(len(self.classes_), len(self.classes_))
        self._design = DesignMatrix.from_arrays(schema, arrays)
        n = len(self._design.means)
        self.coef_ = expect_array(arrays, "coef", np.float64, (n_units, n))
        self.intercept_ = expect_array(arrays, "intercept", np.float64, (n_units,))
        self.history_ = History.from_json(expect_field(meta, "history", dict))
        numbers = expect_array(arrays, "numbers", np.float64, (4,)).tolist()
        self.log_likelihood_, self.null_log_likelihood_, self.gradient_norm_, self.n_rows_ = numbers
        self.n_iter_ = expect_field(meta, "n_iter", int)
        side = (len(self.classes_) - 1) * (n + 1)
        with_errors = "covariance" in arrays
        self.covariance_ = expect_array(arrays, "covariance", np.float64, (side, side)) if with_errors else None
        fitted_with = expect_field(meta, "fitted_with", dict)
        reference = expect_field(fitted_with, "reference", int)
        if not 0 <= reference < len(self.classes_):
            raise ValueError("the reference is not a class")
        self._reference_place, self._l2 = reference, expect_field(fitted_with, "l2", float)
        found = meta["separation"]
        self.separation_ = None if found is None else ClassSeparation(bool(found[0]), tuple(int(j) for j in found[1]))
        if self.separation_ is not None and not all(0 <= j < n for j in self.separation_.inputs):
            raise ValueError("the separation names an input that is not there")
        self.input_names_ = self._design.names
