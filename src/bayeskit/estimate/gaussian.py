"""Moments → means and variances that are safe to divide by."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.moments import Moments

Variance = Literal["ml", "unbiased"]

# No variance is taken to be smaller than this share of the variance of the whole column: no class holds a column a
# thousand times tighter than all rows do. The floor is the column's own, so that a column of huge scale does not drown
# a small one. On scikit-learn's digits, where pixels are often constant within a class, 1e-9 costs six points.
VARIANCE_FLOOR = 1e-6


def gaussian(
    moments: Moments, variance: Variance = "ml", floor: float = VARIANCE_FLOOR
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Estimate mean and variance of each column in each class, both of shape (n_features, n_classes).

    .. math:: \mu = \frac1n \sum_i x_i \qquad \sigma^2 = \frac1n \sum_i (x_i - \mu)^2

    with ``variance="unbiased"`` dividing by n − 1. A variance below ``floor`` times the variance of the whole column
    is raised to that. A class without any value takes the mean and variance of the whole column, so that it has
    nothing to say. A column with one value throughout has no spread to take a share of; the size of its value stands
    in, so that another value at prediction is unlikely in every class alike and does not drown the other columns.
    """
    weight = moments.weight
    divisor = weight - 1.0 if variance == "unbiased" else weight
    var = np.divide(moments.scatter, divisor, out=np.zeros_like(weight), where=divisor > 0)
    whole = moments.pooled()
    spread = np.divide(whole.scatter, whole.weight, out=np.zeros_like(whole.scatter), where=whole.weight > 0)
    size = np.maximum(np.abs(whole.mean), 1.0)
    least = np.where(spread > 0, floor * spread, max(floor, VARIANCE_FLOOR) * size**2)
    empty = weight == 0
    mean = np.where(empty, whole.mean, moments.mean)
    return mean, np.maximum(np.where(empty, spread, var), least)


def poisson(moments: Moments, smoothing: float) -> NDArray[np.float64]:
    """Estimate the rate of each column in each class, (Σx + λ x̄) / (n + λ), of shape (n_features, n_classes).

    The smoothing counts as λ more rows at the mean of the whole column, so that a class that never saw an event
    does not rule it out; λ = 0 is maximum likelihood. Where no row of any class saw an event, the mean is taken to be
    that of one event in one row more.
    """
    whole = moments.pooled()
    mean = np.where(whole.mean > 0, whole.mean, 1.0 / (whole.weight + 1.0)) if smoothing > 0 else whole.mean
    total = moments.weight + smoothing
    sums = moments.weight * moments.mean + smoothing * mean
    return np.asarray(np.divide(sums, total, out=np.broadcast_to(mean, total.shape).copy(), where=total > 0))
