"""What is fitted to the scores of documents left out: the pool of members, the correction, and the doubt."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit

from bayeskit.classify.auto_text.members import Floats, Matrix

# The penalty on the weight of a member of unit spread, and on the bias of a class.
_WEIGHT_PENALTY, _BIAS_PENALTY = 1e-3, 1.0
# The spread that log T is expected to have around 0.
_LOG_TEMPERATURE_SPREAD = 0.3


def softmax(scores: Floats) -> Floats:
    """Return probabilities in proportion to the exponentials of each row."""
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(p / p.sum(axis=1, keepdims=True))


def log_loss(scores: Floats, y: NDArray[Any], weight: Floats) -> float:
    """Return the weighted sum of −log softmax of the true class."""
    shifted = scores - scores.max(axis=1, keepdims=True)
    return float(weight @ (np.log(np.exp(shifted).sum(axis=1)) - shifted[np.arange(len(y)), y]))


def fit_pool(members: Floats, y: NDArray[Any], weight: Floats) -> tuple[Floats, Floats]:
    """Return one weight of at least 0 per member and one bias per class, with the least penalised log-loss.

    ``members`` has the shape (n_documents, n_classes, n_members); its documents were left out of the counts.
    """
    _, k, m = members.shape
    spread = members.reshape(-1, m).std(axis=0)
    spread[spread == 0] = 1.0
    scaled = members / spread

    def objective(parameters: Floats) -> tuple[float, Floats]:
        scores = scaled @ parameters[:m] + parameters[m:]
        residual = _residual(scores, y, weight)
        penalty = _WEIGHT_PENALTY * parameters[:m] @ parameters[:m] + _BIAS_PENALTY * parameters[m:] @ parameters[m:]
        value = log_loss(scores, y, weight) + 0.5 * float(penalty)
        by_member = np.tensordot(residual, scaled, ([0, 1], [0, 1])) + _WEIGHT_PENALTY * parameters[:m]
        return value, np.concatenate([by_member, residual.sum(axis=0) + _BIAS_PENALTY * parameters[m:]])

    start = np.concatenate([np.full(m, 1.0 / m), np.zeros(k)])
    # A document that is left out has words that its class lacks without it: of words that say nothing, the scores are
    # against the true class, and a weight below 0 would learn just that.
    bounds = [(0.0, None)] * m + [(None, None)] * k
    best = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 200}).x
    return best[:m] / spread, best[m:]


def fit_correction(
    features: Matrix, y: NDArray[Any], weight: Floats, offset: Floats, variance: float, start: Floats, max_iter: int
) -> Floats:
    """Return u of softmax(offset + x u) that maximizes the likelihood times a normal prior of this variance.

    ``start`` has the shape (n_features, n_classes), or (n_features, 1) for two classes, where the second is −u.
    """
    shape, transposed = start.shape, features.T.tocsr()
    two = shape[1] == 1
    penalty = (2.0 if two else 1.0) / variance

    def objective(flat: Floats) -> tuple[float, Floats]:
        u = flat.reshape(shape)
        scores = offset + corrected(features, u)
        residual = _residual(scores, y, weight)
        gradient = transposed @ (residual[:, :1] - residual[:, 1:] if two else residual)
        return log_loss(scores, y, weight) + 0.5 * penalty * float(flat @ flat), (gradient + penalty * u).ravel()

    options: Any = {"maxiter": max_iter, "maxcor": 5, "ftol": 1e-5, "gtol": 1e-3}
    return np.asarray(minimize(objective, start.ravel(), jac=True, method="L-BFGS-B", options=options).x).reshape(shape)


def corrected(features: Matrix, u: Floats) -> Floats:
    """Return x u for every class."""
    scores = np.asarray(features @ u)
    return np.hstack([scores, -scores]) if u.shape[1] == 1 else scores


def _residual(scores: Floats, y: NDArray[Any], weight: Floats) -> Floats:
    residual = softmax(scores)
    residual[np.arange(len(y)), y] -= 1.0
    return residual * weight[:, None]


def doubted(scores: Floats, temperature: float, doubt: float, shares: Floats) -> Floats:
    """Return (1 − ε) softmax(T s) + ε P(c)."""
    return np.asarray((1.0 - doubt) * softmax(temperature * scores) + doubt * shares)


def fit_doubt(scores: Floats, y: NDArray[Any], weight: Floats, shares: Floats) -> tuple[float, float]:
    """Return T and ε with the least log-loss on documents that the scores have not seen.

    ε is at least the share of one document, so that no class is ruled out.
    """
    rows, least = np.arange(len(y)), 1.0 / (1.0 + float(weight.sum()))

    def parts(parameters: Floats) -> tuple[float, float]:
        return float(np.exp(parameters[0])), least + (1.0 - least) * float(expit(parameters[1]))

    def objective(parameters: Floats) -> float:
        p = doubted(scores, *parts(parameters), shares)[rows, y]
        prior = 0.5 * (parameters[0] / _LOG_TEMPERATURE_SPREAD) ** 2
        return float(-(weight @ np.log(np.maximum(p, 1e-300))) + prior)

    return parts(minimize(objective, [0.0, -5.0], method="Nelder-Mead", options={"maxiter": 80}).x)
