"""How many bits the labels of a leaf take, by the code that :mod:`bayeskit.concept.mdl.lengths` describes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Bits = NDArray[np.float64]


def log2_factorial(n: NDArray[np.float64] | float) -> Bits:
    """Return log₂ n!, by the gamma function where weights are not integers."""
    return np.asarray(gammaln(n + 1.0) / np.log(2.0))


def label_bits(counts: NDArray[np.float64]) -> Bits:
    """Return the bits of the labels of leaves, given the rows of each class; shape (n_leaves, n_classes) → (n_leaves,).

    Examples
    --------
    >>> label_bits(np.array([[8.0, 0.0], [6.0, 2.0]])).round(4)  # log₂ 5, and log₂ 5 + log₂ 28
    array([2.3219, 7.1293])
    """
    k = counts.shape[1]
    # Of many classes a node has few: only these are read.
    node, label = np.nonzero(counts)
    rows = counts[node, label]
    n, most = np.bincount(node, rows, minlength=len(counts)).astype(np.float64), np.zeros(len(counts))
    np.maximum.at(most, node, rows)
    e = np.maximum(n - most, 0.0)
    bound = n - np.ceil(n / k) if (rows == np.floor(rows)).all() else n - n / k
    bits = np.log2(bound + 1.0) + log2_factorial(n) - log2_factorial(e) - log2_factorial(most)
    if k > 2:
        others = np.bincount(node, log2_factorial(rows), minlength=len(counts)) - log2_factorial(most)
        compositions = log2_factorial(e + k - 2) - log2_factorial(e) - log2_factorial(float(k - 2))
        bits = bits + np.where(e > 0.0, compositions + log2_factorial(e) - others, 0.0)
    return np.asarray(bits)
