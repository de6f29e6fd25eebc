"""Numbers → bins: cut a numeric column by width, by frequency, or where the classes are best separated (MDL)."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import mdl_edges, n_threads
from bayeskit.errors import TableError

BinMethod = Literal["equal-width", "equal-frequency", "mdl"]
METHODS: tuple[BinMethod, ...] = get_args(BinMethod)

LARGEST = float(np.finfo(np.float64).max)


def learn_edges(
    values: NDArray[Any],
    method: Literal["equal-width", "equal-frequency"],
    n_bins: int,
    weight: NDArray[np.float64] | None = None,
) -> tuple[float, ...]:
    """Find the inner edges of the bins; missing cells are skipped.

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
        The largest number of bins.
    weight : float64 array of shape (n_rows,), optional
        A row of integer weight w is the same as w copies of the row.

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
        parts = np.arange(1, n_bins)
        if high / 2 - low / 2 < LARGEST / (2 * n_bins):
            edges = low + (high - low) * parts / n_bins
        else:  # the range, or its multiple, is beyond the largest number
            edges = low * (1 - parts / n_bins) + high * (parts / n_bins)
        return tuple(float(edge) for edge in np.unique(edges) if low < edge <= high)
    distinct, position = np.unique(numbers, return_inverse=True)
    copies = None if weight is None else weight[known]
    reached = np.cumsum(np.bincount(position, weights=copies, minlength=len(distinct)))
    cuts = np.unique(np.searchsorted(reached, reached[-1] * np.arange(1, n_bins) / n_bins))
    cuts = cuts[cuts < len(distinct) - 1]
    # Half-way, but never so near the lower value that rounding puts it on the wrong side.
    halfway = np.maximum(distinct[cuts] / 2 + distinct[cuts + 1] / 2, np.nextafter(distinct[cuts], np.inf))
    return tuple(float(edge) for edge in halfway)


def learn_mdl_edges(
    columns: list[NDArray[Any]], y: NDArray[Any], n_classes: int, weight: NDArray[np.float64] | None = None
) -> list[tuple[float, ...]]:
    r"""Find the inner edges of the bins of several columns by the rule of Fayyad and Irani; missing cells are skipped.

    A column is cut where the class entropy of the two parts is least, and each part is cut again, as long as the gain
    pays for the description of the cut. With N rows, k classes and entropy E in bits, and k₁, E₁, k₂, E₂ of the parts:

    .. math:: E - \frac{N_1 E_1 + N_2 E_2}{N} > \frac{\log_2 (N - 1)}{N} +
              \frac{\log_2 (3^k - 2) - (k E - k_1 E_1 - k_2 E_2)}{N}

    A cut lies half-way between two neighbouring values; of cuts that are equally good the lowest is taken. A column
    without information about the class has one bin. Weights count as copies: their scale matters.

    Parameters
    ----------
    columns : list of arrays of shape (n_rows,)
        The columns; NaN is missing.
    y : array of shape (n_rows,)
        Class codes 0 .. n_classes − 1.
    n_classes : int
        The number of classes.
    weight : float64 array of shape (n_rows,), optional
        How often each row counts.

    References
    ----------
    Fayyad & Irani (1993), Multi-interval discretization of continuous-valued attributes, IJCAI, section 3.

    Examples
    --------
    >>> x = np.array([1.0, 2.0, 3.0, 4.0, 7.0, 8.0, 9.0, 10.0])
    >>> learn_mdl_edges([x], np.array([0, 0, 0, 0, 1, 1, 1, 1]), 2)
    [(5.5,)]
    """
    if not columns:
        return []
    cells = len(y) * len(columns)
    # Sorting a cell costs some ten times as much as counting it, so threads pay earlier.
    column_edges = mdl_edges(columns, y, weight, n_classes, n_threads(cells * 10))
    return [tuple(edges.tolist()) for edges in column_edges]
