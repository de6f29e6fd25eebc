"""How often each number occurs in each class: the statistic of a kernel density estimate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.values import ragged
from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_array

# Of a column with more distinct numbers than this, bins are counted.
MOST_NUMBERS = 10_000
# Bins have the width 2^k. Below this k, the least power of two that a double holds, nothing is cut: numbers stay as
# they came.
EXACT = -1075
_WIDEST = 1012  # bins of 2^1012 hold all doubles in fewer than MOST_NUMBERS bins


@dataclass(frozen=True)
class NumberCounts:
    """The distinct numbers of each column, and how many rows of each class have them. They add and subtract.

    The table is ragged: column j owns the entries ``offsets[j]:offsets[j + 1]`` of ``values``, which increase, and of
    ``n``. A column with more than ``MOST_NUMBERS`` distinct numbers is cut into bins [m 2^k, (m + 1) 2^k) with the
    least k for which its bins are not more than that; a value is then the middle of its bin. Narrow bins lie
    entirely in wide ones, so counts of parts add up to the counts of the whole, bins included.

    Examples
    --------
    >>> y = np.array([0, 0, 1, 1], dtype=np.uint8)
    >>> counts = NumberCounts.of([np.array([2.5, 1.0, 2.5, np.nan])], y, 2)
    >>> counts.values
    array([1. , 2.5])
    >>> counts.n
    array([[1, 0],
           [1, 1]])
    """

    values: NDArray[np.float64]  # (n_entries,)
    n: NDArray[Any]  # (n_entries, n_classes): integers, or sums of weights
    offsets: NDArray[np.int64]  # (n_columns + 1,)
    exponent: NDArray[np.int64]  # (n_columns,): k of the width 2^k of the bins, or EXACT

    @classmethod
    def none(cls, n_columns: int, n_classes: int, dtype: Any = np.int64) -> NumberCounts:
        """Return the counts of columns whose numbers are not counted."""
        empty = np.empty((0, n_classes), dtype=dtype)
        return cls(np.empty(0), empty, np.zeros(n_columns + 1, dtype=np.int64), np.full(n_columns, EXACT))

    @classmethod
    def of(
        cls,
        columns: Sequence[NDArray[Any] | None],
        y: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64] | None = None,
    ) -> NumberCounts:
        """Count finite numbers; missing cells are left out, and so are columns that are None."""
        dtype = np.int64 if weight is None else np.float64
        parts: list[_Part] = []
        for column in columns:
            if column is None:
                parts.append(_Part(np.empty(0), np.empty((0, n_classes), dtype=dtype), EXACT))
                continue
            numbers = np.asarray(column, dtype=np.float64) + 0.0  # −0 becomes 0
            known = np.flatnonzero(~np.isnan(numbers))
            values, place = np.unique(numbers[known], return_inverse=True)
            cell = place * n_classes + np.asarray(y)[known]
            shares = None if weight is None else weight[known]
            n = np.bincount(cell, shares, minlength=len(values) * n_classes).astype(dtype)
            parts.append(_Part(values, n.reshape(-1, n_classes), EXACT).capped())
        return cls._joined(parts, n_classes, dtype)

    @classmethod
    def _joined(cls, parts: Sequence[_Part], n_classes: int, dtype: Any) -> NumberCounts:
        return cls(
            np.concatenate([np.empty(0), *(part.values for part in parts)]),
            np.concatenate([np.empty((0, n_classes), dtype=dtype), *(part.n for part in parts)]),
            ragged([len(part.values) for part in parts]),
            np.array([part.exponent for part in parts], dtype=np.int64),
        )

    @property
    def counted(self) -> NDArray[np.intp]:
        """Positions of the columns that have entries."""
        return np.flatnonzero(np.diff(self.offsets))

    def column(self, j: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
        """Return the distinct numbers of column ``j``, and their counts of shape (n_values, n_classes)."""
        cells = slice(int(self.offsets[j]), int(self.offsets[j + 1]))
        return self.values[cells], self.n[cells]

    def n_known(self) -> NDArray[Any]:
        """Return the rows of each class in which each column was counted, of shape (n_columns, n_classes)."""
        known = np.zeros((len(self.exponent), self.n.shape[1]), dtype=self.n.dtype)
        if len(self.values):
            known[self.counted] = np.add.reduceat(self.n, self.offsets[self.counted], axis=0)
        return known

    def width(self, j: int) -> float:
        """Return the width of the bins of column ``j``; 0 where its numbers are not binned."""
        return 0.0 if self.exponent[j] == EXACT else float(np.ldexp(1.0, int(self.exponent[j])))

    def __add__(self, other: NumberCounts) -> NumberCounts:
        return self._with(other, _Part.plus)

    def __sub__(self, other: NumberCounts) -> NumberCounts:
        return self._with(other, _Part.minus)

    def _with(self, other: NumberCounts, combine: Any) -> NumberCounts:
        if self.n.shape[1] != other.n.shape[1] or len(self.offsets) != len(other.offsets):
            raise MergeError(
                f"number counts of {len(self.offsets) - 1} columns and {self.n.shape[1]} classes do not fit those of "
                f"{len(other.offsets) - 1} columns and {other.n.shape[1]} classes."
            )
        dtype = np.result_type(self.n, other.n)
        if not len(self.values) and not len(other.values):
            return replace(self, n=self.n.astype(dtype))
        parts = [combine(self._part(j), other._part(j)) for j in range(len(self.exponent))]
        return self._joined(parts, self.n.shape[1], dtype)

    def _part(self, j: int) -> _Part:
        return _Part(*self.column(j), int(self.exponent[j]))

    def take(self, columns: Sequence[int] | NDArray[Any]) -> NumberCounts:
        """Return the counts of some columns."""
        if not len(self.values):
            return self.none(len(columns), self.n.shape[1], self.n.dtype)
        return self._joined([self._part(int(j)) for j in columns], self.n.shape[1], self.n.dtype)

    def remap(
        self, n_columns: int, columns: NDArray[np.int64], n_classes: int, classes: NDArray[np.int64]
    ) -> NumberCounts:
        """Return the same counts in a wider table: column j goes to ``columns[j]``, class c to ``classes[c]``."""
        n = np.zeros((len(self.values), n_classes), dtype=self.n.dtype)
        n[:, classes] = self.n
        sizes, exponent = np.zeros(n_columns, dtype=np.int64), np.full(n_columns, EXACT)
        sizes[columns], exponent[columns] = np.diff(self.offsets), self.exponent
        # The columns keep their order, so the entries stay where they are.
        return NumberCounts(self.values, n, ragged(sizes), exponent)

    def keep_classes(self, classes: NDArray[Any]) -> NumberCounts:
        """Return the counts of some classes; no row has any other."""
        return replace(self, n=self.n[:, classes])

    def scaled(self, factor: NDArray[Any]) -> NumberCounts:
        """Return the counts of rows that each count ``factor[c]`` times, by their class."""
        return replace(self, n=self.n * factor)

    def to_parts(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that go into a model file; none where no column's numbers are counted."""
        if not len(self.values):
            return {}
        return {
            "number_values": self.values,
            "number_counts": self.n,
            "number_offsets": self.offsets,
            "number_exponents": self.exponent,
        }

    @classmethod
    def from_parts(cls, arrays: dict[str, NDArray[Any]], n_columns: int, n_classes: int, dtype: Any) -> NumberCounts:
        """Read what :meth:`to_parts` gave, checking that it can be the counts of a table."""
        if "number_values" not in arrays:
            return cls.none(n_columns, n_classes, dtype)
        offsets = expect_array(arrays, "number_offsets", np.int64, (n_columns + 1,))
        size = int(offsets[-1])
        if offsets[0] != 0 or (np.diff(offsets) < 0).any():
            raise ModelFileError("the counts of numbers are not in the order of the columns.")
        values = expect_array(arrays, "number_values", np.float64, (size,))
        n = expect_array(arrays, "number_counts", dtype, (size, n_classes))
        exponent = expect_array(arrays, "number_exponents", np.int64, (n_columns,))
        if not np.isfinite(values).all() or not np.isfinite(n).all() or (n < 0).any():
            raise ModelFileError("a counted number is not finite, or its count is below zero.")
        rising = values[1:] > values[:-1]  # a difference could overflow
        rising[offsets[1:-1][(offsets[1:-1] > 0) & (offsets[1:-1] < size)] - 1] = True  # from one column to the next
        if not rising.all() or (exponent < EXACT).any() or (exponent > _WIDEST).any():
            raise ModelFileError("the counted numbers of a column are not in increasing order.")
        return cls(values, n, offsets, exponent)


