"""Least squares: the weights of smallest squared error, by normal equations or by singular values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from bayeskit.estimate.steep_directions import Matrix, steep_directions

# Where the correlations of inputs have no smaller eigenvalue (over the largest), normal equations serve.
_WELL_POSED = 1e-6


def least_squares(x: Matrix, d: NDArray[np.float64], weight: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
    """Return the w of least Σ weight (d − x w)²; of several, the smallest.

    Examples
    --------
    >>> least_squares(np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([2.0, 4.0])).round(6)
    array([1., 1.])
    """
    if weight is not None:
        root = np.sqrt(weight)
        x, d = x * root[:, None], d * root
    matrix = x.T @ x
    size = np.sqrt(np.diagonal(matrix))
    if len(x) > x.shape[1] > 0 and np.isfinite(size).all() and (size > 0.0).all():
        directions = steep_directions(matrix, size, _WELL_POSED)
        if not directions.flat.size:
            w = np.zeros(x.shape[1])
            # The normal equations lose half of the digits that the residuals of the first answer bring back.
            for _ in range(2):
                w += directions.solve(x.T @ (d - x @ w))
            return w
    # Directions that centring or copies of a column leave at rounding size count as none.
    smallest = np.finfo(np.float64).eps * max(x.shape)
    return np.asarray(linalg.lstsq(x, d, cond=smallest, lapack_driver="gelsd")[0])
