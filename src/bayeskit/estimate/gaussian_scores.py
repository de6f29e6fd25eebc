"""Rows → log P(x, c) under a normal distribution for each class: with missing cells, and with the row left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayeskit._kernels import Score
from bayeskit.counts.gaussian import GaussianCounts
from bayeskit.counts.left_out import LeftOut
from bayeskit.estimate.covariance import Gaussians
from bayeskit.estimate.gaussian import VARIANCE_FLOOR
from bayeskit.table.schema import Schema

Matrix = NDArray[np.float64]

# Rows that are scored at once, so that what lies between stays in the cache.
_BLOCK = 4096
# Sets of missing cells whose factors are kept; others are made again.
_MOST_PATTERNS = 1000
# Below this share of the determinant that is left without the row, a difference has lost too many digits.
_LEAST_LEFT = 1e-4


class GaussianBeliefs:
    r"""A prior and a normal distribution for each class.

    .. math:: \log P(x, c) = \log P(c) - \tfrac12 \left( d \log 2\pi + \log|\Sigma_c|
              + (x - \mu_c)^\top \Sigma_c^{-1} (x - \mu_c) \right)

    over the d cells of x that are known: a marginal of a normal distribution is its rows and columns.
    """

    def __init__(self, schema: Schema, log_prior: NDArray[np.float64], gaussians: Gaussians) -> None:
        self.schema = schema
        self.log_prior = log_prior
        self.gaussians = gaussians
        self.in_place = len(schema) == len(schema.numeric)
        self._factors: dict[bytes, tuple[list[NDArray[np.float64]], NDArray[np.float64]]] = {}

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first impossible row and the first row with an infinite number (or −1)."""
        columns = None if isinstance(table, np.ndarray) else [table[j] for j in self.schema.numeric]
        n_rows = len(table) if isinstance(table, np.ndarray) else len(table[0])
        log_joint = np.empty((n_rows, len(self.log_prior)))
        for begin in range(0, n_rows, _BLOCK):
            end = min(n_rows, begin + _BLOCK)
            if columns is None:
                x = np.asarray(table[begin:end], dtype=np.float64)
            else:
                x = np.column_stack([np.empty((end - begin, 0)), *(column[begin:end] for column in columns)])
            infinite = np.isinf(x).any(axis=1)
            if infinite.any():
                return log_joint, -1, begin + int(infinite.argmax())
            log_joint[begin:end] = self.log_densities(x) + self.log_prior
        return (*_as(result, log_joint, self.log_prior, fallback), -1)

    def log_densities(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(x | c), of shape (n_rows, n_classes), of rows of the numeric columns."""
        known = ~np.isnan(x)
        whole = known.all(axis=1)
        if whole.all():
            return self._log_density(x, np.ones(x.shape[1], dtype=bool))
        scores = np.empty((len(x), len(self.log_prior)))
        packed = np.packbits(known, axis=1)
        keys = np.ascontiguousarray(packed).view([("", np.uint8)] * packed.shape[1])[:, 0] if x.shape[1] else packed
        _, first, pattern = np.unique(keys, return_index=True, return_inverse=True)
        for number, row in enumerate(first.tolist()):
            rows = np.flatnonzero(pattern.ravel() == number)
            scores[rows] = self._log_density(x[np.ix_(rows, np.flatnonzero(known[row]))], known[row])
        return scores

    def _log_density(self, x: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
        factors, constant = self._factor(known)
        mean, rest = self.gaussians.mean[:, known], self.gaussians.rest[:, known]
        scores = np.tile(constant, (len(x), 1))
        if not x.shape[1]:
            return scores
        with np.errstate(over="ignore"):  # a number too far out has density 0
            for c, factor in enumerate(factors):
                off = (x - mean[c] - rest[c]) @ factor
                scores[:, c] -= 0.5 * np.einsum("ij,ij->i", off, off)
        return scores

    def _factor(self, known: NDArray[np.bool_]) -> tuple[list[NDArray[np.float64]], NDArray[np.float64]]:
        """Return L⁻ᵀ of each class, Σ = L Lᵀ over the known columns, and what does not depend on x."""
        key = known.tobytes()
        if key not in self._factors:
            places = np.flatnonzero(known)
            factors, constant = [], np.full(len(self.log_prior), -0.5 * len(places) * np.log(2 * np.pi))
            for c, scale in enumerate(self._scales):
                # In units of the deviations, so that columns of any size have a factor.
                unit = scale[places]
                part = self.gaussians.covariance[c][np.ix_(places, places)] / unit[:, None] / unit
                # Older releases of SciPy refuse a matrix without rows.
                lower = linalg.cholesky(part, lower=True) if len(places) else part
                factor = linalg.solve_triangular(lower, np.diag(1.0 / unit), lower=True) if len(places) else part
                factors.append(factor.T)
                constant[c] -= np.log(np.diagonal(lower)).sum() + np.log(unit).sum()
            if len(self._factors) >= _MOST_PATTERNS:
                self._factors = {}
            self._factors[key] = factors, constant
        return self._factors[key]

    @cached_property
    def _scales(self) -> NDArray[np.float64]:
        return np.sqrt(np.diagonal(self.gaussians.covariance, axis1=1, axis2=2))


def _as(
    result: Score, log_joint: NDArray[np.float64], log_prior: NDArray[np.float64], fallback: bool
) -> tuple[NDArray[Any], int]:
    """Return log P(x, c) as the requested score, and the first row with probability 0 under every class (or −1)."""
    if result == Score.LOG_JOINT:
        return log_joint, -1
    peak = log_joint.max(axis=1, keepdims=True)
    impossible = np.isneginf(peak[:, 0])
    if impossible.any():
        if result == Score.LOG_EVIDENCE or fallback:
            peak = np.where(impossible[:, None], log_prior.max(), peak)
            log_joint = np.where(impossible[:, None], log_prior, log_joint)
        else:
            return log_joint, int(impossible.argmax())
    if result == Score.CLASS:
        return log_joint.argmax(axis=1), -1
    share = np.exp(log_joint - peak)  # shifted by the row's peak, exp() cannot overflow and one term is 1
    total = share.sum(axis=1, keepdims=True)
    if result == Score.POSTERIOR:
        return share / total, -1
    if result == Score.LOG_POSTERIOR:
        return log_joint - peak - np.log(total), -1
    evidence = (peak + np.log(total))[:, 0]
    return np.where(impossible, -np.inf, evidence), -1


@dataclass(frozen=True)
class GaussiansLeftOut:
    r"""log P(x, c) of counted rows, each by the normal distributions of the other rows.

    Without row x of weight o the scatter matrix W = L Lᵀ of weight T loses a matrix of rank one. With v = x − μ_c,
    a = o n_c / (n_c − o), u = L⁻¹ v, u_k = L⁻¹ (x − μ_k) and the divisor m = T − o,

    .. math:: \log|\Sigma'| = \log|W| - d \log m + \log(1 - a |u|^2), \qquad
              (x - \mu_k)^\top \Sigma'^{-1} (x - \mu_k) = m \Big( |u_k|^2 + \frac{a (u_k^\top u)^2}{1 - a |u|^2} \Big)

    and x − μ_c becomes v n_c / (n_c − o). Rows where that does not hold are fitted again from the counts without them.
    """

    counts: GaussianCounts
    beliefs: GaussianBeliefs  # what was estimated from all of the counts
    shared: bool | None  # whether classes share one matrix; None where a matrix is not a scatter over a weight
    unbiased: bool  # whether one row per class is taken off the weight
    estimate: Callable[[GaussianCounts], Gaussians]

    def log_joint(self, x: Matrix, left: LeftOut, log_prior: Matrix) -> Matrix:
        """Return log P(x, c), of shape (n_rows, n_classes), of rows x with log P(c) of the same shape."""
        log_joint = np.empty_like(log_prior)
        again = np.ones(len(left), dtype=bool)
        if self.shared is not None and self.counts.known.all() and self.counts.known.shape[1]:
            plain = self.beliefs.log_densities(x)
            for c in range(len(self.counts.classes)):
                of_class = np.flatnonzero(left.y == c)
                if not len(of_class) or not self._divisor(c) > 0:
                    continue  # one row has no spread of its own
                densities, sound = self._downdated(x[of_class], left.taken_out[of_class], c)
                if not self.shared:
                    densities, column = plain[of_class], densities
                    densities[:, c] = column[:, 0]
                log_joint[of_class] = densities + log_prior[of_class]
                again[of_class] = ~sound
        again |= np.isnan(x).any(axis=1)
        for i in np.flatnonzero(again).tolist():
            log_joint[i] = self._fitted_again(x[i : i + 1], left.y[i : i + 1], left.taken_out[i : i + 1], log_prior[i])
        return log_joint

    def _downdated(self, x: Matrix, taken_out: Matrix, c: int) -> tuple[Matrix, NDArray[np.bool_]]:
        """Return log p(x | k) of rows of class c for the classes k with its matrix, and where the formula holds."""
        d, fitted = x.shape[1], self.beliefs.gaussians
        members = np.arange(len(self.counts.classes)) if self.shared else np.array([c])
        n_c, whole = float(self.counts.n_class[c]), self._divisor(c)
        rest, divisor = n_c - taken_out, whole - taken_out
        matrix = fitted.covariance[c] * whole
        unit = np.sqrt(np.diagonal(matrix))
        lower = linalg.cholesky(matrix / unit[:, None] / unit, lower=True)
        off = (x[:, None, :] - fitted.mean[members] - fitted.rest[members]) / unit  # (n, members, d)
        solved = linalg.solve_triangular(lower, off.reshape(-1, d).T, lower=True).T.reshape(off.shape)
        u = solved[:, int(np.flatnonzero(members == c)[0])]
        with np.errstate(divide="ignore", invalid="ignore"):
            a = taken_out * n_c / rest
            kept = 1.0 - a * np.einsum("ij,ij->i", u, u)
            distance = np.einsum("ikj,ikj->ik", solved, solved)
            distance = distance + (a / kept)[:, None] * (solved @ u[:, :, None])[:, :, 0] ** 2
            distance[:, members == c] *= ((n_c / rest) ** 2)[:, None]
            log_size = 2.0 * (np.log(np.diagonal(lower)).sum() + np.log(unit).sum())
            log_size = log_size - d * np.log(divisor) + np.log(kept)
            densities = -0.5 * (d * np.log(2 * np.pi) + log_size[:, None] + divisor[:, None] * distance)
            # A class of two rows or fewer, or a narrow direction, has an estimate that is raised.
            narrow = self._least_share(matrix) * kept / divisor
            sound = (rest > 0) & (divisor > 0) & (kept > _LEAST_LEFT) & (narrow > 2 * VARIANCE_FLOOR)
        return densities, sound & (fitted.rank[c] == d)

    def _divisor(self, c: int) -> float:
        """Return what the scatter of a class, or of all classes, was divided by."""
        n_class = self.counts.n_class if self.shared else self.counts.n_class[c : c + 1]
        return float(n_class.sum()) - (float((n_class > 0).sum()) if self.unbiased else 0.0)

    def _least_share(self, matrix: Matrix) -> float:
        """Return the least eigenvalue of a matrix in units of the columns' deviations, a little below the true one."""
        whole = self.counts.moments.pooled()
        scale = np.sqrt(np.maximum(np.diagonal(whole.scatter[0]), 1e-300) / max(float(whole.weight[0]) - 1.0, 1.0))
        return float(linalg.eigvalsh(matrix / scale[:, None] / scale)[0])

    def _fitted_again(self, x: Matrix, y: NDArray[np.int64], taken_out: Matrix, log_prior: Matrix) -> Matrix:
        counts, columns = self.counts, [x[:, k].copy() for k in range(x.shape[1])]
        rest = counts.declare(counts.classes) - GaussianCounts.of(counts.schema, counts.classes, columns, y, taken_out)
        densities = GaussianBeliefs(self.beliefs.schema, log_prior, self.estimate(rest)).log_densities(x)
        return np.asarray(densities[0] + log_prior)
