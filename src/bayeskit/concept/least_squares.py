"""Least squares: the maximum likelihood line under Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayeskit.errors import BayeskitError, TableError
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.explain.row_cells import as_table, hidden_copies, read_row
from bayeskit.io.expect import expect_array
from bayeskit.kinds.reader import inferred
from bayeskit.learn.checks import split_target
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.design_matrix import DesignMatrix
from bayeskit.learn.labelled import split_labels
from bayeskit.learn.state import State, learned
from bayeskit.learn.whole_model import WholeModel
from bayeskit.result import Result, pad, short, text_width
from bayeskit.table.labels import read_weight, refuse_missing_labels
from bayeskit.table.read import Source
from bayeskit.table.read_result import ReadTable
from bayeskit.table.schema import Schema

# Where the correlations of inputs have no smaller eigenvalue (over the largest), normal equations serve.
_WELL_POSED = 1e-6


@dataclass(frozen=True, repr=False)
class LinearExplanation(Result):
    """A prediction as a sum: the prediction for the mean row, and the term of each feature; prints as text."""

    base: float
    features: tuple[str, ...]
    values: tuple[Any, ...]
    terms: NDArray[np.float64]  # (n_features,)

    @property
    def prediction(self) -> float:
        """The base plus all terms."""
        return float(self.base + self.terms.sum())

    def __repr__(self) -> str:
        labels = [
            f"{name} (not used)" if value is None else f"{name} = {short(value)}"
            for name, value in zip(self.features, self.values, strict=True)
        ]
        places = max(map(text_width, ["prediction", *labels]))
        lines = [f"{pad('mean row', places)}  {self.base:>12.6g}"]
        lines += [f"{pad(label, places)}  {term:>+12.6g}" for label, term in zip(labels, self.terms, strict=True)]
        return "\n".join([*lines, f"{pad('prediction', places)}  {self.prediction:>12.6g}"])


@dataclass(frozen=True, eq=False)
class LeastSquaresState(State):
    """The weights and the noise."""

    design: DesignMatrix
    coef: NDArray[np.float64]  # (n_inputs,)
    intercept: float
    noise: float

    @property
    def input_names(self) -> tuple[str, ...]:
        """What each weight belongs to."""
        return self.design.names


class LeastSquares(WholeModel):
    r"""Fit a linear function by least squares, which is maximum likelihood under Gaussian noise of one variance.

    .. math:: d_i = w_0 + \sum_k w_k x_{ik} + e_i, \; e_i \sim N(0, \sigma^2): \quad
              h_{ML} = \operatorname{argmin}_h \sum_i (d_i - h(x_i))^2, \quad
              \hat\sigma^2 = \frac{1}{m} \sum_i (d_i - h_{ML}(x_i))^2

    Numeric columns are used as they are; a categorical column gives one 0-1 input for each value but the first. A
    missing cell, or a value that was not seen in fit, takes the mean of the training rows and so adds nothing. Where
    inputs are linearly dependent, the solution with the smallest weights (around the mean row) is returned.

    Attributes
    ----------
    coef_ : array of shape (n_inputs,)
        w₁ … w_n.
    intercept_ : float
        w₀.
    input_names_ : tuple of str
        What each weight belongs to: a column, or "column = value".
    noise_ : float
        The maximum likelihood σ.

    References
    ----------
    Mitchell (1997), Machine Learning, section 6.4.

    Examples
    --------
    >>> model = LeastSquares().fit({"x": [0.0, 1.0, 2.0, 3.0]}, [1.0, 3.0, 5.0, 7.0])
    >>> round(model.intercept_, 6), model.coef_.round(6)
    (1.0, array([2.]))
    """

    _role = "regressor"
    _state: LeastSquaresState

    coef_ = learned("coef", "w₁ … w_n, of shape (n_inputs,).")
    intercept_ = learned("intercept", "w₀.")
    input_names_ = learned("input_names", 'What each weight belongs to: a column, or "column = value".')
    noise_ = learned("noise", "The maximum likelihood σ.")

    def __init__(self, *, kinds: Any = None) -> None:
        self.kinds = kinds

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Fit to a table and a number for each row, or to a table whose column ``target`` holds the numbers."""
        settings = self._checked_settings()
        X = inferred(X, self.kinds, target)
        source, d, weight = _read(X, y, sample_weight, target, type(self).__name__)
        target = X.target if isinstance(X, ReadTable) else target
        schema = learn_schema(source, self.kinds, weight=weight)
        design, table, _ = DesignMatrix.learn(source, schema, weight)
        mean = float(np.average(d, weights=weight))
        # Around the mean row the intercept parts from the weights, and large offsets do no harm.
        centred, deviation = design.centred(table), d - mean
        if weight is None:
            w = solve(centred, deviation)
        else:
            root = np.sqrt(weight)
            w = solve(centred * root[:, None], deviation * root)
        residual = deviation - centred @ w
        noise = float(np.sqrt(np.average(residual**2, weights=weight)))
        self._state = LeastSquaresState(settings, schema, target, design, w, mean - float(design.means @ w), noise)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return h(x) of each row."""
        model = self._now()
        state, inputs = model._state, model._state.design.inputs(model._read_features(X))
        with np.errstate(over="ignore", invalid="ignore"):
            predicted: NDArray[np.float64] = inputs @ state.coef + state.intercept
        state.design.refuse_overflow(predicted, inputs)
        return predicted

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return R², the share of the squared deviations from the mean that the function explains."""
        from sklearn.metrics import r2_score

        model = self._now()
        if isinstance(X, ReadTable) and y is None and X.target is not None:
            y = X[X.target].to_numpy()
        elif target is not None:
            y = split_target(X, target, model.schema_)[1]
        return float(r2_score(y, model.predict(X), sample_weight=sample_weight))

    def log_likelihood(self, X: Any, y: Any, noise: float | None = None) -> float:
        r"""Return Σ log N(d_i; h(x_i), σ²), with σ = ``noise_`` or as given."""
        model = self._now()
        sigma = model.noise_ if noise is None else noise
        if not sigma > 0.0:
            raise BayeskitError(f"the likelihood needs noise above 0; got {sigma:g}. Pass noise=.")
        residual = np.asarray(y, dtype=np.float64) - model.predict(X)
        return float(-0.5 * np.sum((residual / sigma) ** 2) - len(residual) * np.log(sigma * np.sqrt(2 * np.pi)))

    def explain(self, row: Any) -> LinearExplanation:
        """Explain one row: the prediction for the mean row, and what each feature adds."""
        model = self._now()
        state, design = model._state, model._state.design
        read = read_row(model, row)
        table = as_table(model, read, hidden_copies(read, read.missing[None, :]))
        inputs = design.inputs(model._read_features(table))[0] - design.means
        terms = np.zeros(len(state.schema))
        np.add.at(terms, design.columns, inputs * state.coef)
        base = float(state.intercept + design.means @ state.coef)
        return LinearExplanation(base, read.names, read.values, terms)

    def summary(self) -> ModelSummary:
        """Return the weights and the noise, to print."""
        state: LeastSquaresState = self._fitted
        names = ("(intercept)", *state.input_names)
        weights = np.array([state.intercept, *state.coef])
        facts = {"weights": dict(zip(names, weights.tolist(), strict=True)), "noise": state.noise}
        body = f"noise {state.noise:.6g}\n{listed(names, weights[:, None], ('weight',))}"
        return ModelSummary(f"LeastSquares: {len(state.schema)} features, {len(names)} weights", facts, body)

    def _learned(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        state = self._state
        numbers = np.array([state.intercept, state.noise])
        return {}, {"input_means": state.design.means, "coef": state.coef, "numbers": numbers}

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> LeastSquaresState:
        design = DesignMatrix.from_arrays(schema, arrays)
        coef = expect_array(arrays, "coef", np.float64, (len(design.means),))
        intercept, noise = expect_array(arrays, "numbers", np.float64, (2,)).tolist()
        return LeastSquaresState(self, schema, target, design, coef, intercept, noise)


def solve(x: NDArray[np.float64], d: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the w of least Σ (d − x w)²; of several, the smallest.

    Examples
    --------
    >>> solve(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(6)
    array([1., 1.])
    """
    matrix = x.T @ x
    size = np.sqrt(np.diagonal(matrix))
    if len(x) > x.shape[1] > 0 and np.isfinite(size).all() and (size > 0.0).all():
        values, vectors = linalg.eigh(matrix / size[:, None] / size)
        if values[0] > _WELL_POSED * values[-1]:
            w = np.zeros(x.shape[1])
            # The normal equations lose half of the digits that the residuals of the first answer bring back.
            for _ in range(2):
                w += vectors @ ((vectors.T @ (x.T @ (d - x @ w) / size)) / values) / size
            return w
    # Directions that centring or copies of a column leave at rounding size count as none.
    smallest = np.finfo(np.float64).eps * max(x.shape)
    return np.asarray(linalg.lstsq(x, d, cond=smallest, lapack_driver="gelsd")[0])


def _read(
    X: Any, y: Any, sample_weight: Any, target: str | None, who: str
) -> tuple[Source, NDArray[np.float64], NDArray[np.float64] | None]:
    if isinstance(X, ReadTable) and X.target is not None and y is None:
        source, y, sample_weight = X.source, X[X.target], X.of_rows(sample_weight)
    else:
        source, y, target = split_labels(X, y, target, None, who, "numbers")
    d = read_numbers(y, source.n_rows)
    weight = read_weight(sample_weight, source.n_rows)
    if weight is not None and not weight.all():  # a row of weight 0 is as if it were not there
        rows = np.flatnonzero(weight)
        source, d, weight = source.take(rows), d[rows], weight[rows]
    return source, d, weight


def read_numbers(y: Any, n_rows: int) -> NDArray[np.float64]:
    """Read the target number of each row; a missing or infinite one is an error that names its row."""
    from sklearn.utils.validation import column_or_1d

    try:
        d = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TableError(f"y must be a numeric column, one for each row: {error}") from error
    if len(d) != n_rows:
        raise TableError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(d)}]")
    refuse_missing_labels(np.isnan(d))
    if np.isinf(d).any():
        raise TableError(f"Input y contains infinity: row {int(np.isinf(d).argmax())}; put a finite number there.")
    return d
