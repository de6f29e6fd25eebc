"""A random number for each row of a table that is read in pieces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def row_keys(seed: int, piece: int, first: int, n: int) -> NDArray[np.uint64]:
    """Return a random number for each of ``n`` rows of a piece, from row ``first`` on (splitmix64).

    It depends only on seed, piece and row. So a sample or a fold chosen by it is the same for any number of workers and
    any order in which they read.

    >>> bool((row_keys(0, 3, 0, 10)[4:] == row_keys(0, 3, 4, 6)).all())
    True
    """
    with np.errstate(over="ignore"):
        x = np.arange(first, first + n, dtype=np.uint64)
        x += np.uint64((seed * 0x9E3779B97F4A7C15 + piece * 0xD1B54A32D192ED03) & (2**64 - 1))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
        return x ^ (x >> np.uint64(31))
