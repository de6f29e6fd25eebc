"""The strength of each arc, from the tables (Koiter 2006)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Tables with more numbers are compared in slices of this size.
CELLS = 1 << 22


def influence_of_axis(table: NDArray[np.float64], axis: int) -> float:
    """Return the influence of the parent on this axis of a table, from 0 to 1.

    It is the mean, over the other parents' states, of the largest total variation between two of the parent's.
    """
    rows = np.moveaxis(table / table.sum(axis=-1, keepdims=True), axis, 0)
    card, states = rows.shape[0], rows.shape[-1]
    rows = rows.reshape(card, -1, states)  # (parent's states, other parents' states, own states)
    step = max(1, CELLS // max(card * states, 1))
    total = 0.0
    for start in range(0, rows.shape[1], step):
        part = rows[:, start : start + step]
        most = np.zeros(part.shape[1])
        for a in range(card - 1):
            distance = 0.5 * np.abs(part[a + 1 :] - part[a]).sum(axis=-1)
            np.maximum(most, distance.max(axis=0), out=most)
        total += float(most.sum())
    return float(min(total / rows.shape[1], 1.0))
