"""The history of a learning run: the objective step by step, why it stopped, and a plot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.estimate.em import EMResult, History
from bayeskit.result import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The arguments of a progress callback: the number of the step and the objective; and the arcs of a graph, by name.
Progress = Callable[[int, float], None] | None
OnGraph = Callable[[list[tuple[str, str]]], None] | None
# The arguments of a search step: besides, the marks of its graph (an arc one way, an edge both ways), or None.
OnStep = Callable[[int, float, NDArray[np.bool_] | None], None] | None


@dataclass(frozen=True)
class LearningHistory(Result):
    """The objective before each step and at the end, for EM, gradient ascent and searches alike.

    Attributes
    ----------
    method : str
        "em", "gradient", "hill-climb", …
    objective : tuple of float
        The penalised log-likelihood, or the score of the network, before the first step and after each.
    reason : str
        Why it stopped.
    converged : bool
        False where a limit of steps, or Ctrl-C, ended it.
    starts : tuple of float
        The final objective of every start, where there were several.

    Examples
    --------
    >>> history = LearningHistory("em", (-10.0, -8.0, -7.9), "a step improved the objective by 0", True)
    >>> history
    em: -10 → -7.9 in 2 steps; a step improved the objective by 0
    """

    method: str
    objective: tuple[float, ...]
    reason: str
    converged: bool
    starts: tuple[float, ...] = ()

    @classmethod
    def of_em(cls, method: str, result: EMResult[Any]) -> LearningHistory:
        """Return the history of a run of the EM loop."""
        history: History = result.history
        return cls(method, history.objective, history.reason, history.converged, result.starts)

    @property
    def n_steps(self) -> int:
        """The number of steps."""
        return len(self.objective) - 1

    def __repr__(self) -> str:
        first, last = self.objective[0], self.objective[-1]
        return f"{self.method}: {first:.10g} → {last:.10g} in {self.n_steps} steps; {self.reason}"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the objective over the steps; matplotlib must be installed."""
        from bayeskit.plot.history import plot_history

        return plot_history(self.objective, self.method, ax)
