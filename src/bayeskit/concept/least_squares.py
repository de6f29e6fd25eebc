"""Least squares: the maximum likelihood line under Gaussian noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.estimate.least_squares import least_squares
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.explain.row_cells import as_table, hidden_copies, read_row
from bayeskit.io.expect import expect_array
from bayeskit.learn.checks import split_target, target_of
from bayeskit.learn.column_kinds import learn_schema
from bayeskit.learn.design_matrix import DesignMatrix
from bayeskit.learn.linear_units import LinearState, LinearUnits
from bayeskit.learn.numbered import read_numbered
from bayeskit.learn.state import State, learned
from bayeskit.learn.whole_model import WholeModel
from bayeskit.result import Result, pad, short, text_width
from bayeskit.table.schema import Schema


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
class LeastSquaresState(LinearState, State):
    """The weights and the noise."""

    units: LinearUnits
    noise: float

    @property
    def coef(self) -> NDArray[np.float64]:
        """The weights, of shape (n_inputs,)."""
        return np.asarray(self.units.coef[0])

    @property
    def intercept(self) -> float:
        """The intercept."""
        return float(self.units.intercept[0])


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
        rows = read_numbered(X, y, sample_weight, target, type(self).__name__, self.kinds)
        schema = learn_schema(rows.source, self.kinds, weight=rows.weight)
        inputs = DesignMatrix.learn(rows.source, schema, rows.weight)
        # Around the mean row the intercept parts from the weights, and large offsets do no harm.
        mean = float(np.average(rows.y, weights=rows.weight))
        centred, deviation = inputs.centred, rows.y - mean
        w = least_squares(centred, deviation, rows.weight)
        noise = float(np.sqrt(np.average((deviation - centred @ w) ** 2, weights=rows.weight)))
        units = LinearUnits.around_mean(inputs.design, np.append(w, mean)[None, :])
        self._state = LeastSquaresState(settings, schema, rows.target, units, noise)
        return self

    def predict(self, X: Any) -> NDArray[np.float64]:
        """Return h(x) of each row."""
        model = self._now()
        return model._state.units.scores(model._read_features(X))[:, 0]

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return R², the share of the squared deviations from the mean that the function explains."""
        from sklearn.metrics import r2_score

        model = self._now()
        target = target_of(X, y, target)
        if target is not None:
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
        return LinearExplanation(float(state.units.at_mean[0]), read.names, read.values, terms)

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
        return {}, {**state.units.to_arrays(), "noise": np.array([state.noise])}

    def _restore(
        self, schema: Schema, target: str | None, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]
    ) -> LeastSquaresState:
        units = LinearUnits.from_arrays(schema, arrays, 1)
        noise = float(expect_array(arrays, "noise", np.float64, (1,))[0])
        return LeastSquaresState(self, schema, target, units, noise)
