"""Rows → log P(x, c) under a normal distribution for each class; missing cells are integrated out."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayeskit._kernels import Score
from bayeskit.estimate.covariance import Gaussians
from bayeskit.table.schema import Schema

# Rows that are scored at once, so that what lies between stays in the cache.
_BLOCK = 4096
# Sets of missing cells whose factors are kept; others are made again.
_MOST_PATTERNS = 1000


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
            own = np.flatnonzero(pattern.ravel() == number)
            scores[own] = self._log_density(x[np.ix_(own, np.flatnonzero(known[row]))], known[row])
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
