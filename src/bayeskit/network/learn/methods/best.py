"""The best of two searches, over orders and between classes of networks, each from where the other ended."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayeskit.network import dag
from bayeskit.network.learn.climber import LEAST_GAIN
from bayeskit.network.learn.methods.ges import ClassWalk
from bayeskit.network.learn.methods.order import OrderWalk, TimedSearch
from bayeskit.network.learn.search_method import Marks, SearchResult, SearchTask


@dataclass(frozen=True)
class Best(TimedSearch):
    """The best network of greedy equivalence search and order search, each continued from where the other ended.

    Parameters
    ----------
    restarts : int, optional
        How many orders the order search begins with after the first; by default 50 (10 with more than 5,000 rows, 1
        with more than 50,000), or as many as ``max_seconds`` allows.
    max_seconds : float, optional
        The time after which the search ends with the best network so far; by default there is no limit.
    """

    name = "best"

    def search(self, task: SearchTask) -> SearchResult:
        """Return the best network found; Ctrl-C ends the search, and the best one so far is returned."""
        return _BothWalks(self, task).run()


class _BothWalks(OrderWalk):
    """Orders that begin and end with a search between classes."""

    n_random = 0  # the first order is that of the best class

    def _starts(self) -> None:
        self._climb_classes(self._task.start)
        super()._starts()
        before = -np.inf
        while self.score > before + LEAST_GAIN and not self.out_of_time:
            before = self.score
            self._climb_classes(self.arcs)

    def _climb_classes(self, start: Marks) -> None:
        """Search between classes from a graph on, and then over orders from where that ended."""
        walk = ClassWalk(self._task, start)
        try:
            for _ in walk.gains():
                if self.out_of_time:
                    break
        finally:  # what Ctrl-C leaves is a network too
            moves = walk.moves
            parents = moves.parents()
            order = list(dag.topological_order(parents))
            if self.some_candidates:
                self._widen(parents)
            if moves.score() > self.score + LEAST_GAIN:
                arcs = np.zeros_like(start)
                for child, above in enumerate(parents):
                    arcs[above, child] = True
                self.keep(arcs, moves.score(), order)
        self.climb(order)
