"""Moments → means, and variances above zero."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.moments import Moments

Variance = Literal["posterior", "ml", "unbiased"]

# The least variance by "ml" and "unbiased", as a share of the variance of the whole column: no class holds a column a
# thousand times tighter than all rows do. Each column has a floor of its own, so that a column of huge scale does not
# hide a small one.
VARIANCE_FLOOR = 1e-6

# How many rows of the variance within classes "posterior" adds to each class: chosen by benchmarks/accuracy/defaults.py
# among 1/2, 1, 2, 4, … 32, on folds that the accuracy study does not report. More gains on half of the tables alone.
VARIANCE_PRIOR = 8.0


def gaussian(
    moments: Moments,
    variance: Variance = "posterior",
    prior: float = VARIANCE_PRIOR,
    target: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    r"""Estimate mean and variance of each column in each class, both of shape (n_features, n_classes).

    .. math:: \mu_c = \frac1{n_c} \sum_i x_i \qquad
              \sigma_c^2 = \frac{\sum_i (x_i - \mu_c)^2 + ν σ^2}{n_c + ν}

    with the variance σ² within classes (:func:`within_variance`, or ``target``, of shape (n_features, 1)): ``prior`` =
    ν extra rows with the variance that classes have on average, so that a class with a few close values does not get
    a tiny one. ``variance="ml"`` divides the scatter by n and
    ``"unbiased"`` by n − 1, as textbooks do; there, a variance below 1e-6 times that of the column is raised to that.

    A class without any value takes the mean and variance of the whole column. A constant column has variance zero; the
    size of its value is used instead, so that another value at prediction is equally unlikely in every class and does
    not dominate the other columns.
    """
    weight, (whole_mean, spread) = moments.weight, column_spread(moments)
    empty = weight == 0
    if variance == "posterior" and prior > 0:
        var = (moments.scatter + prior * (within_variance(moments) if target is None else target)) / (weight + prior)
        least = np.zeros_like(spread)
    else:
        divisor = weight - 1.0 if variance == "unbiased" else weight
        var = np.divide(moments.scatter, divisor, out=np.zeros_like(weight), where=divisor > 0)
        least = VARIANCE_FLOOR * spread
    mean = np.where(empty, whole_mean, moments.mean)
    return mean, _above_zero(np.maximum(np.where(empty, spread, var), least), whole_mean, spread)


def within_variance(moments: Moments) -> NDArray[np.float64]:
    r"""Return the pooled variance of each column within the classes, Σ_c scatter_c / (n − K), of shape (n_features, 1).

    It is at most that of the whole column, which stands for it where no class has two different values.

    >>> y = np.array([0, 0, 1, 1], dtype=np.uint8)
    >>> within_variance(Moments.of([np.array([0.0, 2.0, 10.0, 12.0])], y, 2))
    array([[2.]])
    """
    scatter = moments.scatter.sum(axis=1, keepdims=True)
    free = (moments.weight - (moments.weight > 0)).sum(axis=1, keepdims=True)
    _, spread = column_spread(moments)
    within = np.divide(scatter, free, out=spread.copy(), where=(scatter > 0) & (free > 0))
    return np.asarray(np.minimum(spread, within))


def gaussian_like_sklearn(
    moments: Moments, var_smoothing: float, largest: NDArray[np.float64] | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64], Any]:
    r"""Estimate mean and variance as scikit-learn's GaussianNB does; the third result is ε.

    .. math:: \sigma_{jc}^2 = \frac1{n_c} \sum_i (x_{ij} - \mu_{jc})^2 + ε, \qquad ε = s \max_j σ_j^2

    The share s of the *largest* variance of a column is added to *every* variance. Where that is zero, the variance
    of :func:`gaussian` is used instead. ``largest`` is given where these are not all columns.
    """
    weight, (whole_mean, spread) = moments.weight, column_spread(moments)
    empty = weight == 0
    var = np.divide(moments.scatter, weight, out=np.zeros_like(weight), where=~empty)
    epsilon = var_smoothing * (float(spread.max(initial=0.0)) if largest is None else largest)
    mean = np.where(empty, whole_mean, moments.mean)
    return mean, _above_zero(np.where(empty, spread, var) + epsilon, whole_mean, spread), epsilon


def normal_parameters(mean: NDArray[np.float64], variance: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the parameters of each column as the scoring kernel wants them; both of shape (n_columns, n_classes)."""
    return list(np.stack([-0.5 * np.log(2 * np.pi * variance), mean, 0.5 / variance], axis=1))


def column_spread(moments: Moments) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and variance of each whole column, whatever the class, each of shape (n_features, 1)."""
    whole = moments.pooled()
    return whole.mean, np.divide(whole.scatter, whole.weight, out=np.zeros_like(whole.scatter), where=whole.weight > 0)


def _above_zero(
    var: NDArray[np.float64], mean: NDArray[np.float64], spread: NDArray[np.float64]
) -> NDArray[np.float64]:
    size = np.clip(np.abs(mean), 1.0, 1e154)  # the square of a larger number overflows
    return np.where(var > 0, var, VARIANCE_FLOOR * np.where(spread > 0, spread, size**2))


def poisson(moments: Moments, smoothing: float) -> NDArray[np.float64]:
    """Estimate the rate of each column in each class, (Σx + λ x̄) / (n + λ), of shape (n_features, n_classes).

    The smoothing counts as λ more rows at the mean of the whole column, so that a class without an event does
    not rule events out; λ = 0 is maximum likelihood. Where no row of any class has an event, the mean is that of one
    event in one more row.
    """
    mean = poisson_prior_mean(moments, smoothing)
    total = moments.weight + smoothing
    sums = moments.weight * moments.mean + smoothing * mean
    return np.asarray(np.divide(sums, total, out=np.broadcast_to(mean, total.shape).copy(), where=total > 0))


def poisson_prior_mean(moments: Moments, smoothing: float) -> NDArray[np.float64]:
    """Return the mean of the rows that smoothing adds in :func:`poisson`, of shape (n_features, 1)."""
    whole = moments.pooled()
    return np.where(whole.mean > 0, whole.mean, 1.0 / (whole.weight + 1.0)) if smoothing > 0 else whole.mean
