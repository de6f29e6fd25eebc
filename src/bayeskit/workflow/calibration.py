"""Calibration by temperature scaling."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.scores import LEAST

# The temperatures that are searched, on a logarithmic scale.
LOWEST, HIGHEST = 0.05, 20.0


def tempered(posterior: NDArray[np.float64], temperature: float) -> NDArray[np.float64]:
    r"""Return posteriors raised to 1 / T and normalised.

    .. math:: P_T(c \mid x) = \frac{P(c \mid x)^{1/T}}{\sum_{c'} P(c' \mid x)^{1/T}}

    T > 1 makes them less extreme, T < 1 more extreme; the most probable class stays the same (Guo, Pleiss, Sun &
    Weinberger 2017).

    >>> tempered(np.array([[0.9, 0.1]]), 2.0).round(3)
    array([[0.75, 0.25]])
    """
    if temperature == 1.0:
        return posterior
    with np.errstate(divide="ignore"):
        logs = np.log(posterior) / temperature
    powers = np.exp(logs - logs.max(axis=1, keepdims=True))
    tempered: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return tempered


def fit_temperature(posterior: NDArray[np.float64], y: NDArray[Any]) -> float:
    """Return the temperature with the least log-loss on held-out rows.

    The log-loss is convex in 1 / T, so a golden-section search finds its only minimum.

    Parameters
    ----------
    posterior : float64 array of shape (n_rows, n_classes)
        Posteriors of held-out rows.
    y : array of shape (n_rows,)
        The true classes, as positions.

    Examples
    --------
    >>> sure = np.array([[0.99, 0.01]] * 4)
    >>> round(fit_temperature(sure, np.array([0, 0, 0, 1])), 2)  # right three times in four
    4.18
    """
    clipped = np.clip(posterior, LEAST, 1.0)
    rows, truth = np.arange(len(y)), np.asarray(y, dtype=np.intp)

    def loss(log_beta: float) -> float:
        return float(-np.log(np.clip(tempered(clipped, float(np.exp(-log_beta)))[rows, truth], LEAST, 1.0)).mean())

    ratio = (np.sqrt(5) - 1) / 2
    low, high = -np.log(HIGHEST), -np.log(LOWEST)
    while high - low > 1e-6:
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if loss(a) <= loss(b) else (a, high)
    return float(np.exp(-(low + high) / 2))


def out_of_fold(posterior: NDArray[np.float64], y: NDArray[Any], part: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return calibrated posteriors: the temperature of each fold is fitted on the other folds' rows."""
    calibrated = np.empty_like(posterior)
    for k in range(int(part.max()) + 1):
        here, others = part == k, (part != k) & (part >= 0)
        calibrated[here] = tempered(posterior[here], fit_temperature(posterior[others], y[others]))
    return calibrated
