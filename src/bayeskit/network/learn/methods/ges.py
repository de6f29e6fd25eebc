"""Greedy equivalence search: arcs are inserted, deleted and turned between classes of equivalent networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from bayeskit._kernels import EquivalenceMoves
from bayeskit.estimate.history import History
from bayeskit.network.learn.candidate_parents import MANY_VARIABLES, N_WIDENED, candidate_parents, widened
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
        walk = ClassWalk(task, task.start)
        path, converged = [walk.moves.score()], True
        reason = "no insertion, deletion or turn of an arc improves the score"
        try:
            for gain in walk.gains():
                path.append(path[-1] + gain)
                if task.on_step is not None:
                    task.report(len(path) - 1, path[-1], _marks(walk.moves))
        except KeyboardInterrupt:
            reason, converged = "interrupted; the best network so far is kept", False
        return SearchResult(_marks(walk.moves), History(self.name, tuple(path), reason, converged))


class ClassWalk:
    """A search between classes in progress, from the class of a directed graph on."""

    def __init__(self, task: SearchTask, start: Marks) -> None:
        self._task = task
        self._some = len(start) > MANY_VARIABLES
        self._candidates = candidate_parents(task.families, task.limits, self._some)
        self.moves = self._moves_from(parents_of(start))

    def _moves_from(self, parents: list[list[int]]) -> EquivalenceMoves:
        limits, required = self._task.limits, parents_of(self._task.limits.required)
        # What the start has is allowed, chosen as a candidate or not.
        allowed = [sorted({*some, *above, *start}) for some, above, start in
                   zip(self._candidates, required, parents, strict=True)]  # fmt: skip
        return EquivalenceMoves(self._task.families.kernel, parents, allowed, required, limits.max_parents)

    def gains(self) -> Iterator[float]:
        """Make changes, the best first, until none gains; yield what each gains."""
        yield from self._climb()
        for _ in range(N_WIDENED if self._some else 0):
            parents = self.moves.parents()
            self._candidates = widened(self._task.families, self._task.limits, self._candidates, parents)
            self.moves = self._moves_from(parents)
            yield from self._climb()

    def _climb(self) -> Iterator[float]:
        while (step := self.moves.step())[0]:
            yield step[1]


def _marks(moves: EquivalenceMoves) -> Marks:
    rows = moves.marks()
    marks = np.zeros((len(rows), len(rows)), dtype=bool)
    for a, points_to in enumerate(rows):
        marks[a, points_to] = True
    return marks
