"""Greedy equivalence search: arcs are inserted, deleted and turned between classes of equivalent networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bayeskit._kernels import EquivalenceMoves
from bayeskit.estimate.history import History
from bayeskit.network.learn.climber import parents_of
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask


@dataclass(frozen=True)
class GES(SearchMethod):
    """Greedy equivalence search: insert, delete and turn arcs, between classes of equivalent networks; no options.

    A step takes the deletion that gains most, else the turn, else the insertion; the end is a class where none of them
    gains. Lists, tiers and ``max_parents`` hold in each step.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search, JMLR 3: operators Insert and Delete,
    theorems 15 and 17. Hauser & Bühlmann (2012), JMLR 13, for turning. Nazaret & Blei (2024), Extremely greedy
    equivalence search, UAI, for the order of the three.
    """

    name = "ges"
    finds_class = True

    def search(self, task: SearchTask) -> SearchResult:
        """Return the marks of the CPDAG that the search ends in; Ctrl-C ends it where it is."""
        moves = class_moves(task, task.start)
        path, converged = [moves.score()], True
        reason = "no insertion, deletion or turn of an arc improves the score"
        try:
            climb_classes(moves, lambda gain: _report(task, moves, path, gain))
        except KeyboardInterrupt:
            reason, converged = "interrupted; the best network so far is kept", False
        return SearchResult(_marks(moves), History(self.name, tuple(path), reason, converged))


def class_moves(task: SearchTask, start: Marks) -> EquivalenceMoves:
    """Return the changes of classes, beginning with that of a directed graph."""
    limits = task.limits
    allowed, required = parents_of(limits.allowed), parents_of(limits.required)
    return EquivalenceMoves(task.families.kernel, parents_of(start), allowed, required, limits.max_parents)


def climb_classes(moves: EquivalenceMoves, on_gain: Callable[[float], None]) -> None:
    """Make changes, the best first, until none gains."""
    while True:
        kind, gain = moves.step()
        if not kind:
            return
        on_gain(gain)


def _report(task: SearchTask, moves: EquivalenceMoves, path: list[float], gain: float) -> None:
    path.append(path[-1] + gain)
    if task.on_step is not None:
        task.report(len(path) - 1, path[-1], _marks(moves))


def _marks(moves: EquivalenceMoves) -> Marks:
    rows = moves.marks()
    marks = np.zeros((len(rows), len(rows)), dtype=bool)
    for a, points_to in enumerate(rows):
        marks[a, points_to] = True
    return marks