@dataclass(frozen=True)
class _Part:
    """The counted numbers of one column."""

    values: NDArray[np.float64]
    n: NDArray[Any]
    exponent: int

    def plus(self, other: _Part) -> _Part:
        exponent = max(self.exponent, other.exponent)
        a, b = self.cut(exponent), other.cut(exponent)
        values = np.union1d(a.values, b.values)
        n = np.zeros((len(values), a.n.shape[1]), dtype=np.result_type(a.n, b.n))
        n[np.searchsorted(values, a.values)] += a.n
        n[np.searchsorted(values, b.values)] += b.n
        return _Part(values, n, exponent).capped()

    def minus(self, other: _Part) -> _Part:
        exponent = max(self.exponent, other.exponent)
        a, b = self.cut(exponent), other.cut(exponent)
        place = np.searchsorted(a.values, b.values)
        if (place >= len(a.values)).any() or (a.values[place] != b.values).any():
            raise MergeError("cannot subtract rows that were never counted: one of their numbers never occurred.")
        n = a.n.astype(np.result_type(a.n, b.n))
        n[place] -= b.n
        # Sums of weights are rounded; what they leave near zero is rounding, not a row too many or too few.
        slack = 0.0 if n.dtype.kind == "i" else 1e-9
        if (n < -slack * a.n).any():
            raise MergeError("cannot subtract rows that were never counted: a count would become negative.")
        n = np.where(n <= slack * a.n, 0, n).astype(n.dtype)
        left = n.any(axis=1)
        return _Part(a.values[left], n[left], exponent)

    def capped(self) -> _Part:
        """Return the part in the narrowest bins of which there are not more than MOST_NUMBERS."""
        if len(self.values) <= MOST_NUMBERS:
            return self
        low, high = self.exponent, _WIDEST  # too narrow, wide enough
        while high - low > 1:
            middle = (low + high) // 2
            middles = _middles(self.values, middle)
            few = np.count_nonzero(middles[1:] != middles[:-1]) < MOST_NUMBERS
            low, high = (low, middle) if few else (middle, high)
        return self.cut(high)

    def cut(self, exponent: int) -> _Part:
        """Return the part in wider bins, of the width 2^exponent."""
        if exponent == self.exponent or not len(self.values):
            return replace(self, exponent=exponent)
        middles = _middles(self.values, exponent)
        first = np.flatnonzero(np.concatenate([[True], middles[1:] > middles[:-1]]))
        return _Part(middles[first], np.add.reduceat(self.n, first, axis=0), exponent)


def _middles(values: NDArray[np.float64], exponent: int) -> NDArray[np.float64]:
    """Return the middle of each value's bin [m 2^k, (m + 1) 2^k).

    From 2^52 bins away from zero a double is a multiple of the width, and represents its bin itself.
    """
    with np.errstate(over="ignore", under="ignore"):
        scaled = np.ldexp(values, -exponent)
        number = np.where((values < 0) & (scaled == 0), -1.0, np.floor(scaled))  # −0 is a tiny number that was lost
        return np.where(np.abs(scaled) < 2.0**52, np.ldexp(number + 0.5, exponent), values)
