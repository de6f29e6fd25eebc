"""The numbers of a logistic distribution from rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bayeskit.network.cpd.distribution import Codes, Table
from bayeskit.network.cpd.logistic import LogisticCPD


def fit_logistic(cpd: LogisticCPD, codes: Codes, weights: Table, smoothing: float) -> LogisticCPD:
    """Return the distribution whose weights make the rows most probable.

    ``codes`` has the parents' columns in order and the variable's own last. The weights of each parent's first state,
    and of the first own state, are 0, as only differences matter. ``smoothing`` λ is the precision of a normal prior
    on the weights (ridge, λ/2 Σ w²); the bias is free.
    """
    from scipy.optimize import minimize

    *cards, r = cpd.shape
    rows, where = np.unique(codes[:, :-1], axis=0, return_inverse=True)
    n = np.zeros((len(rows), r))  # the weight of each own state in each row of parents
    np.add.at(n, (where.reshape(-1), codes[:, -1]), weights)
    columns = [np.ones(len(rows))]
    columns += [(rows[:, k] == x).astype(np.float64) for k, card in enumerate(cards) for x in range(1, card)]
    design = np.stack(columns, axis=1)  # (n_rows, 1 + Σ (states − 1))
    total = n.sum(axis=1, keepdims=True)

    def loss(flat: Table) -> tuple[float, Table]:
        w = flat.reshape(design.shape[1], r - 1)
        score = np.concatenate([np.zeros((len(rows), 1)), design @ w], axis=1)
        score -= score.max(axis=1, keepdims=True)
        log_p = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
        slope = design.T @ (total * np.exp(log_p) - n)[:, 1:]
        slope[1:] += smoothing * w[1:]
        return float(-(n * log_p).sum() + 0.5 * smoothing * (w[1:] ** 2).sum()), slope.ravel()

    best = minimize(
        loss, np.zeros(design.shape[1] * (r - 1)), jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-15}
    )
    w = np.concatenate([np.zeros((design.shape[1], 1)), best.x.reshape(design.shape[1], r - 1)], axis=1)
    parts, at = [], 1
    for card in cards:
        parts.append(np.concatenate([np.zeros((1, r)), w[at : at + card - 1]]))
        at += card - 1
    return replace(cpd, bias=w[0], weights=tuple(parts))
