"""Tabu search: from a local optimum by the least bad change, never back to a graph of the last steps."""

from __future__ import annotations

from collections import deque

import numpy as np

from bayeskit.network.learn.climb import Climber
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.hill_climb import Arcs, Best
from bayeskit.network.learn.history import LearningHistory, OnStep
from bayeskit.network.learn.structure_scores import StructureScores


def tabu_search(
    scores: StructureScores,
    limits: Constraints,
    start: Arcs,
    *,
    tabu_length: int = 400,
    patience: int | None = None,
    restarts: int = 0,
    perturb: int = 10,
    random_state: int = 0,
    on_step: OnStep = None,
) -> tuple[Arcs, LearningHistory]:
    """Return the best graph found; Ctrl-C ends the search, and the best graph so far is returned.

    A step goes to the best neighbour that is none of the last ``tabu_length`` graphs, also where it is worse. The
    search ends after ``patience`` steps in a row (as many as the list is long, unless given) without a new best.

    References
    ----------
    Glover (1989), Tabu search; as bnlearn's ``tabu`` (Scutari 2010).
    """
    rng = np.random.default_rng(random_state)
    limit = tabu_length if patience is None else patience
    best, reason, converged = Best(on_step), f"{limit} steps without a better graph", True
    climber = Climber(scores, limits, start)
    best.record(climber)
    try:
        for k in range(restarts + 1):
            if k:
                climber = Climber(scores, limits, best.arcs if best.arcs is not None else start)
                climber.perturb(perturb, rng)
            _wander(climber, best, tabu_length, limit)
            best.ends.append(best.score)
    except KeyboardInterrupt:
        reason, converged = "interrupted; the best network so far is kept", False
    assert best.arcs is not None
    return best.arcs, best.history("tabu", reason, converged)


def _wander(climber: Climber, best: Best, tabu_length: int, patience: int) -> None:
    seen: deque[np.uint64] = deque([climber.key], maxlen=max(tabu_length, 1))
    top, idle = climber.score, 0
    while idle < patience:
        gain = climber.gains()
        gain[np.isin(climber.leads_to(), np.array(seen, dtype=np.uint64))] = -np.inf
        move = climber.best(gain)
        if not np.isfinite(move.gain):
            return
        climber.apply(move)
        seen.append(climber.key)
        best.record(climber)
        if climber.score > top + 1e-8:
            top, idle = climber.score, 0
        else:
            idle += 1
