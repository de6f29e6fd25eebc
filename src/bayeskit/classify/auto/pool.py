r"""The log-linear pool: weights of members (or of columns) by their loss on rows that were left out.

.. math:: \log P(c \mid x) = \sum_m w_m F_m(c) + b_c - \log Z, \qquad w \ge 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import fit_pool as solve
from bayeskit._kernels import n_threads
from bayeskit.classify.auto.rows import log_softmax

# Members' log-probabilities below this are cut off: no member may rule a class out alone.
LEAST_LOG = float(np.log(1e-6))
# Strengths of the penalty that keeps the weights of the columns near their common temperature.
PENALTIES, PENALTIES_OF_MANY_ROWS = (1.0, 8.0, 60.0, 500.0), (1.0, 30.0)
MANY_ROWS, MANY_POSTERIORS = 2000, 100_000
FOLDS = 4
LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.02, 1.0


def fit_pool(
    scores: NDArray[np.float32],
    y: NDArray[np.uint32],
    weight: NDArray[np.float64],
    around: NDArray[np.float64],
    penalty: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weights w >= 0 and the biases b with the least log-loss + ½ penalty ‖w − around‖² + ½ ‖b‖².

    ``scores`` (n_rows, n_members, n_classes) are log-probabilities or parts of them, of rows that were left out.
    """
    found = solve(scores, y, weight, around, penalty, n_threads(scores.size * 4))
    return found[: scores.shape[1]], found[scores.shape[1] :]


def pooled(scores: NDArray[np.float32], w: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(c | x) of a pool, of shape (n_rows, n_classes)."""
    return log_softmax(np.einsum("rmc,m->rc", scores, w, dtype=np.float64) + b)


def weigh_columns(
    scores: NDArray[np.float32], y: NDArray[np.uint32], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return weights of columns, biases, and log P(c | x) of the rows, by weights that have not seen them if few.

    All columns share one temperature of at most 1; how far their weights may leave it is decided on other folds.
    """
    rows = np.arange(len(y))
    whole = np.ascontiguousarray(scores.sum(axis=1, keepdims=True))
    temperature = float(fit_pool(whole, y, weight, np.ones(1), 5.0)[0][0])
    temperature = min(max(temperature, LEAST_TEMPERATURE), MOST_TEMPERATURE)
    around = np.full(scores.shape[1], temperature)
    unit = 0.25 / max(temperature**2, 1e-3)
    many = len(y) >= MANY_ROWS or len(y) * scores.shape[2] >= MANY_POSTERIORS
    fold = rows % FOLDS  # rows stand in a random order
    best: tuple[float, float, NDArray[np.float64]] | None = None
    for penalty in PENALTIES_OF_MANY_ROWS if many else PENALTIES:
        log_posterior = np.zeros((len(y), scores.shape[2]))
        tested = fold == 0 if many else np.ones(len(y), dtype=bool)
        for part in range(1 if many else FOLDS):
            seen = fold != part
            if not seen.any():
                continue
            w, b = fit_pool(np.ascontiguousarray(scores[seen]), y[seen], weight[seen], around, penalty * unit)
            log_posterior[~seen] = pooled(scores[~seen], w, b)
        value = float(weight[tested] @ log_posterior[rows[tested], y[tested]])
        if best is None or value > best[0]:
            best = value, penalty * unit, log_posterior
    assert best is not None
    w, b = fit_pool(scores, y, weight, around, best[1])
    return w, b, pooled(scores, w, b) if many else best[2]
