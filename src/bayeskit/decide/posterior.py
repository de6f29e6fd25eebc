"""Posteriors: from log-joint scores, and checked where they come from elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.errors import BayeskitError, ImpossibleEvidenceError


def log_posterior(log_joint: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Turn log-joint scores into log class posteriors.

    .. math:: \log P(c \mid x) = \log P(x, c) - \log \sum_{c'} P(x, c')

    Parameters
    ----------
    log_joint : float64 array of shape (n_rows, n_classes)
        ``log P(x, c)``; ``-inf`` marks a class that x rules out.

    Examples
    --------
    >>> np.exp(log_posterior(np.log([[0.2, 0.6]])))
    array([[0.25, 0.75]])
    """
    peak = log_joint.max(axis=1, keepdims=True)  # (n_rows, 1)
    if np.isneginf(peak).any():
        raise ImpossibleEvidenceError(f"row {int(np.isneginf(peak).argmax())}: x has probability 0 under every class.")
    # Shifted by the row's peak, exp() cannot overflow and one term is 1. The log of the sum, at most log K, is taken
    # from the shifted scores: beside a peak of -1e20 it would be lost, and the posterior would not sum to 1.
    shifted: NDArray[np.float64] = log_joint - peak
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True)))


def as_posterior(posterior: ArrayLike, n_classes: int) -> tuple[NDArray[np.float64], float]:
    """Return the posterior as float64 of shape (n_rows, n_classes), and the tolerance on the sum of a row."""
    given: NDArray[Any] = np.asarray(posterior)
    if given.dtype.kind not in "fiub":
        raise BayeskitError(f"posterior must be an array of numbers; got dtype {given.dtype}.")
    if given.ndim != 2 or given.shape[1] != n_classes:
        raise BayeskitError(
            f"posterior must have shape (n_rows, {n_classes}), one column per class; got shape {given.shape}."
        )
    # The rounding of the given dtype; scikit-learn's log_loss allows the same.
    tolerance = float(np.sqrt(np.finfo(given.dtype).eps)) if given.dtype.kind == "f" else 0.0
    return np.ascontiguousarray(given, dtype=np.float64), tolerance


def check_posterior(posterior: ArrayLike, n_classes: int) -> NDArray[np.float64]:
    """Return the posterior as float64 of shape (n_rows, n_classes), or raise an error that names the bad row."""
    values, tolerance = as_posterior(posterior, n_classes)
    # NaN fails every comparison, so it is caught here as well.
    good = (np.abs(values.sum(axis=1) - 1.0) <= tolerance) & (values >= 0.0).all(axis=1)
    if not good.all():
        raise not_a_distribution(values, int(good.argmin()))
    return values


def not_a_distribution(values: NDArray[np.float64], row: int) -> BayeskitError:
    """Return the error for a row that is not a distribution."""
    return BayeskitError(
        f"posterior, row {row}: {_as_text(values[row])} is not a distribution over {values.shape[1]} classes; "
        f"it must be non-negative and sum to 1 (its sum is {values[row].sum():.6g})."
    )


def _as_text(row: NDArray[np.float64]) -> str:
    shown = ", ".join(f"{value:.6g}" for value in row[:8])
    return f"[{shown}{', …' if len(row) > 8 else ''}]"
