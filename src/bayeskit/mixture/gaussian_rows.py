"""The rows of a Gaussian mixture in EM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import GaussianMixtureRows
from bayeskit.mixture.covariance_shapes import Components


@dataclass(frozen=True)
class MixtureRows:
    """The columns that are not constant, in the form that EM needs."""

    columns: list[NDArray[Any]]
    weight: NDArray[np.float64] | None
    centre: NDArray[np.float64]  # (d,)
    deviation: NDArray[np.float64]  # (d,)
    n_known: float  # weight of the cells that are not missing
    kernel: GaussianMixtureRows

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.columns[0])

    @property
    def total(self) -> float:
        """Rows, or their weight."""
        return float(self.n_rows if self.weight is None else self.weight.sum())

    def row(self, i: int) -> NDArray[np.float64]:
        """Return one row about the centre; a missing cell is at the centre."""
        cells = np.array([float(column[i]) for column in self.columns]) - self.centre
        return np.where(np.isnan(cells), 0.0, cells)

    def standardised(self, scale: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the rows about the centre in these units; a missing cell is at the centre."""
        columns = zip(self.columns, self.centre, scale, strict=True)
        table: NDArray[np.float64] = np.column_stack([(column - m) / s for column, m, s in columns])
        return np.asarray(np.nan_to_num(table, copy=False))


def reinitialised(components: Components, dead: int, row: NDArray[np.float64]) -> Components:
    """Return the mixture with an empty component moved to a row, with the mean spread and an even weight."""
    k = len(components.weight)
    living = np.arange(k) != dead
    weight, mean, spread = components.weight.copy(), components.mean.copy(), components.spread.copy()
    mean[dead] = row
    if living.any():
        spread[dead] = spread[living].mean(axis=0)
    weight[dead] = 1.0 / k
    weight[living] *= (1 - 1.0 / k) / weight[living].sum()
    return Components(weight, mean, spread)
