r"""The log-linear pool: weights of members (or of columns) by their loss on held-out rows.

.. math:: \log P(c \mid x) = \sum_m w_m F_m(c) + b_c - \log Z, \qquad w \ge 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import fit_pool as solve
from bayeskit._kernels import n_threads, pool_log_posterior, pool_members

# Members' log-probabilities below this are cut off: no member may rule a class out alone.
LEAST_LOG = float(np.log(1e-6))
# Strengths of the penalty that keeps the weights of the columns near their common temperature, the strongest first.
PENALTIES, PENALTIES_OF_MANY_ROWS = (500.0, 60.0, 8.0, 1.0), (30.0, 1.0)
MANY_ROWS, MANY_POSTERIORS = 2000, 100_000
FOLDS = 4
# The search for a penalty ends sooner than that for the weights: folds differ by more.
COARSE = 1e-5
LEAST_TEMPERATURE, MOST_TEMPERATURE = 0.02, 1.0


def fit_pool(
    scores: NDArray[np.float32],
    y: NDArray[np.uint32],
    weight: NDArray[np.float64],
    around: NDArray[np.float64],
    penalty: float,
    start: NDArray[np.float64] | None = None,
    tolerance: float = 1e-6,
) -> NDArray[np.float64]:
    """Return the weights w >= 0, then the biases b, with the least log-loss + ½ penalty ‖w − around‖² + ½ ‖b‖².

    ``scores`` (n_members, n_classes, n_rows) are log-probabilities or parts of them, of held-out rows.
    """
    if start is None:
        start = np.concatenate([around, np.zeros(scores.shape[1])])
    return solve(scores, y, weight, around, penalty, start, tolerance, _threads(scores))


def pooled(scores: NDArray[np.float32], found: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(c | x) by weights and biases, of shape (n_rows, n_classes)."""
    n = len(scores)
    return pool_log_posterior(scores, found[:n], found[n:], _threads(scores))


def pool_of_members(
    members: list[NDArray[np.float64]],
    w: NDArray[np.float64],
    b: NDArray[np.float64],
    matrix: NDArray[np.float64],
    centre: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return log P(c | x) ∝ A z + a, of shape (n_rows, n_classes), where z = Σ w F + b.

    ``members`` are the F (n_rows, n_classes) and ``matrix`` is A with a as its last column; z is less its mean over the
    classes of the ``centre``.
    """
    return pool_members(members, w, b, matrix, centre, n_threads((len(members) + len(b) + 16) * members[0].size))


def _threads(scores: NDArray[np.float32]) -> int:
    n, k, n_rows = scores.shape
    return n_threads((4 * n + 16) * k * n_rows)  # an exponential takes as long as several products


def weigh_columns(
    scores: NDArray[np.float32], y: NDArray[np.uint32], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return weights of columns, biases, and log P(c | x) of the rows (cross-validated if there are few rows).

    All columns share one temperature of at most 1; how far their weights may differ from it is chosen by
    cross-validation.
    """
    n, k, n_rows = scores.shape
    whole = scores.sum(axis=0, keepdims=True)
    temperature = float(fit_pool(whole, y, weight, np.ones(1), 5.0)[0])
    temperature = min(max(temperature, LEAST_TEMPERATURE), MOST_TEMPERATURE)
    around = np.full(n, temperature)
    unit = 0.25 / max(temperature**2, 1e-3)
    many = n_rows >= MANY_ROWS or n_rows * k >= MANY_POSTERIORS
    if many:
        fold = np.arange(n_rows) * FOLDS // n_rows  # rows stand in a random order
    else:
        # Each class is dealt out over the folds; rows of a fold follow each other, so that blocks are skipped.
        dealt = np.empty(n_rows, dtype=np.int64)
        dealt[np.argsort(y, kind="stable")] = np.arange(n_rows) % FOLDS
        order = np.argsort(dealt, kind="stable")
        fold, y, weight = dealt[order], y[order], weight[order]
        scores = np.ascontiguousarray(scores[:, :, order])
    parts = range(1 if many else min(FOLDS, n_rows))
    begin = np.concatenate([around, np.zeros(k)])
    found, best, kept = dict.fromkeys(parts, begin), -np.inf, None
    for penalty in PENALTIES_OF_MANY_ROWS if many else PENALTIES:
        log_posterior = np.zeros((n_rows, k))
        for part in parts:
            out = fold == part
            found[part] = fit_pool(scores, y, np.where(out, 0.0, weight), around, penalty * unit, found[part], COARSE)
            log_posterior[out] = pooled(np.ascontiguousarray(scores[:, :, out]), found[part])
        tested = np.flatnonzero(fold < len(parts))
        value = float(weight[tested] @ log_posterior[tested, y[tested]])
        if value <= best:  # a weaker penalty does worse still
            break
        best, kept = value, (penalty * unit, log_posterior, found[0])
    assert kept is not None
    last = fit_pool(scores, y, weight, around, kept[0], kept[2])
    if many:
        return last[:n], last[n:], pooled(scores, last)
    return last[:n], last[n:], kept[1][np.argsort(order)]
