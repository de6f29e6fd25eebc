"""Log P(x, c) of each row under the normal distributions of the other rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayeskit.counts.gaussian import GaussianCounts
from bayeskit.estimate.covariance import Gaussians
from bayeskit.estimate.gaussian import VARIANCE_FLOOR
from bayeskit.estimate.gaussian_scores import GaussianBeliefs

Matrix = NDArray[np.float64]
Refit = Callable[[GaussianCounts], Gaussians]

# Below this share of the determinant that is left without the row, a difference has lost too many digits.
_LEAST_LEFT = 1e-4


@dataclass(frozen=True)
class Left:
    """The rows that are left out one after the other, with what each counts and log P(c) without it."""

    x: Matrix  # (n_rows, n_columns)
    y: NDArray[np.int64]  # (n_rows,)
    own: Matrix  # (n_rows,)
    log_prior: Matrix  # (n_rows, n_classes)


def log_joint_left_out(
    counts: GaussianCounts, beliefs: GaussianBeliefs, rows: Left, shared: bool | None, unbiased: bool, estimate: Refit
) -> Matrix:
    r"""Return log P(x, c) of each row, (n_rows, n_classes), by the counts without it.

    Without row x of weight o the scatter matrix W = L Lᵀ of weight T loses a matrix of rank one. With v = x − μ_c,
    a = o n_c / (n_c − o), u = L⁻¹ v, u_k = L⁻¹ (x − μ_k) and the divisor m = T − o,

    .. math:: \log|\Sigma'| = \log|W| - d \log m + \log(1 - a |u|^2), \qquad
              (x - \mu_k)^\top \Sigma'^{-1} (x - \mu_k) = m \Big( |u_k|^2 + \frac{a (u_k^\top u)^2}{1 - a |u|^2} \Big)

    and x − μ_c becomes v n_c / (n_c − o). Rows where that does not hold are fitted again from the counts without them.

    Parameters
    ----------
    counts, beliefs
        The counts of all rows, and what was estimated from them.
    rows : Left
        The rows.
    shared : bool or None
        Whether classes share one matrix; None where a matrix is not a scatter over a weight.
    unbiased : bool
        Whether one row per class is taken off the weight.
    estimate : callable
        Estimates the distributions from other counts.
    """
    log_joint = np.empty_like(rows.log_prior)
    again = np.ones(len(rows.y), dtype=bool)
    if shared is not None and counts.known.all() and counts.known.shape[1]:
        plain = beliefs.log_densities(rows.x)
        for c in range(len(counts.classes)):
            of_class = np.flatnonzero(rows.y == c)
            if not len(of_class) or not _divisor(counts, c, shared, unbiased) > 0:
                continue  # one row has no spread of its own
            found, sound = _downdated(counts, beliefs.gaussians, rows, of_class, c, shared, unbiased)
            densities = found if shared else _with_column(plain[of_class], found, c)
            log_joint[of_class] = densities + rows.log_prior[of_class]
            again[of_class] = ~sound
    again |= np.isnan(rows.x).any(axis=1)
    for i in np.flatnonzero(again).tolist():
        log_joint[i] = _fitted_again(counts, beliefs, rows, i, estimate)
    return log_joint


def _downdated(
    counts: GaussianCounts,
    fitted: Gaussians,
    rows: Left,
    of_class: NDArray[np.intp],
    c: int,
    shared: bool,
    unbiased: bool,
) -> tuple[Matrix, NDArray[np.bool_]]:
    """Return log p(x | k) of rows of class c for the classes k that have its matrix, and where the formula holds."""
    d = rows.x.shape[1]
    members = np.arange(len(counts.classes)) if shared else np.array([c])
    n_c, own, whole = float(counts.n_class[c]), rows.own[of_class], _divisor(counts, c, shared, unbiased)
    left, divisor = n_c - own, whole - own
    matrix = fitted.covariance[c] * whole
    unit = np.sqrt(np.diagonal(matrix))
    lower = linalg.cholesky(matrix / unit[:, None] / unit, lower=True)
    off = (rows.x[of_class, None, :] - fitted.mean[members] - fitted.rest[members]) / unit  # (n, members, d)
    solved = linalg.solve_triangular(lower, off.reshape(-1, d).T, lower=True).T.reshape(off.shape)
    mine = solved[:, int(np.flatnonzero(members == c)[0])]  # u
    with np.errstate(divide="ignore", invalid="ignore"):
        a = own * n_c / left
        kept = 1.0 - a * np.einsum("ij,ij->i", mine, mine)
        distance = (
            np.einsum("ikj,ikj->ik", solved, solved) + (a / kept)[:, None] * (solved @ mine[:, :, None])[:, :, 0] ** 2
        )
        distance[:, members == c] *= ((n_c / left) ** 2)[:, None]
        log_size = 2.0 * (np.log(np.diagonal(lower)).sum() + np.log(unit).sum()) - d * np.log(divisor) + np.log(kept)
        found = -0.5 * (d * np.log(2 * np.pi) + log_size[:, None] + divisor[:, None] * distance)
        # A class of two rows or fewer, or a narrow direction, has an estimate that is raised.
        narrow = _least_share(counts, matrix) * kept / divisor
        sound = (
            (left > 0) & (divisor > 0) & (kept > _LEAST_LEFT) & (narrow > 2 * VARIANCE_FLOOR) & (fitted.rank[c] == d)
        )
    return found, sound


def _divisor(counts: GaussianCounts, c: int, shared: bool, unbiased: bool) -> float:
    """Return what the scatter of a class, or of all classes, was divided by."""
    n_class = counts.n_class if shared else counts.n_class[c : c + 1]
    return float(n_class.sum()) - (float((n_class > 0).sum()) if unbiased else 0.0)


def _least_share(counts: GaussianCounts, matrix: Matrix) -> float:
    """Return the least eigenvalue of a matrix in units of the columns' deviations, a little below the true one."""
    whole = counts.moments.pooled()
    scale = np.sqrt(np.maximum(np.diagonal(whole.scatter[0]), 1e-300) / max(float(whole.weight[0]) - 1.0, 1.0))
    return float(linalg.eigvalsh(matrix / scale[:, None] / scale)[0])


def _with_column(table: Matrix, column: Matrix, c: int) -> Matrix:
    table = table.copy()
    table[:, c] = column[:, 0]
    return table


def _fitted_again(counts: GaussianCounts, beliefs: GaussianBeliefs, rows: Left, i: int, estimate: Refit) -> Matrix:
    columns = [rows.x[i : i + 1, k].copy() for k in range(rows.x.shape[1])]
    one = GaussianCounts.of(counts.schema, counts.classes, columns, rows.y[i : i + 1], rows.own[i : i + 1])
    rest = counts.declare(counts.classes) - one
    densities = GaussianBeliefs(beliefs.schema, rows.log_prior[i], estimate(rest)).log_densities(rows.x[i : i + 1])
    return np.asarray(densities[0] + rows.log_prior[i])
