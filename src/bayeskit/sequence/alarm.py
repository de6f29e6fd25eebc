"""A rolling alarm: how probable it is that a chain reaches some state soon, row after row, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.result import Result


@dataclass(frozen=True, repr=False)
class Alarm(Result):
    """For each row, P(a state is reached within some steps | rows so far), and the action of least risk.

    Attributes
    ----------
    states : tuple
        The states to watch for.
    within : int
        How many steps ahead.
    probability : float array of shape (n_rows,)
        P(one of the states in the next ``within`` rows | rows so far).
    raised : bool array of shape (n_rows,)
        Whether raising the alarm costs less than waiting.
    """

    states: tuple[Any, ...]
    within: int
    probability: Any
    raised: Any


def reach_probability(step: NDArray[np.float64], wanted: NDArray[np.bool_], within: int) -> NDArray[np.float64]:
    r"""Return for each state P(a wanted state in one of the next rows), by the recursion over the number of rows.

    .. math:: v_n(i) = \sum_j a_{ij} \, [\, j \in W \;?\; 1 : v_{n-1}(j) \,], \qquad v_0 = 0

    Examples
    --------
    >>> step = np.array([[0.9, 0.1], [0.0, 1.0]])
    >>> reach_probability(step, np.array([False, True]), 2)
    array([0.19, 1.  ])
    """
    reached = np.zeros(len(step))
    for _ in range(within):
        reached = step @ np.where(wanted, 1.0, reached)
    return np.minimum(reached, 1.0)
