r"""The log-linear pool: weights of members (or of columns) by their loss on held-out rows.

.. math:: \log P(c \mid x) = \sum_m w_m F_m(c) + b_c - \log Z, \qquad w \ge 0
"""

from __future__ import annotations

from collections.abc import Callable

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
# Scores up to so many are found anew for each fold, without its rows.
MOST_HONEST = 1 << 22
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


def pooled(scores: NDArray[np.float32], solution: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(c | x) by the weights and biases of a solution, of shape (n_rows, n_classes)."""
    n = len(scores)
    return pool_log_posterior(scores, solution[:n], solution[n:], _threads(scores))


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
    scores: NDArray[np.float32],
    y: NDArray[np.uint32],
    weight: NDArray[np.float64],
    scores_without: Callable[[NDArray[np.int64]], NDArray[np.float32]] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return weights of columns, biases, and log P(c | x) of the rows (cross-validated if there are few rows).

    All columns share one temperature of at most 1; how far their weights may differ from it is chosen by
    cross-validation. ``scores_without`` gives the scores by counts without some rows: the weights of a fold must not
    see its rows, and those of other rows do. If a column happens to put two rows into one class, it does so for both.
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
        fold = np.empty(n_rows, dtype=np.int64)
        fold[np.argsort(y, kind="stable")] = np.arange(n_rows) % FOLDS  # each class is dealt out over the folds
    parts = range(1 if many else min(FOLDS, n_rows))
    places = [np.flatnonzero(fold == part) for part in parts]
    honest = scores_without if not many and scores.size <= MOST_HONEST else None
    to_fit = [scores if honest is None else honest(place) for place in places]
    begin = np.concatenate([around, np.zeros(k)])
    of_fold, best, kept = dict.fromkeys(parts, begin), -np.inf, None
    tested = np.flatnonzero(fold < len(parts))
    for penalty in PENALTIES_OF_MANY_ROWS if many else PENALTIES:
        log_posterior = np.zeros((n_rows, k))
        for part, out in zip(parts, places, strict=True):
            kept_weight = np.where(fold == part, 0.0, weight)
            of_fold[part] = fit_pool(to_fit[part], y, kept_weight, around, penalty * unit, of_fold[part], COARSE)
            log_posterior[out] = pooled(np.ascontiguousarray(scores[:, :, out]), of_fold[part])
        value = float(weight[tested] @ log_posterior[tested, y[tested]])
        if value <= best:  # a weaker penalty does worse still
            break
        best, kept = value, (penalty * unit, log_posterior, of_fold[0])
    assert kept is not None
    last = fit_pool(scores, y, weight, around, kept[0], kept[2])
    return last[:n], last[n:], pooled(scores, last) if many else kept[1]
