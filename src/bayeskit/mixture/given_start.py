"""The start of a Gaussian mixture as the user gives it: means, or all parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.mixture.covariance_shapes import Components
from bayeskit.mixture.gaussian_rows import MixtureRows


def given_means(means: Any, rows: MixtureRows, k: int) -> NDArray[np.float64]:
    """Return given means of shape (k, n_columns), relative to the centre of the rows."""
    array = np.asarray(means, dtype=np.float64)
    if array.shape != (k, len(rows.columns)) or not np.isfinite(array).all():
        raise BayeskitError(
            f"init must be finite means of shape ({k}, {len(rows.columns)}), a row per component and a column per "
            f"feature that is not constant; got shape {array.shape}."
        )
    return array - rows.centre


def given_components(init: Mapping[str, Any], rows: MixtureRows, k: int, covariance: str) -> Components:
    """Return given weights, means and covariances, whose shape follows from the ``covariance``."""
    if set(init) != {"weights", "means", "covariances"}:
        raise BayeskitError(f"init needs 'weights', 'means' and 'covariances'; got {', '.join(map(repr, init))}.")
    d = len(rows.columns)
    mean = given_means(init["means"], rows, k)
    weight, spread = (np.asarray(init[name], dtype=np.float64) for name in ("weights", "covariances"))
    shapes = {"full": (k, d, d), "tied": (d, d), "diagonal": (k, d), "spherical": (k,), "fixed": ()}
    shape = shapes[covariance]
    if spread.shape != shape or weight.shape != (k,) or not np.isclose(weight.sum(), 1.0):
        raise BayeskitError(
            f"init must have weights of shape ({k},) that sum to 1 and covariances of shape {shape}; got shapes "
            f"{weight.shape} and {spread.shape}."
        )
    full = (k, d, d) if covariance in ("full", "tied") else (k, d)
    spread = spread[:, None] if covariance == "spherical" else spread
    return Components(weight, mean, np.broadcast_to(spread, full).copy())
