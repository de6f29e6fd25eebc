"""Weight, mean and scatter of numeric columns within each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_moments, n_threads
from bayeskit.errors import MergeError


@dataclass(frozen=True)
class Moments:
    """The moments of each numeric column within each class; missing cells take no part. They add and subtract.

    ``scatter`` is the sum of squared deviations from the mean. Sums of squares are never kept, because their
    difference loses all digits where the mean is large beside the spread.

    References
    ----------
    Chan, Golub & LeVeque (1979), Updating formulae and a pairwise algorithm for computing sample variances, eq. 2.1.

    Examples
    --------
    >>> y = np.array([0, 0, 0], dtype=np.uint8)
    >>> a = Moments.of([np.array([1.0, 2.0, 6.0])], y, 1)
    >>> float(a.mean[0, 0]), float(a.scatter[0, 0])
    (3.0, 14.0)
    """

    weight: NDArray[np.float64]  # (n_features, n_classes)
    mean: NDArray[np.float64]  # (n_features, n_classes)
    scatter: NDArray[np.float64]  # (n_features, n_classes)

    @classmethod
    def of(
        cls,
        table: list[NDArray[Any]] | NDArray[Any],
        y: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64] | None = None,
    ) -> Moments:
        """Sum up numeric columns, given as a list of columns or a 2-D array; infinite numbers are refused."""
        n_features = table.shape[1] if isinstance(table, np.ndarray) else len(table)
        if not n_features:
            return cls(*np.zeros((3, 0, n_classes)))
        parts = count_moments(table, y, weight, n_classes, n_threads(len(y) * n_features))
        if parts is None:
            raise OverflowError("a numeric column holds an infinite number.")
        wild = ~np.isfinite(parts).all(axis=(0, 2))
        if wild.any():
            raise OverflowError(int(wild.argmax()), "the squares of a column's numbers overflow.")
        return cls(*parts)

    def __add__(self, other: Moments) -> Moments:
        self._refuse_other_shape(other)
        weight = self.weight + other.weight
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=weight > 0)
        delta = other.mean - self.mean
        mean = np.where(share == 1.0, other.mean, self.mean + delta * share)
        return Moments(weight, mean, self.scatter + other.scatter + delta**2 * self.weight * share)

    def __sub__(self, other: Moments) -> Moments:
        self._refuse_other_shape(other)
        weight = self.weight - other.weight
        if (weight < -1e-9 * self.weight).any():
            raise MergeError("cannot take away rows that were never counted: a weight would fall below zero.")
        weight = np.where(weight <= 1e-9 * self.weight, 0.0, weight)
        empty = weight == 0
        safe = np.where(empty, 1.0, weight)
        delta = np.where(empty, 0.0, (self.mean - other.mean) * other.weight / safe)
        mean = np.where(empty, 0.0, self.mean + delta)
        lost = other.scatter + (other.mean - mean) ** 2 * other.weight * weight / np.where(empty, 1.0, self.weight)
        scatter = self.scatter - lost
        # What rounding leaves below zero is small beside what was taken away; more than that was never there.
        if (~empty & (scatter < -1e-9 * (self.scatter + lost))).any():
            raise MergeError("cannot take away rows that were never counted: a variance would fall below zero.")
        return Moments(weight, mean, np.where(empty, 0.0, np.maximum(scatter, 0.0)))

    def remap(
        self, n_features: int, features: NDArray[np.int64], n_classes: int, classes: NDArray[np.int64]
    ) -> Moments:
        """Return the same moments in a wider table: feature j goes to ``features[j]``, class c to ``classes[c]``."""
        wide = np.zeros((3, n_features, n_classes))
        for part, values in zip(wide, (self.weight, self.mean, self.scatter), strict=True):
            part[np.ix_(features, classes)] = values
        return Moments(*wide)

    def scaled(self, factor: NDArray[Any]) -> Moments:
        """Return the moments of rows that each count ``factor[c]`` times, by their class."""
        return Moments(self.weight * factor, self.mean, self.scatter * factor)

    def pooled(self) -> Moments:
        """Return the moments of all classes together, as if there were one class."""
        total = Moments(*(part[:, :1].copy() for part in (self.weight, self.mean, self.scatter)))
        for c in range(1, self.weight.shape[1]):
            total = total + Moments(self.weight[:, c : c + 1], self.mean[:, c : c + 1], self.scatter[:, c : c + 1])
        return total

    def _refuse_other_shape(self, other: Moments) -> None:
        if self.weight.shape != other.weight.shape:
            raise MergeError(f"moments of shape {self.weight.shape} do not fit moments of shape {other.weight.shape}.")
