"""EM in plain sight: responsibilities, parameters and Q, step by step, in formulas that can be checked by eye."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.result import Result
from bayeskit.table.encode import encode

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class EMStep(Result):
    """A step of EM.

    Attributes
    ----------
    number : int
        0 for the start, then 1, 2, ….
    parameters : dict
        "weights", "means" and "covariances" after the step.
    responsibilities : array of shape (n_rows, n_components)
        E[z_ij] = P(component j | x_i) under these parameters: what the next step weighs the rows with.
    log_likelihood : float
        ln P(X | h) of these parameters.
    q : float or None
        Q(h' | h) = E[ln P(Y | h')]: h' are these parameters, the expectation is that of the step before. None at the
        start.
    """

    number: int
    parameters: dict[str, Any]
    responsibilities: Matrix
    log_likelihood: float
    q: float | None

    def __repr__(self) -> str:
        means = np.array2string(np.squeeze(self.parameters["means"]), precision=4, separator=", ").replace("\n", "")
        q = "" if self.q is None else f"  Q {self.q:.6f}"
        return f"step {self.number}: ln P {self.log_likelihood:.6f}{q}  means {means}"


class ShowsSteps:
    """EM step by step, and Q; mixed into `GaussianMixture`."""

    def steps(self, X: Any) -> list[EMStep]:
        r"""Return EM step by step, as ``fit(X, record=True)`` has recorded it: responsibilities, parameters, Q.

        Parameters
        ----------
        X : table
            The rows of the fit, without missing cells.

        Examples
        --------
        >>> from bayeskit import GaussianMixture
        >>> x = [[0.0], [1.0], [9.0], [10.0]]
        >>> model = GaussianMixture(2, covariance="fixed", sigma=1, init=[[0.0], [1.0]]).fit(x, record=True)
        >>> print(*model.steps(x)[:3], sep="\n")
        step 0: ln P -77.999911  means [0., 1.]
        step 1: ln P -15.720985  Q -33.213550  means [0.38  , 6.5406]
        step 2: ln P -6.948343  Q -6.948352  means [0.5, 9.5]
        """
        model: Any = self._now()  # type: ignore[attr-defined]
        kept = model.history_.parameters
        if not kept:
            raise BayeskitError("this fit has recorded no steps; pass record=True to fit.")
        return em_steps(model._complete_rows(X), kept, model.covariance, hard=bool(model.hard))

    def q(self, X: Any, parameters: dict[str, Any] | None = None) -> float:
        r"""Return Q(h' | h) = E[ln P(Y | h')]: what an M-step maximises; the expectation is that of this model.

        Parameters
        ----------
        X : table
            Rows without missing cells.
        parameters : dict with "weights", "means" and "covariances", optional
            h', by default the parameters of this model.

        Examples
        --------
        >>> from bayeskit import GaussianMixture
        >>> x = [[0.0], [1.0], [9.0], [10.0]]
        >>> model = GaussianMixture(2, covariance="fixed", sigma=1).fit(x)
        >>> here = model.q(x)
        >>> elsewhere = model.q(x, {"weights": [0.5, 0.5], "means": [[0.0], [9.0]], "covariances": 1.0})
        >>> here > elsewhere
        True
        """
        model: Any = self._now()  # type: ignore[attr-defined]
        here = {"weights": model.weights_, "means": model.means_, "covariances": model.covariances_}
        rows = model._complete_rows(X)
        share = responsibilities(component_log_joint(rows, here, model.covariance), hard=bool(model.hard))
        there = {name: np.asarray(value, dtype=np.float64) for name, value in (parameters or here).items()}
        if set(there) != set(here) or there["means"].shape != here["means"].shape:
            raise BayeskitError(
                f"parameters must hold 'weights', 'means' of shape {here['means'].shape} and 'covariances'; got "
                f"{', '.join(f'{name} of shape {value.shape}' for name, value in there.items())}."
            )
        return expected_log_likelihood(share, component_log_joint(rows, there, model.covariance))

    def _complete_rows(self, X: Any) -> NDArray[np.float64]:
        """Return the rows as a matrix of numbers; refuse missing cells."""
        model: Any = self
        columns = encode(model._read_features(X), model.schema_)
        rows = np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])
        missing = np.isnan(rows).any(axis=1)
        if missing.any():
            raise BayeskitError(f"row {int(missing.argmax())} has a missing cell; the steps are shown for full rows.")
        return rows


def em_steps(x: Matrix, parameters: tuple[dict[str, Any], ...], covariance: str, *, hard: bool) -> list[EMStep]:
    """Return the steps of EM on rows without missing cells, from the parameters that a fit has recorded."""
    steps: list[EMStep] = []
    before: Matrix | None = None
    for number, now in enumerate(parameters):
        log_joint = component_log_joint(x, now, covariance)
        q = None if before is None else expected_log_likelihood(before, log_joint)
        before = responsibilities(log_joint, hard=hard)
        steps.append(EMStep(number, now, before, float(np.logaddexp.reduce(log_joint, axis=1).sum()), q))
    return steps


def component_log_joint(x: Matrix, parameters: dict[str, Any], covariance: str) -> Matrix:
    r"""Return :math:`\ln w_j + \ln N(x_i; μ_j, Σ_j)`, shape (n_rows, n_components).

    Examples
    --------
    >>> one = {"weights": np.array([0.5, 0.5]), "means": np.array([[0.0], [1.0]]), "covariances": np.array(1.0)}
    >>> component_log_joint(np.array([[0.0]]), one, "fixed").round(6)
    array([[-1.612086, -2.112086]])
    """
    weights, means = parameters["weights"], parameters["means"]
    spread = _matrices(np.asarray(parameters["covariances"], dtype=np.float64), covariance, *means.shape)
    varies = np.flatnonzero((spread.diagonal(axis1=1, axis2=2) > 0).any(axis=0))  # a constant column says nothing
    log_joint = np.empty((len(x), len(means)))
    for j in range(len(means)):
        away = (x - means[j])[:, varies]
        matrix = spread[j][np.ix_(varies, varies)]
        distance = (away * np.linalg.solve(matrix, away.T).T).sum(axis=1)
        log_volume = np.linalg.slogdet(2.0 * np.pi * matrix)[1]
        with np.errstate(divide="ignore"):
            log_joint[:, j] = np.log(weights[j]) - 0.5 * (log_volume + distance)
    return log_joint


def responsibilities(log_joint: Matrix, *, hard: bool) -> Matrix:
    """Return E[z_ij] of each row, shape (n_rows, n_components); hard gives each row to its best component alone."""
    if hard:
        return np.asarray(np.eye(log_joint.shape[1])[log_joint.argmax(axis=1)])
    return np.asarray(np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1, keepdims=True)))


def expected_log_likelihood(share: Matrix, log_joint: Matrix) -> float:
    r"""Return :math:`Q = \sum_i \sum_j E[z_{ij}] \ln P(x_i, j \mid h')`."""
    return float((share * np.where(share > 0, log_joint, 0.0)).sum())


def _matrices(covariances: Matrix, covariance: str, k: int, d: int) -> Matrix:
    """Return covariances of any of scikit-learn's shapes as one matrix per component, (k, d, d)."""
    if covariance in ("full", "tied"):
        return np.broadcast_to(covariances, (k, d, d))
    if covariance == "diagonal":
        return np.stack([np.diag(row) for row in covariances])
    return np.asarray(np.broadcast_to(covariances, (k,))[:, None, None] * np.eye(d))
