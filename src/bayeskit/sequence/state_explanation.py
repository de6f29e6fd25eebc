"""Why a row is in its state: the log-odds, and how each row of the sequence changes them as it is revealed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.result import Result
from bayeskit.sequence.beliefs import ChainBeliefs

Matrix = NDArray[np.float64]

# Rows that are shown: those that change the log-odds most.
_SHOWN = 8


@dataclass(frozen=True, repr=False)
class StateExplanation(Result):
    """The log-odds of two states of one row, before any row is known and as each is revealed.

    Attributes
    ----------
    row : int
        The row that is explained, by its place in the sequence.
    states : (a, b)
        The states that are compared.
    prior : float
        log P(a) / P(b) of that row before any row is known.
    changes : float array of shape (n_rows,)
        What each row adds, in the order of the sequence; the sum with ``prior`` is ``log_odds``.
    log_odds : float
        log P(a | all rows) / P(b | all rows).
    """

    row: int
    states: tuple[Any, Any]
    prior: float
    changes: Matrix
    log_odds: float

    @property
    def most(self) -> int:
        """The row that changes the log-odds most."""
        return int(np.abs(self.changes).argmax())

    def __repr__(self) -> str:
        a, b = self.states
        lines = [
            f"row {self.row}: {a} rather than {b}, log-odds {self.log_odds:+.3g}",
            f"  before any row      {self.prior:+.3g}",
        ]
        order = np.argsort(-np.abs(self.changes), kind="stable")[:_SHOWN]
        lines += [f"  row {t:<6d}          {self.changes[t]:+.3g}" for t in np.sort(order).tolist()]
        rest = float(np.delete(self.changes, order).sum())
        if len(self.changes) > _SHOWN:
            lines.append(f"  {len(self.changes) - _SHOWN} other rows       {rest:+.3g}")
        return "\n".join(lines)


def explain_state(
    chain: ChainBeliefs, density: Matrix, row: int, places: tuple[int, int], names: tuple[Any, Any]
) -> StateExplanation:
    """Return the log-odds of state a against b of one row after 0, 1, … rows of the sequence are known."""
    step, k = np.exp(chain.log_step), chain.n_states
    # joint[i, j]: P(explained row in state i, row at hand in state j | rows so far), once the explained row is reached
    ahead = [np.eye(k)]  # ahead[n] = step ** n
    for _ in range(row):
        ahead.append(ahead[-1] @ step)
    odds = [_log_odds(np.exp(chain.log_start) @ ahead[row], places)]
    now, joint = np.exp(chain.log_start), None
    for t in range(len(density)):
        seen = np.exp(density[t] - density[t].max())
        if t:
            now = now @ step
            joint = None if joint is None else joint @ step
        now = _normalised(now * seen)
        if t < row:
            odds.append(_log_odds(now @ ahead[row - t], places))
            continue
        joint = np.diag(now) if joint is None else _normalised(joint * seen)
        odds.append(_log_odds(joint.sum(axis=1), places))
    path = np.array(odds)
    return StateExplanation(row, names, float(path[0]), np.diff(path), float(path[-1]))


def _normalised(table: Matrix) -> Matrix:
    return np.asarray(table / table.sum())


def _log_odds(posterior: Matrix, places: tuple[int, int]) -> float:
    # An impossible state has log-odds that are infinite; a tiny share keeps sums of changes finite.
    a, b = (max(float(posterior[i]), 1e-300) for i in places)
    return float(np.log(a) - np.log(b))
