"""Hill-climbing: always the best change of one arc, until none improves the score; then restarts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.climb import LEAST_GAIN, Climber
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.history import LearningHistory, OnStep
from bayeskit.network.learn.structure_scores import StructureScores

Arcs = NDArray[np.bool_]


class Best:
    """The best graph of a search so far, and the objective step by step."""

    def __init__(self, on_step: OnStep) -> None:
        self.arcs: Arcs | None = None
        self.score = -np.inf
        self.path: list[float] = []
        self.ends: list[float] = []
        self._on_step = on_step

    def record(self, climber: Climber) -> None:
        """Record the current graph."""
        score = climber.score
        self.path.append(score)
        if score > self.score + LEAST_GAIN:
            self.arcs, self.score = climber.arcs.copy(), score
        # Last, since an exception from here ends the search with what was noted.
        if self._on_step is not None:
            self._on_step(len(self.path) - 1, score, climber.arcs)

    def history(self, method: str, reason: str, converged: bool) -> LearningHistory:
        """Return the history of the search."""
        return LearningHistory(method, tuple(self.path), reason, converged, tuple(self.ends))


def hill_climb(
    scores: StructureScores,
    limits: Constraints,
    start: Arcs,
    *,
    restarts: int = 0,
    perturb: int = 10,
    random_state: int = 0,
    on_step: OnStep = None,
) -> tuple[Arcs, LearningHistory]:
    """Return the best graph found; Ctrl-C ends the search, and the best graph so far is returned.

    After the first local optimum, ``restarts`` times: ``perturb`` random changes of the best graph, then hill-climbing
    again.
    """
    rng = np.random.default_rng(random_state)
    best, reason, converged = Best(on_step), "no change of one arc improves the score", True
    climber = Climber(scores, limits, start)
    best.record(climber)
    try:
        for k in range(restarts + 1):
            if k:
                climber = Climber(scores, limits, best.arcs if best.arcs is not None else start)
                climber.perturb(perturb, rng)
            _to_the_top(climber, best)
            best.ends.append(climber.score)
    except KeyboardInterrupt:
        reason, converged = "interrupted; the best network so far is kept", False
    assert best.arcs is not None
    return best.arcs, best.history("hill-climb", reason, converged)


def _to_the_top(climber: Climber, best: Best) -> None:
    while True:
        move = climber.best(climber.gains())
        if move.gain <= LEAST_GAIN:
            return
        climber.apply(move)
        best.record(climber)
