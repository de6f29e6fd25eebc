"""The numbers of logistic and probit distributions from rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from bayeskit.errors import TableError
from bayeskit.network.cpd.distribution import Codes, Table
from bayeskit.network.cpd.link import Link, LinkCPD
from bayeskit.network.cpd.logistic import LogisticCPD


def fit_logistic(cpd: LogisticCPD, codes: Codes, weights: Table, smoothing: float) -> LogisticCPD:
    """Return the distribution whose weights make the rows most probable.

    ``codes`` has the parents' columns in order and the variable's own last. The weights of each parent's first state,
    and of the first own state, are 0, as only differences matter. ``smoothing`` λ is the precision of a normal prior
    on the weights (ridge, λ/2 Σ w²); the bias is free.
    """
    *cards, r = cpd.shape
    rows, where = np.unique(codes[:, :-1], axis=0, return_inverse=True)
    n = np.zeros((len(rows), r))  # the weight of each own state in each row of parents
    np.add.at(n, (where.reshape(-1), codes[:, -1]), weights)
    w = _solved(np.stack([np.ones(len(rows)), *_indicators(rows, cards)], axis=1), n, smoothing, "logistic")
    parts, at = [], 1
    for card in cards:
        parts.append(np.concatenate([np.zeros((1, r)), w[at : at + card - 1]]))
        at += card - 1
    return replace(cpd, bias=w[0], weights=tuple(parts))


def fit_link(cpd: LinkCPD, name: str, codes: Codes, x: Table, y: Codes, weights: Table, smoothing: float) -> LinkCPD:
    """Return the distribution with real parents whose weights make the rows most probable.

    ``codes`` are those of the discrete parents, ``x`` the numbers of the real ones, which enter in units of their
    standard deviation, so that λ/2 Σ w² does not depend on units. Rows with a missing cell are left out.
    """
    cards, r = [cpd.cards[k] for k in cpd.discrete], len(cpd.bias)
    known = ~np.isnan(x).any(axis=1) & (y < r) & (codes < np.array(cards, dtype=np.int64)).all(axis=1) & (weights > 0)
    if not known.any():
        raise TableError(f"no row knows {name!r} and all its parents, so there is nothing to learn its link from.")
    codes, x, y, weights = codes[known], x[known], y[known].astype(np.int64), weights[known]
    centre = np.average(x, axis=0, weights=weights)
    scale = np.sqrt(np.average((x - centre) ** 2, axis=0, weights=weights))
    scale = np.where(scale > 0, scale, 1.0)
    columns = [np.ones(len(y)), *_indicators(codes, cards), *((x - centre) / scale).T]
    w = _solved(np.stack(columns, axis=1), np.eye(r)[y] * weights[:, None], smoothing, cpd.link)
    slopes = w[len(w) - len(scale) :] / scale[:, None]
    parts, at, column = [], 1, 0
    for card in cpd.cards:
        if card:
            parts.append(np.concatenate([np.zeros((1, r)), w[at : at + card - 1]]))
            at += card - 1
        else:
            parts.append(slopes[column : column + 1])
            column += 1
    return replace(cpd, bias=w[0] - centre @ slopes, weights=tuple(parts))


def _indicators(codes: Codes, cards: Sequence[int]) -> list[Table]:
    return [(codes[:, k] == x).astype(np.float64) for k, card in enumerate(cards) for x in range(1, card)]


def _solved(design: Table, n: Table, smoothing: float, link: Link) -> Table:
    """Return the weights, (columns, own states), of least −log likelihood + λ/2 Σ w²; the first column is the bias."""
    from scipy.optimize import minimize

    loss = _logistic_loss if link == "logistic" else _probit_loss
    columns, r = design.shape[1], n.shape[1]

    def objective(flat: Table) -> tuple[float, Table]:
        w = flat.reshape(columns, r - 1)
        value, slope = loss(design, n, w)
        slope[1:] += smoothing * w[1:]
        return value + 0.5 * smoothing * float((w[1:] ** 2).sum()), slope.ravel()

    best = minimize(
        objective,
        np.zeros(columns * (r - 1)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 5000, "ftol": 1e-15},
    )
    return np.concatenate([np.zeros((columns, 1)), best.x.reshape(columns, r - 1)], axis=1)


def _logistic_loss(design: Table, n: Table, w: Table) -> tuple[float, Table]:
    score = np.concatenate([np.zeros((len(design), 1)), design @ w], axis=1)
    score -= score.max(axis=1, keepdims=True)
    log_p = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
    slope = design.T @ (n.sum(axis=1, keepdims=True) * np.exp(log_p) - n)[:, 1:]
    return float(-(n * log_p).sum()), slope


def _probit_loss(design: Table, n: Table, w: Table) -> tuple[float, Table]:
    from scipy.special import log_ndtr

    score = (design @ w)[:, 0]
    yes, no = log_ndtr(score), log_ndtr(-score)
    log_density = -0.5 * score * score - 0.5 * np.log(2.0 * np.pi)
    slope = n[:, 0] * np.exp(log_density - no) - n[:, 1] * np.exp(log_density - yes)
    return float(-(n[:, 0] @ no + n[:, 1] @ yes)), (design.T @ slope)[:, None]
