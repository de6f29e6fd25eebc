"""Arithmetic with about 32 digits: a number is the exact sum of two doubles, kept along the first axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Wide = NDArray[np.float64]  # (2, ...): the number rounded to a double, and what is left


def wide(high: Any, low: Any = 0.0) -> Wide:
    """Return a number, or the sum of two of which the second is small, as a wide one."""
    high, low = np.broadcast_arrays(np.asarray(high, dtype=np.float64), low)
    total = high + low
    return np.stack([total, low - (total - high)])


def add(a: Wide, b: Wide) -> Wide:
    """Return a + b.

    >>> add(wide(1e20), wide(1.0)).tolist()
    [1e+20, 1.0]
    """
    high, low = _two_sum(a[0], b[0]), _two_sum(a[1], b[1])
    first = wide(high[0], high[1] + low[0])
    return wide(first[0], first[1] + low[1])


def subtract(a: Wide, b: Wide) -> Wide:
    """Return a − b."""
    return add(a, -b)


def multiply(a: Wide, b: Wide) -> Wide:
    """Return a b (Dekker 1971)."""
    product = a[0] * b[0]
    a_high, b_high = _upper_half(a[0]), _upper_half(b[0])
    a_low, b_low = a[0] - a_high, b[0] - b_high
    rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return wide(product, rest + (a[0] * b[1] + a[1] * b[0]))


def divide(a: Wide, b: NDArray[Any]) -> Wide:
    """Return a / b for plain b above zero."""
    first = a[0] / b
    rest = subtract(a, multiply(wide(first), wide(b)))
    return wide(first, rest[0] / b)


def _two_sum(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _upper_half(a: NDArray[Any]) -> NDArray[Any]:
    shifted = 134217729.0 * a  # 2^27 + 1: what is left has half of the bits, so that products of halves are exact
    return np.asarray(shifted - (shifted - a))
