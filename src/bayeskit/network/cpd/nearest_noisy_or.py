"""The noisy-OR that is nearest to a given table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.distribution import Table

# ln(1 − p) of a link is bounded, so that a link of 1 is reached within rounding.
_MOST = 40.0
_LEAST = 1e-300


def nearest_noisy_or(
    table: Table, there: Sequence[int], yes: int, weights: Any = None
) -> tuple[float, list[float], float]:
    r"""Return the leak, the links and the mean divergence in nats of the noisy-OR with the least divergence.

    With :math:`θ_i = -\ln(1 - p_i)` what is minimised,
    :math:`-\sum_x w_x [t_x \ln(1 - e^{-θ·x}) - (1 - t_x)\, θ·x]`, is convex, so the least is found from anywhere.
    """
    from scipy.optimize import minimize

    n = table.ndim - 1
    w = np.ones(table.shape[:-1]) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != table.shape[:-1] or not (np.isfinite(w) & (w >= 0)).all() or not w.any():
        raise NetworkError(
            f"weights must be finite numbers of at least 0, not all 0, of shape {table.shape[:-1]}; got {w.tolist()}."
        )
    w = w / w.max()
    w = (w / w.sum()).ravel()
    places = np.stack(np.unravel_index(np.arange(w.size), table.shape[:-1]), axis=1) if n else np.empty((1, 0))
    x = np.concatenate([np.ones((w.size, 1)), places == np.array(there)], axis=1)  # (n_rows, 1 + n): the leak first
    t = (table[..., yes] / table.sum(axis=-1)).ravel()

    def divergence(theta: Table) -> tuple[float, Table]:
        none = x @ theta  # −ln P(no)
        some = np.maximum(-np.expm1(-none), _LEAST)
        slope = w * ((1.0 - t) - t * np.exp(-none) / some)
        return float((w * ((1.0 - t) * none - t * np.log(some))).sum()), x.T @ slope

    start = np.full(n + 1, 0.5)
    best = minimize(
        divergence, start, jac=True, method="L-BFGS-B", bounds=[(0.0, _MOST)] * (n + 1),
        options={"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-12},
    )  # fmt: skip
    inside = t[(t > 0) & (t < 1)], w[(t > 0) & (t < 1)]
    entropy = -float((inside[1] * (inside[0] * np.log(inside[0]) + (1 - inside[0]) * np.log1p(-inside[0]))).sum())
    p = -np.expm1(-best.x)
    return float(p[0]), [float(q) for q in p[1:]], max(float(best.fun) - entropy, 0.0)
