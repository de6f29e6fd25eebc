"""The directions in which a matrix of second derivatives is steep, and the solution of equations in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Matrix = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SteepDirections:
    """Eigenvectors of a scaled matrix, sorted into those that count and those in which it is flat."""

    values: NDArray[np.float64]  # (n_steep,), rising
    steep: Matrix  # (n, n_steep), for coordinates as they are
    flat: Matrix  # (n, n_flat), for coordinates as they are

    def solve(self, right: Matrix) -> Matrix:
        """Return the x of ``matrix @ x = right``; flat directions get nothing."""
        return np.asarray(self.steep @ ((self.steep.T @ right).T / self.values).T)


def steep_directions(matrix: Matrix, unit: NDArray[np.float64], least: float) -> SteepDirections:
    """Divide a symmetric matrix by the units of its coordinates, and sort its directions.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Second derivatives, or products of inputs.
    unit : array of shape (n,)
        The size of each coordinate, so that inputs in any unit are judged alike.
    least : float
        The smallest eigenvalue that counts, as a share of the largest: copies of an input, and what adds the same to
        all classes, are flat.

    Examples
    --------
    >>> steep_directions(np.array([[1.0, 1.0], [1.0, 1.0]]), np.ones(2), 1e-12).solve(np.array([2.0, 2.0])).round(6)
    array([1., 1.])
    """
    values, vectors = linalg.eigh(matrix / unit[:, None] / unit)
    steep = values > least * max(float(values[-1]), 1e-300)
    vectors = vectors / unit[:, None]
    return SteepDirections(values[steep], vectors[:, steep], vectors[:, ~steep])
