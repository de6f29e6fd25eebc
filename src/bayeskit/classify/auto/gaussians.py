r"""Gaussians of columns together, within each class, under a normal-inverse-Wishart prior.

The covariance of a class is shrunk to the pooled one, the more the fewer rows it has. The predictive density of a row
is a multivariate t; each row of the fit is left out of its class, and of the pooled covariance, by rank-one downdates.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import gaussian_densities, gaussian_rows, gaussian_sums
from bayeskit.classify.auto.levels import Columns
from bayeskit.classify.auto.training_rows import TrainingRows, log_softmax

# Strengths of the shrinkage to the pooled covariance that are tried, in units of the number of columns.
SHRINKAGE = (1, 10, 200)
MOST_KAPPA = 0.5  # rows that the prior mean is worth at the most
ROWS_TO_CHOOSE = 1000  # the shrinkage is chosen on this many
ROWS_AT_ONCE = 1 << 13  # that are scaled and added up


@dataclass(frozen=True)
class GaussianPlan:
    """What later rows do not change: the columns, how numbers are scaled, and how strong the prior is.

    ``center`` and ``scale`` standardise a number; with ``scores`` a curve turns it into the normal score of its rank.
    Behind the numbers come indicators: 1 where a categorical column has a level, else 0, standardised in the same way.
    """

    features: NDArray[np.int64]  # (p,)
    level: NDArray[np.int64]  # (p,): the level that is indicated, or -1 for a number
    median: NDArray[np.float64]  # (p,): stands for a missing number
    unit: NDArray[np.float64]  # (p,): numbers are divided by it first, so that squares do not overflow
    center: NDArray[np.float64]  # (p,)
    scale: NDArray[np.float64]  # (p,)
    curve_x: NDArray[np.float64]  # points of all columns, one after the other; none where numbers are standardised
    curve_z: NDArray[np.float64]
    curve_at: NDArray[np.int64]  # (n_numbers + 1,)
    shrinkage: float

    @property
    def n_numbers(self) -> int:
        """How many of the features are numbers."""
        return len(self.curve_at) - 1

    def transform(
        self,
        columns: Columns,
        codes: NDArray[np.uint8],
        threads: int,
        order: NDArray[np.int32] | None = None,
        first: int = 0,
        last: int | None = None,
    ) -> NDArray[np.float64]:
        """Return rows on the scale of the Gaussians, of shape (n_rows, p).

        ``codes`` (n_features, n_rows) are the levels of the rows, whose numbers stand at ``order`` in the columns. Only
        rows from ``first`` to before ``last`` are returned.
        """
        last = codes.shape[1] if last is None else min(last, codes.shape[1])
        features = self.features[: self.n_numbers]
        numbers = columns[:, features] if isinstance(columns, np.ndarray) else [columns[j] for j in features.tolist()]
        scales = self.median, self.unit, self.center, self.scale, self.curve_x, self.curve_z, self.curve_at
        return gaussian_rows(numbers, order, codes, first, last, self.features, self.level, *scales, threads)

    def sums(self, rows: TrainingRows) -> NDArray[np.float64]:
        """Return Σ w (1, z)(1, z)ᵀ of each class, of shape (n_classes, p + 1, p + 1)."""
        p = len(self.features)
        total = np.zeros((rows.n_classes, p + 1, p + 1))
        for begin in range(0, rows.n_rows, ROWS_AT_ONCE):
            part = slice(begin, begin + ROWS_AT_ONCE)
            z = self.of_rows(rows, begin, begin + ROWS_AT_ONCE)
            total += gaussian_sums(z, rows.y[part], rows.weight[part], rows.n_classes, rows.threads)
        return total

    def of_rows(self, rows: TrainingRows, first: int = 0, last: int | None = None) -> NDArray[np.float64]:
        """Return :meth:`transform` of some of the rows."""
        return self.transform(rows.columns, rows.codes, rows.threads, rows.order, first, last)


@dataclass(frozen=True)
class MemberGaussians:
    """The predictive densities of the classes."""

    mean: NDArray[np.float64]  # (n_classes, p)
    scale: NDArray[np.float64]  # (n_classes, p, p)
    kappa: NDArray[np.float64]  # (n_classes,)
    df: NDArray[np.float64]  # (n_classes,)
    center: NDArray[np.float64]  # (n_classes, p): the mean of the class's own rows
    pooled: NDArray[np.float64]  # (n_classes,): what a row of the class adds to every scale by the pooled covariance

    @classmethod
    def of(cls, sums: NDArray[np.float64], shrinkage: float) -> MemberGaussians:
        """Turn sums into densities; a class without rows has those of the prior."""
        n, p = sums[:, 0, 0], sums.shape[1] - 1
        total = sums.sum(axis=0)
        prior_mean = total[0, 1:] / total[0, 0]
        class_mean = np.where(n[:, None] > 0, sums[:, 0, 1:] / np.maximum(n, 1e-300)[:, None], prior_mean)
        scatter = sums[:, 1:, 1:] - n[:, None, None] * class_mean[:, :, None] * class_mean[:, None, :]
        scatter = np.where(n[:, None, None] > 0, scatter, 0.0)
        present = max(total[0, 0] - np.count_nonzero(n > 0), 1.0)
        pooled = scatter.sum(axis=0) / present
        share = min(0.5, max(1e-3, 0.5 * p / (total[0, 0] + p)))
        pooled = (1 - share) * pooled + share * np.diag(np.diag(pooled)) + 1e-6 * np.eye(p)
        nu = p + 1 + shrinkage * (p if shrinkage > 1 else 1)
        away = class_mean - prior_mean
        kappa = _prior_rows(n, away, pooled)
        pull = kappa * n / (kappa + n)
        scale = scatter + nu * pooled + pull[:, None, None] * away[:, :, None] * away[:, None, :]
        mean = (kappa * prior_mean + n[:, None] * class_mean) / (kappa + n)[:, None]
        # Without one of n rows, Σ (z − mean)(z − mean)ᵀ is less by n / (n − 1) of the row's own part.
        lost = np.where(n > 1, n / np.maximum(n - 1, 1e-9), 0.0) * nu * (1 - share) / present
        return cls(mean, (scale + scale.transpose(0, 2, 1)) / 2, n + kappa, nu + n - p + 1, class_mean, lost)

    def log_densities(
        self,
        z: NDArray[np.float64],
        threads: int,
        known: NDArray[np.bool_] | None = None,
        rows: TrainingRows | None = None,
    ) -> NDArray[np.float64]:
        """Return log p(z | c), of shape (n_rows, n_classes), up to a constant that all classes share.

        ``known`` marks the columns that take part; the others are summed out. With ``rows``, each row is left out.
        """
        mean, lower = self.mean, self._lower
        if known is not None and not known.all():
            z, mean = np.ascontiguousarray(z[:, known]), np.ascontiguousarray(mean[:, known])
            lower = np.asarray(np.linalg.cholesky(self.scale[:, known][:, :, known]), dtype=np.float64)
        given = z, mean, lower, self.kappa, self.df
        if rows is None:
            return gaussian_densities(*given, None, None, None, None, threads)
        return gaussian_densities(*given, rows.y, rows.left_out_weight, self.center, self.pooled, threads)

    @cached_property
    def _lower(self) -> NDArray[np.float64]:
        """The Cholesky factor of the scale, of shape (n_classes, p, p)."""
        return np.asarray(np.linalg.cholesky(self.scale), dtype=np.float64)


def _prior_rows(n: NDArray[np.float64], away: NDArray[np.float64], pooled: NDArray[np.float64]) -> float:
    """Return how many rows the prior mean is worth: few where the means of the classes lie far from it.

    The means of the classes are drawn from N(μ, S / κ), so that of p columns (m_c − μ)ᵀ S⁻¹ (m_c − μ) / p is 1 / κ +
    1 / n_c in the mean. S, the pooled covariance, needs two rows a class.
    """
    seen, p = n > 0, len(pooled)
    if n.sum() < 2 * np.count_nonzero(seen):  # S is not known
        return MOST_KAPPA
    squares = np.einsum("cp,pc->c", away[seen], np.linalg.solve(pooled, away[seen].T)) / p
    return min(MOST_KAPPA, 1.0 / max(float((squares - 1.0 / n[seen]).mean()), 1e-9))


def learn_gaussians(
    rows: TrainingRows, plan: GaussianPlan, sample: TrainingRows, offset: NDArray[np.float64]
) -> tuple[GaussianPlan, NDArray[np.float64], NDArray[np.float64]]:
    """Choose the shrinkage; return the plan with the sums, and log p(z | c) of the sample's rows left out.

    ``offset`` (n_sample, n_classes) holds the log-scores of these rows from other sources.
    """
    sums = plan.sums(rows)
    few = sample.first(ROWS_TO_CHOOSE)
    z = plan.of_rows(few)

    def left_out(place: int) -> tuple[float, NDArray[np.float64]]:
        densities = MemberGaussians.of(sums, SHRINKAGE[place]).log_densities(z, few.threads, rows=few)
        log_posterior = log_softmax(densities + offset[: few.n_rows])
        return float(few.weight @ log_posterior[np.arange(few.n_rows), few.y]), densities

    tried = [left_out(place) for place in range(len(SHRINKAGE))]
    best = max(range(len(SHRINKAGE)), key=lambda place: tried[place][0])
    densities = tried[best][1]
    if few is not sample:
        z = plan.of_rows(sample)
        densities = MemberGaussians.of(sums, SHRINKAGE[best]).log_densities(z, sample.threads, rows=sample)
    return replace(plan, shrinkage=float(SHRINKAGE[best])), sums, densities
