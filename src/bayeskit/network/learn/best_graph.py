"""The best graph of a search that changes one arc at a time, and its objective step by step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeskit.estimate.history import History
from bayeskit.network.learn.climber import LEAST_GAIN, Climber
from bayeskit.network.learn.search_method import LocalSearch, Marks, SearchResult, SearchTask


class BestGraph:
    """The best graph of a search so far, and the objective step by step."""

    def __init__(self, task: SearchTask) -> None:
        self.arcs: Marks | None = None
        self.score = -np.inf
        self.path: list[float] = []
        self.ends: list[float] = []
        self._task = task

    def record(self, climber: Climber) -> None:
        """Record the current graph."""
        score = climber.score
        self.path.append(score)
        if score > self.score + LEAST_GAIN:
            self.arcs, self.score = climber.arcs.copy(), score
        # Last, since an exception from here ends the search with what was noted.
        self._task.report(len(self.path) - 1, score, climber.arcs)


def search_with_restarts(
    method: LocalSearch, task: SearchTask, walk: Callable[[Climber, BestGraph], float], reason: str
) -> SearchResult:
    """Walk from the start; then, ``restarts`` times, from the best graph after some random changes.

    ``walk`` goes on from a graph until it stops, records each step, and returns the score that it ended with.
    """
    rng = np.random.default_rng(task.random_state)
    best, converged = BestGraph(task), True
    climber = Climber(task.families, task.limits, task.start)
    best.record(climber)
    try:
        for k in range(method.restarts + 1):
            if k:
                climber = Climber(task.families, task.limits, best.arcs if best.arcs is not None else task.start)
                climber.perturb(method.perturb, rng)
            best.ends.append(walk(climber, best))
    except KeyboardInterrupt:
        reason, converged = "interrupted; the best network so far is kept", False
    assert best.arcs is not None
    return SearchResult(best.arcs, History(method.name, tuple(best.path), reason, converged, tuple(best.ends)))
