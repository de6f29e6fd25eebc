"""Counted rows that are taken out of their counts, one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LeftOut:
    """Rows that were counted; each is predicted by the counts without itself."""

    y: NDArray[np.int64]  # (n_rows,): class codes
    weight: NDArray[np.float64] | None = None  # (n_rows,): how often each was counted

    def __len__(self) -> int:
        return len(self.y)

    @cached_property
    def taken_out(self) -> NDArray[np.float64]:
        """What is taken out of the counts, of shape (n_rows,): of a row that counts several times, one copy."""
        return np.ones(len(self.y)) if self.weight is None else np.minimum(self.weight, 1.0)


def less(n: NDArray[np.float64], taken: Any) -> NDArray[np.float64]:
    """Return what is left of counts; sums of weights leave rounding where nothing is left.

    >>> less(np.array([3.0, 1.0]), np.array([1.0, 1.0 - 1e-16]))
    array([2., 0.])
    """
    rest = n - taken
    return np.where(rest <= 1e-12 * np.abs(n), 0.0, rest)
