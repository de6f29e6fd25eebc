"""Weight, mean and scatter of numeric columns within each class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import add_moments, count_moments, n_threads, subtract_moments
from bayeskit.errors import MergeError

_N_PARTS = 6

# Differences below this have squares that lose digits or vanish. Numbers as large as the least mean differ by more.
_LEAST_SPREAD = 1e-145
_LEAST_MEAN = 1e-120


@dataclass(frozen=True)
class Moments:
    """The moments of each numeric column within each class; missing cells are skipped. They add and subtract.

    ``scatter`` is the sum of squared deviations from the mean. Sums of squares are never kept, because their
    difference loses all digits where the mean is large compared with the spread. Each number has twice the digits of a
    double, so that subtracting rows leaves the moments of the other rows, and a column that is constant among them has
    zero scatter.

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

    # (6, n_features, n_classes): weight, mean and scatter, and then what each of the three lacks: they are sums of two
    # doubles, so that rows that were added can be taken away again.
    parts: NDArray[np.float64]

    @property
    def weight(self) -> NDArray[np.float64]:
        """Rows in which the column is known, or their weight, of shape (n_features, n_classes)."""
        return np.asarray(self.parts[0])

    @property
    def mean(self) -> NDArray[np.float64]:
        """The mean, of shape (n_features, n_classes); 0 where no row is known."""
        # The mean of a few numbers often lies in the middle of two doubles. Without its last bits, which depend on the
        # order of the rows, it is rounded to the same one of them however it was summed up.
        high, low = self.parts[1], self.parts[4]
        step = np.spacing(np.maximum(np.abs(high), _LEAST_MEAN)) * 2.0**-20
        return np.asarray(high + np.rint(low / step) * step)

    @property
    def scatter(self) -> NDArray[np.float64]:
        """The sum of squared deviations from the mean, of shape (n_features, n_classes)."""
        return np.asarray(self.parts[2])

    @classmethod
    def of(
        cls,
        table: list[NDArray[Any]] | NDArray[Any],
        y: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64] | None = None,
    ) -> Moments:
        """Sum up numeric columns, given as a list of columns or a 2-D array.

        An `OverflowError` says that a number is infinite, or which column is too "large" or too "small" for the
        squares of its differences to fit in a double.
        """
        n_features = table.shape[1] if isinstance(table, np.ndarray) else len(table)
        if not n_features:
            return cls(np.zeros((_N_PARTS, 0, n_classes)))
        parts = count_moments(table, y, weight, n_classes, n_threads(len(y) * n_features))
        if parts is None:
            raise OverflowError("a numeric column holds an infinite number.")
        wild = ~np.isfinite(parts).all(axis=(0, 2))
        if wild.any():
            raise OverflowError(int(wild.argmax()), "large")
        moments = cls(parts)
        moments._refuse_lost_squares(table)
        return moments

    def _refuse_lost_squares(self, table: list[NDArray[Any]] | NDArray[Any]) -> None:
        # Squares below the least double count as none, and a column that varies would be taken for a constant.
        small = (self.scatter.max(axis=1) < _LEAST_SPREAD**2) & (np.abs(self.mean).max(axis=1) < _LEAST_MEAN)
        for j in np.flatnonzero(small & (self.weight.sum(axis=1) > 0)):
            column = np.asarray(table[:, j] if isinstance(table, np.ndarray) else table[j], dtype=np.float64)
            if 0 < np.nanmax(column) - np.nanmin(column) < _LEAST_SPREAD:
                raise OverflowError(int(j), "small")

    def __add__(self, other: Moments) -> Moments:
        self._refuse_other_shape(other)
        return Moments(add_moments(self.parts, other.parts))

    def __sub__(self, other: Moments) -> Moments:
        self._refuse_other_shape(other)
        rest, below_zero = subtract_moments(self.parts, other.parts)
        if rest is None:
            what = "weight" if below_zero == 1 else "variance"
            raise MergeError(f"cannot subtract rows that were never counted: a {what} would become negative.")
        return Moments(rest)

    def without_each(self, cells: NDArray[Any], y: NDArray[Any], weight: NDArray[Any]) -> Moments:
        """Return the moments of one column without each of its cells in turn, of shape (n_cells, n_classes).

        Examples
        --------
        >>> y = np.array([0, 0, 0], dtype=np.uint8)
        >>> column = np.array([1.0, 2.0, 6.0])
        >>> Moments.of([column], y, 1).without_each(column, y, np.ones(3)).mean.ravel()
        array([4. , 3.5, 1.5])
        """
        whole = np.repeat(self.parts, len(cells), axis=1)
        each = np.zeros_like(whole)
        rows = np.arange(len(cells))
        each[0, rows, y], each[1, rows, y] = weight, cells
        return Moments(whole) - Moments(each)

    def remap(
        self, n_features: int, features: NDArray[np.int64], n_classes: int, classes: NDArray[np.int64]
    ) -> Moments:
        """Return the same moments in a wider table: feature j goes to ``features[j]``, class c to ``classes[c]``."""
        wide = np.zeros((_N_PARTS, n_features, n_classes))
        wide[np.ix_(np.arange(_N_PARTS), features, classes)] = self.parts
        return Moments(wide)

    def take(self, features: NDArray[np.intp]) -> Moments:
        """Return the moments of some of the features."""
        return Moments(self.parts[:, features])

    def keep_classes(self, classes: NDArray[np.intp]) -> Moments:
        """Return the moments of some of the classes."""
        return Moments(np.ascontiguousarray(self.parts[:, :, classes]))

    def scaled(self, factor: NDArray[Any]) -> Moments:
        """Return the moments of rows that each count ``factor[c]`` times, by their class."""
        times = np.ones((_N_PARTS, 1, len(factor)))
        times[[0, 2, 3, 5]] = factor
        return Moments(self.parts * times)

    def pooled(self) -> Moments:
        """Return the moments of all classes together, as if there were one class."""
        total = self.keep_classes(np.arange(1))
        for c in range(1, self.weight.shape[1]):
            total = total + self.keep_classes(np.array([c]))
        return total

    @classmethod
    def from_array(cls, parts: NDArray[np.float64]) -> Moments:
        """Return the moments of a file; those of an older form have three parts."""
        return cls(parts if len(parts) == _N_PARTS else np.concatenate([parts, np.zeros_like(parts)]))

    def _refuse_other_shape(self, other: Moments) -> None:
        if self.parts.shape != other.parts.shape:
            raise MergeError(f"moments of shape {self.weight.shape} do not fit moments of shape {other.weight.shape}.")
