"""Tabu search: from a local optimum by the least bad change, never back to a graph of the last steps."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from bayeskit.network.learn.best_graph import BestGraph, search_with_restarts
from bayeskit.network.learn.climber import LEAST_GAIN, Climber
from bayeskit.network.learn.search_method import LocalSearch, SearchResult, SearchTask, refuse_below


@dataclass(frozen=True)
class Tabu(LocalSearch):
    """Tabu search: the best change of one arc, also a bad one, but never back to a graph of the last steps.

    Parameters
    ----------
    length : int, default 400
        The number of graphs that are remembered.
    patience : int, optional
        The number of steps in a row without a new best graph after which the search ends; by default ``length``.
    restarts : int, default 0
        How often the search begins again from the best graph so far, changed at random.
    perturb : int, default 10
        The number of random changes before each restart.
    start : BayesianNetwork, optional
        The graph to begin with; by default the empty graph.

    References
    ----------
    Glover (1989), Tabu search; as bnlearn's ``tabu`` (Scutari 2010).
    """

    name = "tabu"

    length: int = 400
    patience: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse_below(self, length=1, **({} if self.patience is None else {"patience": 1}))

    def search(self, task: SearchTask) -> SearchResult:
        """Return the best graph found; Ctrl-C ends the search, and the best graph so far is returned."""
        patience = self.length if self.patience is None else self.patience

        def walk(climber: Climber, best: BestGraph) -> float:
            _wander(climber, best, self.length, patience)
            return best.score

        return search_with_restarts(self, task, walk, f"{patience} steps without a better graph")


def _wander(climber: Climber, best: BestGraph, length: int, patience: int) -> None:
    seen: deque[np.uint64] = deque([climber.key], maxlen=length)
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
        if climber.score > top + LEAST_GAIN:
            top, idle = climber.score, 0
        else:
            idle += 1
