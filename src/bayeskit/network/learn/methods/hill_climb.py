"""Hill-climbing: always the best change of one arc, until none improves the score; then restarts."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.network.learn.best_graph import BestGraph, search_with_restarts
from bayeskit.network.learn.climber import LEAST_GAIN, Climber
from bayeskit.network.learn.search_method import LocalSearch, SearchResult, SearchTask


@dataclass(frozen=True)
class HillClimb(LocalSearch):
    """Hill-climbing: the best change of one arc, until none improves the score.

    Parameters
    ----------
    restarts : int, default 0
        How often the search begins again from the best graph so far, changed at random.
    perturb : int, default 10
        The number of random changes before each restart.
    start : BayesianNetwork, optional
        The graph to begin with; by default the empty graph.
    """

    name = "hill-climb"

    def search(self, task: SearchTask) -> SearchResult:
        """Return the best graph found; Ctrl-C ends the search, and the best graph so far is returned."""
        return search_with_restarts(self, task, _to_the_top, "no change of one arc improves the score")


def _to_the_top(climber: Climber, best: BestGraph) -> float:
    while True:
        move = climber.best(climber.gains())
        if move.gain <= LEAST_GAIN:
            return climber.score
        climber.apply(move)
        best.record(climber)
