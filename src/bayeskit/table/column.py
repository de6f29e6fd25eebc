"""The two forms in which any column reaches the library: numbers, or codes with a list of levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import recode
from bayeskit.table.schema import Value

# In a recode lookup, -1 stands for the reserved code UNSEEN and -2 for MISSING.
LOOKUP_UNSEEN, LOOKUP_MISSING = -1, -2


def missing_code(dtype: np.dtype[Any]) -> int:
    """Return the code that stands for a missing cell: the largest number of the type."""
    return int(np.iinfo(dtype).max)


def unseen_code(dtype: np.dtype[Any]) -> int:
    """Return the code that stands for a value that was not seen in fit: the second largest number of the type."""
    return int(np.iinfo(dtype).max) - 1


def code_bytes(n_values: int) -> int:
    """Return the bytes of the narrowest code that holds this number of values and the two reserved codes.

    >>> code_bytes(254), code_bytes(255), code_bytes(100_000)
    (1, 2, 4)
    """
    return 1 if n_values <= 254 else 2 if n_values <= 65_534 else 4


@dataclass(frozen=True)
class Numbers:
    """A column of integers, booleans or floats, read in place; NaN is a missing cell."""

    values: NDArray[Any]  # (n_rows,)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: NDArray[Any]) -> Numbers:
        """Return some of the rows."""
        return Numbers(self.values[rows])

    def all_missing(self) -> bool:
        """Return whether no cell holds a value; the first cell mostly decides it."""
        if self.values.dtype.kind != "f" or self.values[0] == self.values[0]:
            return False
        return bool(np.isnan(self.values).all())

    def missing(self) -> NDArray[np.bool_]:
        """Return for each cell whether it is missing."""
        if self.values.dtype.kind == "f":
            return np.asarray(np.isnan(self.values))
        return np.zeros(len(self.values), dtype=bool)


@dataclass(frozen=True)
class Coded:
    """A column of codes into a list of levels; the reserved code MISSING marks a missing cell."""

    codes: NDArray[Any]  # (n_rows,) uint8, uint16 or uint32
    levels: tuple[Value, ...]
    declared: bool = False

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: NDArray[Any]) -> Coded:
        """Return some of the rows."""
        return Coded(self.codes[rows], self.levels, self.declared)

    def all_missing(self) -> bool:
        """Return whether no cell holds a value; the first cell mostly decides it."""
        return bool(self.codes[0] == missing_code(self.codes.dtype)) and bool(self.missing().all())

    def missing(self) -> NDArray[np.bool_]:
        """Return for each cell whether it is missing."""
        return np.asarray(self.codes == missing_code(self.codes.dtype))

    def present(self) -> tuple[Value, ...]:
        """Return the levels that some cell has, in increasing order; declared levels as they were declared."""
        if self.declared:
            return self.levels
        counts = np.bincount(self.codes[~self.missing()], minlength=len(self.levels))
        return tuple(sorted(level for level, n in zip(self.levels, counts, strict=True) if n))

    def codes_for(self, values: dict[Value, int]) -> NDArray[Any]:
        """Return the cells as codes of another list of levels, given as a map from value to code."""
        lookup = np.array([values.get(level, LOOKUP_UNSEEN) for level in self.levels], dtype=np.int64)
        width = code_bytes(len(values))
        if self.codes.dtype.itemsize == width and np.array_equal(lookup, np.arange(len(lookup))):
            return self.codes
        return recode(self.codes, 0, lookup, width, True)


Column = Numbers | Coded
