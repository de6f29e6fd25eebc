"""Numbers → bins: where to cut a numeric column."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError

Method = Literal["equal-width", "equal-frequency"]
METHODS: tuple[Method, ...] = get_args(Method)


def learn_edges(
    values: NDArray[Any],
    method: Method,
    n_bins: int,
    weight: NDArray[np.float64] | None = None,
) -> tuple[float, ...]:
    """Find the inner edges of the bins; missing cells take no part.

    Equal width cuts the range between the smallest and the largest value into ``n_bins`` parts of one length. Equal
    frequency cuts half-way between the two neighbouring values where the share of rows reaches k / ``n_bins``; values
    that many rows have make fewer, uneven bins. A column with one value has one bin.

    Parameters
    ----------
    values : array of shape (n_rows,)
        The column; NaN is missing.
    method : {"equal-width", "equal-frequency"}
        How to cut.
    n_bins : int
        The number of bins at the most.
    weight : float64 array of shape (n_rows,), optional
        A whole weight is the same as so many copies of the row.

    Examples
    --------
    >>> learn_edges(np.array([0.0, 1.0, 2.0, 10.0]), "equal-width", 2)
    (5.0,)
    >>> learn_edges(np.array([0.0, 1.0, 2.0, 10.0]), "equal-frequency", 2)
    (1.5,)
    """
    if n_bins < 1:
        raise TableError(f"bins must be a whole number of at least 1; got {n_bins}.")
    numbers = values.astype(np.float64)
    known = ~np.isnan(numbers)
    numbers = numbers[known]
    if not len(numbers):
        return ()
    if method == "equal-width":
        low, high = numbers.min(), numbers.max()
        edges = low + (high - low) * np.arange(1, n_bins) / n_bins
        return tuple(float(edge) for edge in np.unique(edges) if low < edge <= high)
    distinct, position = np.unique(numbers, return_inverse=True)
    copies = None if weight is None else weight[known]
    reached = np.cumsum(np.bincount(position, weights=copies, minlength=len(distinct)))
    cuts = np.unique(np.searchsorted(reached, reached[-1] * np.arange(1, n_bins) / n_bins))
    cuts = cuts[cuts < len(distinct) - 1]
    # Half-way, but never so near the lower value that rounding puts it on the wrong side.
    halfway = np.maximum(distinct[cuts] / 2 + distinct[cuts + 1] / 2, np.nextafter(distinct[cuts], np.inf))
    return tuple(float(edge) for edge in halfway)
