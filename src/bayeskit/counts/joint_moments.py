"""Weight, mean and scatter matrix of groups of rows: what a Gaussian over several columns learns from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_scatter, n_threads
from bayeskit.counts.double_double import Wide, add, divide, multiply, subtract, wide
from bayeskit.errors import MergeError

# What is left of a scatter after subtracting, as a share of what went in, when exact arithmetic would leave nothing.
_ROUNDING = 1e-26
# Below this a sum of squares has lost digits.
_SMALLEST = 1e-280


@dataclass(frozen=True)
class JointMoments:
    r"""The moments of groups of rows, in which a missing cell counts as the mean. They add and subtract.

    .. math:: w = \sum_i w_i \qquad m = \frac1w \sum_i w_i x_i \qquad S = \sum_i w_i (x_i - m)(x_i - m)^\top

    Mean and scatter have about 32 digits, kept as two doubles, since ``a + b - b`` must be ``a`` also where ``b`` has
    numbers that are a billion times as large. All rows of a group miss the same cells; the mean there is 0.

    References
    ----------
    Chan, Golub & LeVeque (1979), Updating formulae and a pairwise algorithm for computing sample variances, eq. 2.1.

    Examples
    --------
    >>> x = np.array([[1.0, 0.0], [3.0, 4.0], [5.0, 5.0]])
    >>> a = JointMoments.of(x, np.array([0, 0, 1]), 2)
    >>> a.mean[0], a.scatter[0]
    (array([2., 2.]), array([[2., 4.],
           [4., 8.]]))
    """

    weight: NDArray[np.float64]  # (n_groups,)
    wide_mean: Wide  # (2, n_groups, n_columns)
    wide_scatter: Wide  # (2, n_groups, n_columns, n_columns)

    @classmethod
    def of(
        cls,
        table: list[NDArray[Any]] | NDArray[Any],
        groups: NDArray[Any],
        n_groups: int,
        weight: NDArray[np.float64] | None = None,
    ) -> JointMoments:
        """Sum up numeric columns; an OverflowError says that a number is infinite, or which column is out of range."""
        n_columns = table.shape[1] if isinstance(table, np.ndarray) else len(table)
        if not n_columns:
            total = np.bincount(groups, weight, minlength=n_groups).astype(np.float64)
            return cls(total, np.zeros((2, n_groups, 0)), np.zeros((2, n_groups, 0, 0)))
        parts = count_scatter(table, groups, weight, n_groups, n_threads(len(groups) * n_columns**2))
        if parts is None:
            raise OverflowError("a numeric column holds an infinite number.")
        moments = cls(*parts)
        wild = ~(np.isfinite(moments.mean).all(axis=0) & np.isfinite(moments.scatter).all(axis=(0, 1)))
        if wild.any():
            # A column that overflows takes the products of the others with it: the largest is the one to blame.
            sizes = [np.nanmax(np.abs(np.asarray(table[:, j] if isinstance(table, np.ndarray) else table[j], float)))
                     for j in np.flatnonzero(wild)]  # fmt: skip
            raise OverflowError(int(np.flatnonzero(wild)[int(np.argmax(sizes))]), "large")
        for j in np.flatnonzero((np.diagonal(moments.scatter, axis1=1, axis2=2) < _SMALLEST).any(axis=0)).tolist():
            column = np.asarray(table[:, j] if isinstance(table, np.ndarray) else table[j])
            few = moments.scatter[groups, j, j] < _SMALLEST
            if (few & (column == column) & (column != moments.mean[groups, j])).any():
                raise OverflowError(j, "small")
        return moments

    @property
    def mean(self) -> NDArray[np.float64]:
        """The means, (n_groups, n_columns)."""
        return np.asarray(self.wide_mean[0])

    @property
    def scatter(self) -> NDArray[np.float64]:
        """The scatter matrices, (n_groups, n_columns, n_columns)."""
        return np.asarray(self.wide_scatter[0])

    def take(self, groups: NDArray[Any]) -> JointMoments:
        """Return the moments of some groups."""
        return JointMoments(self.weight[groups], self.wide_mean[:, groups], self.wide_scatter[:, groups])

    def spread_out(self, n_groups: int, to: NDArray[Any]) -> JointMoments:
        """Return the moments among more groups, of which the others are empty: group g becomes ``to[g]``."""
        weight, n = np.zeros(n_groups, dtype=self.weight.dtype), self.wide_mean.shape[2]
        mean, scatter = np.zeros((2, n_groups, n)), np.zeros((2, n_groups, n, n))
        weight[to], mean[:, to], scatter[:, to] = self.weight, self.wide_mean, self.wide_scatter
        return JointMoments(weight, mean, scatter)

    def __add__(self, other: JointMoments) -> JointMoments:
        self._refuse_other_shape(other)
        weight = self.weight + other.weight
        safe = np.where(weight > 0, weight, 1.0)
        delta = subtract(other.wide_mean, self.wide_mean)  # (2, n_groups, n_columns)
        step = divide(multiply(delta, wide(other.weight[:, None])), safe[:, None])
        weighted = multiply(delta, wide(self.weight[:, None]))
        between = multiply(step[:, :, :, None], weighted[:, :, None, :])
        mean = add(self.wide_mean, step)
        # Exactly what came where one side has nothing.
        mean = np.where(self.weight[:, None] == 0, other.wide_mean, mean)
        return JointMoments(weight, mean, add(add(self.wide_scatter, other.wide_scatter), _symmetric(between)))

    def __sub__(self, other: JointMoments) -> JointMoments:
        self._refuse_other_shape(other)
        weight = self.weight - other.weight
        if (weight < -1e-9 * self.weight).any():
            raise MergeError("cannot subtract rows that were never counted: a weight would become negative.")
        empty = weight <= 1e-9 * self.weight
        weight = np.where(empty, np.zeros_like(weight), weight)
        safe, whole = np.where(empty, 1.0, weight), np.where(self.weight > 0, self.weight, 1.0)
        delta = subtract(self.wide_mean, other.wide_mean)
        step = divide(multiply(delta, wide(other.weight[:, None])), safe[:, None])
        mean = add(self.wide_mean, step)
        apart = subtract(mean, other.wide_mean)
        share = divide(multiply(wide(other.weight), wide(weight)), whole)[:, :, None]
        between = multiply(multiply(apart, share)[:, :, :, None], apart[:, :, None, :])
        scatter = subtract(self.wide_scatter, add(other.wide_scatter, _symmetric(between)))
        # Sizes of what was added up, (n_groups, n_columns): rounding leaves a share of them.
        size = np.diagonal(self.scatter, axis1=1, axis2=2) + np.diagonal(other.scatter, axis1=1, axis2=2)
        size = np.where(empty[:, None], 0.0, size + np.diagonal(between[0], axis1=1, axis2=2))
        left = np.diagonal(scatter[0], axis1=1, axis2=2)
        if (~empty[:, None] & (left < -1e-9 * size)).any():
            raise MergeError("cannot subtract rows that were never counted: a variance would become negative.")
        constant = (left <= _ROUNDING * size) | empty[:, None]
        gone = constant[:, :, None] | constant[:, None, :]
        return JointMoments(weight, np.where(empty[:, None], 0.0, mean), np.where(gone, 0.0, scatter))

    def pooled(self) -> JointMoments:
        """Return the moments of all groups together, as one group."""
        total = self.take(np.arange(1))
        for g in range(1, len(self.weight)):
            total = total + self.take(np.arange(g, g + 1))
        return total

    def _refuse_other_shape(self, other: JointMoments) -> None:
        if self.wide_mean.shape != other.wide_mean.shape:
            raise MergeError(
                f"moments of {self.wide_mean.shape[1]} groups and {self.wide_mean.shape[2]} columns do not fit those "
                f"of {other.wide_mean.shape[1]} groups and {other.wide_mean.shape[2]} columns."
            )


def _symmetric(matrices: Wide) -> Wide:
    # The two ways to multiply differ in the last bits of the low part.
    lower = np.tril(matrices)
    return np.asarray(lower + np.swapaxes(np.tril(matrices, -1), -1, -2))
