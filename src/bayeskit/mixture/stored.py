"""What all mixtures check in the arrays of a model file before they take them over."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.io.expect import expect_array


def stored_columns(arrays: Mapping[str, NDArray[Any]], name: str, allowed: Iterable[int]) -> NDArray[np.int64]:
    """Return the columns in use, in rising order and all among those allowed."""
    used = expect_array(arrays, name, np.int64, (None,))
    if (np.diff(used) <= 0).any() or not set(used.tolist()) <= set(allowed):
        raise ValueError("the columns in use are not columns of the table")
    return used


def stored_weights(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
    """Return the weights of the components, which sum to 1."""
    weight = expect_array(arrays, "weight", np.float64, (None,))
    if len(weight) < 1 or (weight < 0).any() or not np.isclose(weight.sum(), 1.0):
        raise ValueError("the weights do not sum to 1")
    return weight


def refuse_infinite_parts(*parts: NDArray[np.float64]) -> None:
    """Refuse means and variances that are no finite numbers."""
    if not all(np.isfinite(part).all() for part in parts):
        raise ValueError("a mean or variance is not finite")
