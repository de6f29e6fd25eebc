"""How many rows of each class have each value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_classes, count_values, n_threads
from bayeskit.errors import MergeError


@dataclass(frozen=True)
class ValueCounts:
    """Class counts and value counts per class: integers, or sums of weights. They add and subtract.

    The value table is ragged: feature j owns the rows ``offsets[j]:offsets[j + 1]`` of ``n_value``.

    Examples
    --------
    >>> y = np.array([0, 0, 1], dtype=np.uint8)
    >>> a = ValueCounts.of([np.array([0, 1, 1], dtype=np.uint8)], [2], y, 2)
    >>> a.n_value
    array([[1, 0],
           [1, 1]])
    >>> (a + a - a).n_class
    array([2, 1])
    """

    n_class: NDArray[Any]  # (n_classes,)
    n_value: NDArray[Any]  # (n_cells, n_classes)
    offsets: NDArray[np.int64]  # (n_features + 1,)

    @classmethod
    def of(
        cls,
        columns: list[NDArray[Any]],
        sizes: Sequence[int],
        y: NDArray[Any],
        n_classes: int,
        weight: NDArray[np.float64] | None = None,
    ) -> ValueCounts:
        """Count coded columns; a cell whose code is not a value (missing, unseen) is left out."""
        n_value = count_values(columns, y, weight, n_classes, list(sizes), n_threads(len(y) * len(columns)))
        return cls(count_classes(y, weight, n_classes), n_value, ragged(sizes))

    def __add__(self, other: ValueCounts) -> ValueCounts:
        self._refuse_other_shape(other)
        return replace(self, n_class=self.n_class + other.n_class, n_value=self.n_value + other.n_value)

    def __sub__(self, other: ValueCounts) -> ValueCounts:
        self._refuse_other_shape(other)
        n_class, n_value = self.n_class - other.n_class, self.n_value - other.n_value
        # Sums of weights are rounded; what they leave near zero is rounding, not a row too many or too few.
        slack = 0.0 if n_value.dtype.kind == "i" else 1e-9
        if (n_class < -slack * self.n_class).any() or (n_value < -slack * self.n_value).any():
            raise MergeError("cannot subtract rows that were never counted: a count would become negative.")
        if slack:
            n_class = np.where(n_class <= slack * self.n_class, 0.0, n_class)
            n_value = np.where(n_value <= slack * self.n_value, 0.0, n_value)
        return replace(self, n_class=n_class, n_value=n_value)

    def n_known(self) -> NDArray[Any]:
        """Rows of each class in which each feature is known, of shape (n_features, n_classes)."""
        known = np.zeros((len(self.offsets) - 1, len(self.n_class)), dtype=self.n_value.dtype)
        filled = np.flatnonzero(np.diff(self.offsets))
        if len(filled):
            known[filled] = np.add.reduceat(self.n_value, self.offsets[filled], axis=0)
        return known

    def remap(
        self, sizes: Sequence[int], cells: NDArray[np.int64], n_classes: int, classes: NDArray[np.int64]
    ) -> ValueCounts:
        """Return the same counts in a wider table: row r goes to row ``cells[r]``, class c to class ``classes[c]``."""
        offsets = ragged(sizes)
        n_class = np.zeros(n_classes, dtype=self.n_class.dtype)
        n_class[classes] = self.n_class
        n_value = np.zeros((int(offsets[-1]), n_classes), dtype=self.n_value.dtype)
        n_value[np.ix_(cells, classes)] = self.n_value
        return ValueCounts(n_class, n_value, offsets)

    def _refuse_other_shape(self, other: ValueCounts) -> None:
        if self.n_class.shape != other.n_class.shape or not np.array_equal(self.offsets, other.offsets):
            raise MergeError(
                f"counts of {len(self.n_class)} classes and {self.offsets[-1]} cells do not fit counts of "
                f"{len(other.n_class)} classes and {other.offsets[-1]} cells."
            )


def ragged(sizes: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each feature's rows begin, and where the last ends.

    >>> ragged([3, 2])
    array([0, 3, 5])
    """
    return np.concatenate([[0], np.cumsum(np.asarray(sizes, dtype=np.int64))]).astype(np.int64)
