r"""The linear member of a wide table: ridge regression to the classes over all columns, with exact leave-one-out.

With Z the columns on their scales, less their means, and Y the classes as ones and zeros, f = π + Z β, where
β = Zᵀ (Z Zᵀ + λ)⁻¹ (Y − π): a matrix of rows × rows, however many columns there are. Without row i it is

.. math:: y_i - \frac{y_i - f_i}{1 - h_{ii}}, \qquad H = \tfrac{1}{n} + Z Z^\top (Z Z^\top + λ)^{-1},

and :math:`\log P(c \mid x) = \log π_c + s (f_c − π_c) − \log Z`. λ and s have the least log-loss of rows left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.gaussian_columns import all_columns
from bayeskit.classify.auto.gaussians import GaussianPlan
from bayeskit.classify.auto.levels import HIDDEN, Columns, Levels
from bayeskit.classify.auto.training_rows import TrainingRows, log_softmax

# There is such a member where columns are more than rows, and no more rows and cells than these.
MOST_ROWS, MOST_CELLS = 2000, 1 << 24
# Ridges in units of the mean squared length of a row, and powers, that are tried.
RIDGES = np.geomspace(1e-3, 1e2, 11)
POWERS = np.append(0.0, np.geomspace(0.3, 100.0, 36))


@dataclass(frozen=True)
class LinearPlan:
    """log P(c | x) = intercept_c + (z − center) · coefficients_c − log Z; later rows do not change it.

    z are the columns of ``scales``: numbers and indicators, standardised as for the Gaussians; a hidden cell stands at
    its center and adds nothing.
    """

    scales: GaussianPlan
    center: NDArray[np.float64]  # (p,)
    coefficients: NDArray[np.float64]  # (p, n_classes)
    intercept: NDArray[np.float64]  # (n_classes,)

    def score(self, columns: Columns, codes: NDArray[np.uint8], threads: int) -> NDArray[np.float64]:
        """Return log P(c | x) up to a constant of each row, of shape (n_rows, n_classes)."""
        z = self.scales.transform(columns, codes, threads) - self.center
        if codes.max(initial=0) == HIDDEN:
            z[(codes[self.scales.features] == HIDDEN).T] = 0.0
        return np.asarray(z @ self.coefficients + self.intercept)


def wide_columns(rows: TrainingRows, levels: Levels, n_level: NDArray[np.float64]) -> GaussianPlan | None:
    """Return the scales of all columns, or None where the table is not wide."""
    n = rows.n_rows
    if n > MOST_ROWS or n >= int(levels.level_at[-1]):  # there are fewer columns than levels
        return None
    scales = all_columns(rows, levels, n_level)
    return scales if n < len(scales.features) <= MOST_CELLS // n else None


def learn_linear(rows: TrainingRows, scales: GaussianPlan) -> tuple[LinearPlan, NDArray[np.float64]]:
    """Return the member, and log P(c | x) of all rows left out, of shape (n_rows, n_classes)."""
    z = scales.of_rows(rows)
    total = float(rows.weight.sum())
    center = rows.weight @ z / total
    z -= center
    # A row of weight w is w rows: all sums are weighted.
    root = np.sqrt(rows.weight)[:, None]
    gram = (z * root) @ (z * root).T
    unit = max(float(np.trace(gram)) / total, 1e-300)
    values, vectors = np.linalg.eigh(gram / unit)
    values = np.maximum(values, 0.0)
    one_hot = np.eye(rows.n_classes)[rows.y]
    share = rows.weight @ one_hot / total
    smoothed = (rows.weight @ one_hot + 0.5) / (total + 0.5 * rows.n_classes)
    projected = vectors.T @ ((one_hot - share) * root)
    part_left_out = rows.left_out_weight / rows.weight
    best = -np.inf
    for ridge in RIDGES:
        kept = values / (values + ridge)
        fitted = vectors @ (kept[:, None] * projected) / root + share
        leverage = np.square(vectors) @ kept + rows.weight / total
        left_out = one_hot - (one_hot - fitted) / np.maximum(1.0 - part_left_out * leverage, 1e-6)[:, None]
        value, power, log_posterior = _best_power(left_out, smoothed, rows)
        if value > best:
            best, chosen = value, (ridge, power, log_posterior)
    ridge, power, log_posterior = chosen
    beta = (z * root).T @ (vectors @ (projected / (values + ridge)[:, None])) / unit
    intercept = np.log(smoothed) + power * (share - smoothed)
    return LinearPlan(scales, center, power * beta, intercept), log_posterior


def _best_power(
    left_out: NDArray[np.float64], shares: NDArray[np.float64], rows: TrainingRows
) -> tuple[float, float, NDArray[np.float64]]:
    """Return the greatest log-likelihood of the rows, its power s, and log P = log π + s (f − π) − log Z."""
    of_true = np.arange(rows.n_rows), rows.y
    best = -np.inf
    for power in POWERS:
        log_posterior = log_softmax(np.log(shares) + power * (left_out - shares))
        value = float(rows.weight @ log_posterior[of_true])
        if value > best:
            best, chosen = value, (float(power), log_posterior)
    return best, *chosen
