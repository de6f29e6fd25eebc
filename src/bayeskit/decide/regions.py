"""Where each action is best: the threshold of two classes, and whether a reject is ever or always chosen."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from bayeskit.decide.loss import Loss
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.result import fields_text, html_text


class Region(NamedTuple):
    """An action and the probabilities of the second class, from ``low`` to ``high``, for which it is best."""

    action: Any
    low: float
    high: float

    def __repr__(self) -> str:
        return fields_text(type(self).__name__, self._asdict().items())

    def _repr_html_(self) -> str:
        return html_text(str(self))


def regions(loss: Loss) -> tuple[Region, ...]:
    r"""Return, for two classes, the actions in the order in which they are best as P(c_2 given x) grows from 0 to 1.

    The risk of an action is a line in p = P(c_2 | x), and the best action is the lowest line. For two actions the only
    boundary is the threshold

    .. math:: p^* = \frac{\lambda_{12} - \lambda_{11}}{(\lambda_{12} - \lambda_{11}) + (\lambda_{21} - \lambda_{22})}

    Examples
    --------
    >>> from bayeskit.decide.loss import read_loss
    >>> regions(read_loss([[0, 1], [3, 0]], ["well", "ill"]))
    (Region(action='well', low=0, high=0.25), Region(action='ill', low=0.25, high=1))
    """
    if len(loss.classes) != 2 or loss.per_row:
        raise BayeskitError(
            f"a threshold needs two classes and one loss for all rows; got {len(loss.classes)} classes."
        )
    at_0, at_1 = loss.matrix
    rise = at_1 - at_0  # the risk of action a is at_0[a] + p * rise[a]
    first, second = np.triu_indices(len(rise), k=1)
    turning = rise[first] != rise[second]
    with np.errstate(over="ignore"):  # nearly parallel lines cross outside 0 .. 1; the quotient may overflow
        crossing = (at_0[second] - at_0[first])[turning] / (rise[first] - rise[second])[turning]
    borders = np.concatenate([[0.0], np.unique(crossing[(crossing > 0.0) & (crossing < 1.0)]), [1.0]])
    middles = (borders[:-1] + borders[1:]) / 2
    best = (at_0 + middles[:, None] * rise).argmin(axis=1)
    starts = np.flatnonzero(np.diff(best, prepend=-1))
    lows, highs = borders[starts], np.append(borders[starts[1:]], 1.0)
    return tuple(
        Region(loss.actions[best[start]], float(low), float(high))
        for start, low, high in zip(starts, lows, highs, strict=True)
    )


def threshold(loss: Loss) -> float | None:
    """Return the P(second class) at which the decision changes, or None unless exactly two actions are ever best."""
    intervals = regions(loss)
    return intervals[0].high if len(intervals) == 2 else None


def worst_case_risk(matrix: NDArray[np.float64]) -> float:
    """Return the largest risk of the best action over all posteriors (the minimax value)."""
    n_classes, n_actions = matrix.shape
    # Maximise v such that Σ_c p_c λ(c, a) ≥ v for every action a, over distributions p.
    solved = linprog(
        np.append(np.zeros(n_classes), -1.0),
        A_ub=np.column_stack([-matrix.T, np.ones(n_actions)]),
        b_ub=np.zeros(n_actions),
        A_eq=np.append(np.ones(n_classes), 0.0)[None, :],
        b_eq=[1.0],
        bounds=[(0, None)] * n_classes + [(None, None)],
    )
    return -float(solved.fun or 0.0)


def warn_of_useless_reject(loss: Loss) -> None:
    """Warn when the reject of a loss is chosen for no posterior, or for every posterior."""
    if loss.reject is None or loss.per_row:
        return
    others, cost = loss.matrix[:, :-1], float(loss.matrix[0, -1])
    if cost < others.min():
        warnings.warn(
            f"{loss.reject!r} costs {cost:g}, less than any other action ever does ({others.min():g}): every row will "
            "be rejected.",
            BayeskitWarning,
            stacklevel=3,
        )
        return
    worst = worst_case_risk(others)
    if cost >= worst - 1e-9 * max(1.0, abs(worst)):  # the accuracy of the linear program
        warnings.warn(
            f"{loss.reject!r} costs {cost:g}, and the best other action never risks more than {worst:.4g}: no row will "
            "ever be rejected.",
            BayeskitWarning,
            stacklevel=3,
        )
