"""Expected moments → means and covariances, one rule per shape of the covariance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Shape = Literal["full", "tied", "diagonal", "spherical", "fixed"]
SHAPES: tuple[Shape, ...] = ("full", "tied", "diagonal", "spherical", "fixed")


@dataclass(frozen=True)
class Components:
    """The parameters of a Gaussian mixture, in the units of the table; ``mean`` is relative to a common centre."""

    weight: NDArray[np.float64]  # (k,): sums to 1
    mean: NDArray[np.float64]  # (k, d)
    spread: NDArray[np.float64]  # (k, d) variances, or (k, d, d) covariances

    @property
    def variance(self) -> NDArray[np.float64]:
        """The variance of each column in each component, (k, d)."""
        return self.spread.diagonal(axis1=1, axis2=2) if self.spread.ndim == 3 else self.spread

    @property
    def log_weight(self) -> NDArray[np.float64]:
        """The logarithms of the weights; a component without weight has minus infinity."""
        with np.errstate(divide="ignore"):
            return np.log(self.weight)

    def take(self, order: NDArray[np.int64]) -> Components:
        """Return some of the components, in this order."""
        return Components(self.weight[order], self.mean[order], self.spread[order])


@dataclass(frozen=True)
class Expected:
    """The expected moments from a pass over the rows, relative to the means of that pass."""

    before: Components
    total: NDArray[np.float64]  # (k,): expected weight of the rows of each component
    weight: NDArray[np.float64] | None  # (k, d): of rows that know the cell; None for full covariances
    first: NDArray[np.float64]  # (k, d): Σ share (x - mean)
    second: NDArray[np.float64]  # (k, d) or (k, d, d): Σ share (x - mean)²
    worst_row: int


@dataclass(frozen=True)
class MStep:
    r"""The M-step.

    .. math:: π_c = N_c / N \\qquad μ_c = \\frac{1}{N_c} \\sum_i r_{ic} x_i \\qquad Σ_c = \\frac{S_c + Λ}{N_c}

    with :math:`N_c = \\sum_i r_{ic}` and the scatter :math:`S_c`. Λ = ``floor`` is diagonal and keeps a covariance from
    becoming singular; it is the mode under the penalty :math:`-\\tfrac12 \\sum_c \\operatorname{tr}(Λ Σ_c^{-1})`.
    """

    shape: Shape
    floor: NDArray[np.float64]  # (d,)
    variance: float = 1.0  # σ² of "fixed"

    def maximise(self, expected: Expected) -> Components:
        """Return the parameters that maximise the expected objective."""
        alive = expected.total > 0
        total = np.where(alive, expected.total, 1.0)
        if expected.weight is None:
            shift = expected.first / total[:, None]
            scatter = expected.second - np.einsum("ka,kb->kab", expected.first, shift)
        else:
            known = np.where(expected.weight > 0, expected.weight, 1.0)
            shift = expected.first / known
            scatter = np.maximum(expected.second - expected.first * shift, 0.0)
        mean = expected.before.mean + shift
        if self.shape == "fixed":
            return Components(expected.before.weight, mean, expected.before.spread)
        weight = expected.total / expected.total.sum()
        return Components(weight, mean, self._spread(expected, total, scatter))

    def start(self, expected: Expected) -> Components:
        """Return the start of EM, given rows assigned to their nearest seed: all components have the same spread.

        A component with few rows would have a covariance that is nearly singular, and EM would stay there.
        """
        nearest = self.maximise(expected)
        weight, spread = (expected.total + 1.0) / (expected.total + 1.0).sum(), nearest.spread
        if self.shape == "tied":
            return Components(weight, nearest.mean, spread)
        share = expected.total if expected.weight is None else expected.weight
        share = share / share.sum(axis=0)
        common = np.einsum("kab,k->ab", spread, share) if spread.ndim == 3 else (spread * share).sum(axis=0)
        if self.shape == "spherical":
            common = np.full_like(common, common.mean())
        return Components(weight, nearest.mean, np.repeat(common[None], len(weight), axis=0))

    def _spread(
        self, expected: Expected, total: NDArray[np.float64], scatter: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        if self.shape == "full":
            return np.asarray((scatter + np.diag(self.floor)) / total[:, None, None])
        if self.shape == "tied":
            common = (scatter.sum(axis=0) + np.diag(self.floor)) / expected.total.sum()
            return np.repeat(common[None], len(total), axis=0)
        assert expected.weight is not None
        if self.shape == "diagonal":
            known = np.where(expected.weight > 0, expected.weight, 1.0)
            # A component that knows no cell of a column keeps what it believed.
            return np.where(expected.weight > 0, (scatter + self.floor) / known, expected.before.spread)
        cells = expected.weight.sum(axis=1)
        cells = np.where(cells > 0, cells, 1.0)
        common = (scatter.sum(axis=1) + self.floor.sum()) / cells
        return np.repeat(common[:, None], scatter.shape[1], axis=1)

    def penalty(self, components: Components) -> float:
        """Return the penalty of the log-likelihood; the sum never decreases: -½ Σ tr(Λ Σ⁻¹)."""
        if self.shape == "fixed" or not self.floor.any():
            return 0.0
        spread = components.spread[:1] if self.shape == "tied" else components.spread
        inverse = np.linalg.inv(spread).diagonal(axis1=1, axis2=2) if spread.ndim == 3 else 1.0 / spread
        return float(-0.5 * (inverse * self.floor).sum())

    def n_parameters(self, k: int, d: int) -> int:
        """Return the number of free parameters."""
        spread = {
            "full": k * d * (d + 1) // 2,
            "tied": d * (d + 1) // 2,
            "diagonal": k * d,
            "spherical": k,
            "fixed": 0,
        }[self.shape]
        return k * d + spread + (0 if self.shape == "fixed" else k - 1)

    def as_spread(self, variance: NDArray[np.float64], k: int) -> NDArray[np.float64]:
        """Return k components of these variances (d,) in the form of the covariance type."""
        if self.shape in ("full", "tied"):
            return np.repeat(np.diag(variance)[None], k, axis=0)
        if self.shape == "spherical":
            variance = np.full_like(variance, variance.mean())
        elif self.shape == "fixed":
            variance = np.full_like(variance, self.variance)
        return np.repeat(variance[None], k, axis=0)
