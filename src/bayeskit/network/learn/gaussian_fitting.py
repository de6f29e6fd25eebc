"""Gaussian distributions from rows: a regression per configuration of the discrete parents, from moments that add."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.gaussian import GaussianCPD

Floats = NDArray[np.float64]


class Moments(NamedTuple):
    """Of each configuration its weight, its mean and the sum of squares around it: (g,), (g, k) and (g, k, k)."""

    n: Floats
    mean: Floats
    around: Floats


def moments_of(z: Floats, weight: Floats, group: NDArray[np.int64], n_groups: int) -> Moments:
    """Return of each group its weight, its mean and Σ w (z - mean)(z - mean)ᵀ: (n_groups,), (…, k) and (…, k, k)."""
    n, mean = np.zeros(n_groups), np.zeros((n_groups, z.shape[1]))
    around = np.zeros((n_groups, z.shape[1], z.shape[1]))
    for g in np.unique(group):
        rows, w = z[group == g], weight[group == g]
        n[g], mean[g] = w.sum(), np.average(rows, axis=0, weights=w)
        away = rows - mean[g]
        around[g] = away.T @ (away * w[:, None])
    return Moments(n, mean, around)


def _smoothed(z: Floats, w: Floats, group: NDArray[np.int64], n_groups: int, smoothing: float) -> Moments:
    """Return the moments with ``smoothing`` rows more in each group, which vary as rows within groups do.

    They lie around the group's own mean, so they say nothing of where it is; a group without rows is that of all rows.
    """
    n, mean, around = moments_of(z, w, group, n_groups)
    within = around.sum(axis=0) / w.sum()
    whole, centre, spread = moments_of(z, w, np.zeros(len(w), dtype=np.int64), 1)
    empty = n == 0
    mean[empty] = centre[0]
    around = np.where(empty[:, None, None], smoothing * spread[0] / whole[0], around + smoothing * within)
    return Moments(n + smoothing, mean, around)


def fit_gaussian(
    cpd: GaussianCPD, name: str, codes: NDArray[np.int64], x: Floats, y: Floats, weight: Floats, smoothing: float
) -> GaussianCPD:
    """Return the regressions of y on x, one for each configuration, from the rows in which all of them are known."""
    cards = [cpd.cards[k] for k in cpd.discrete]
    known = ~np.isnan(y) & ~np.isnan(x).any(axis=1) & (weight > 0)
    for k, card in enumerate(cards):
        known &= codes[:, k] < card
    if not known.any():
        raise NetworkError(f"no row knows {name!r} and all its parents, so there is nothing to learn it from.")
    group, w = cpd.configuration(codes[known]), weight[known]
    # Shifted and scaled by the whole column, moments lose no digits where the mean is large.
    numbers = np.column_stack([x[known], y[known]])
    centre = np.average(numbers, axis=0, weights=w)
    scale = np.sqrt(np.average((numbers - centre) ** 2, axis=0, weights=w))
    if not scale[-1] > 0:
        raise NetworkError(f"the column {name!r} is constant, so it has no density; leave the variable out.")
    scale = np.where(scale > 0, scale, 1.0)
    z = (numbers - centre) / scale
    return regressions(cpd, name, _smoothed(z, w, group, len(cpd.intercept), smoothing), centre, scale)


def regressions(cpd: GaussianCPD, name: str, moments: Moments, centre: Floats, scale: Floats) -> GaussianCPD:
    """Return the regression of the last column on the others in each configuration, from moments in units of scale."""
    slope, intercept, sd = np.zeros_like(cpd.slope), np.zeros_like(cpd.intercept), np.zeros_like(cpd.sd)
    for g, (n, mean, m) in enumerate(zip(*moments, strict=True)):
        if not n > 0:
            raise NetworkError(
                f"no row has configuration {g} of the discrete parents of {name!r}; with smoothing above 0 it takes "
                "the regression of all rows."
            )
        b, *_ = np.linalg.lstsq(m[:-1, :-1], m[:-1, -1], rcond=1e-13)
        rest = m[-1, -1] - 2.0 * b @ m[:-1, -1] + b @ m[:-1, :-1] @ b
        if not rest > 1e-14 * (m[-1, -1] + n * mean[-1] ** 2):
            raise NetworkError(
                f"in configuration {g} the parents of {name!r} say it without error, so it has no density there; give "
                "more rows or smoothing above 0."
            )
        slope[g] = b * scale[-1] / scale[:-1]
        intercept[g] = centre[-1] + scale[-1] * (mean[-1] - b @ mean[:-1]) - slope[g] @ centre[:-1]
        sd[g] = scale[-1] * np.sqrt(rest / n)
    return GaussianCPD(cpd.cards, intercept, slope, sd)
