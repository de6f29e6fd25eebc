"""Gaussian distributions from rows: a regression per configuration of the discrete parents, from moments that add."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.gaussian import GaussianCPD

Floats = NDArray[np.float64]


def moments_of(z: Floats, weight: Floats, group: NDArray[np.int64], n_groups: int) -> Floats:
    """Return Σ w z zᵀ of each group, (n_groups, k, k); the moments of two tables add."""
    out = np.zeros((n_groups, z.shape[1], z.shape[1]))
    for g in np.unique(group):
        rows = z[group == g]
        out[g] = rows.T @ (rows * weight[group == g, None])
    return out


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
    z = np.column_stack([np.ones(len(w)), (numbers - centre) / scale])
    moments = moments_of(z, w, group, len(cpd.intercept))
    moments = moments + smoothing * moments.sum(axis=0) / w.sum()
    slope, intercept, sd = np.zeros_like(cpd.slope), np.zeros_like(cpd.intercept), np.zeros_like(cpd.sd)
    for g, m in enumerate(moments):
        if not m[0, 0] > 0:
            raise NetworkError(
                f"no row has configuration {g} of the discrete parents of {name!r}; with smoothing above 0 it takes "
                "the regression of all rows."
            )
        b, *_ = np.linalg.lstsq(m[:-1, :-1], m[:-1, -1], rcond=1e-13)
        rest = m[-1, -1] - 2.0 * b @ m[:-1, -1] + b @ m[:-1, :-1] @ b
        if not rest > 1e-14 * m[-1, -1]:
            raise NetworkError(
                f"in configuration {g} the parents of {name!r} say it without error, so it has no density there; give "
                "more rows or smoothing above 0."
            )
        slope[g] = b[1:] * scale[-1] / scale[:-1]
        intercept[g] = centre[-1] + scale[-1] * b[0] - slope[g] @ centre[:-1]
        sd[g] = scale[-1] * np.sqrt(rest / m[0, 0])
    return GaussianCPD(cpd.cards, intercept, slope, sd)
