"""Greedy equivalence search: insert arcs, then delete arcs, between classes of equivalent networks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from bayeskit.estimate.history import History
from bayeskit.network import dag
from bayeskit.network.learn.climber import LEAST_GAIN
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.pdag import extend_to_dag
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask, refuse_constraints


class _Change(NamedTuple):
    gain: float
    x: int
    y: int
    some: tuple[int, ...]


@dataclass(frozen=True)
class GES(SearchMethod):
    """Greedy equivalence search: insert arcs, then delete arcs, between classes of equivalent networks; no options.

    References
    ----------
    Chickering (2002), Optimal structure identification with greedy search, JMLR 3: operators Insert and Delete,
    theorems 15 and 17.
    """

    name = "ges"
    finds_class = True

    def begin(self, names: Sequence[str], limits: Constraints) -> Marks:
        """Return the empty graph; refuse lists and tiers."""
        refuse_constraints(self, limits, "moves between classes of networks")
        return super().begin(names, limits)

    def search(self, task: SearchTask) -> SearchResult:
        """Return the marks of the CPDAG that the search ends in; Ctrl-C ends it where it is."""
        scores, limits = task.families, task.limits
        n = len(limits.allowed)
        marks = np.zeros((n, n), dtype=bool)
        path, converged = [scores.total([[]] * n)], True
        reason = "no insertion or deletion of an arc improves the score"
        try:
            for insert in (True, False):
                while (change := _best(scores, marks, limits.max_parents, insert)) is not None:
                    marks = _class_of(_changed(marks, change, insert))
                    path.append(path[-1] + change.gain)
                    task.report(len(path) - 1, path[-1], marks)
        except KeyboardInterrupt:
            reason, converged = "interrupted; the best network so far is kept", False
        return SearchResult(marks, History(self.name, tuple(path), reason, converged))


def _best(scores: ScoredFamilies, marks: Marks, max_parents: int, insert: bool) -> _Change | None:
    n, best = len(marks), None
    joined, arcs, edges = marks | marks.T, marks & ~marks.T, marks & marks.T
    for y in range(n):
        above = set(np.flatnonzero(arcs[:, y]).tolist())
        beside = set(np.flatnonzero(edges[:, y]).tolist())
        if insert:
            for x in np.flatnonzero(~joined[:, y]).tolist():
                if x != y:
                    best = _better(best, _inserts(scores, marks, joined, x, y, above, beside, max_parents, best))
        else:
            for x in np.flatnonzero(marks[:, y]).tolist():
                best = _better(best, _deletes(scores, joined, x, y, above, beside, best))
    return best


def _better(best: _Change | None, changes: Iterator[_Change]) -> _Change | None:
    for change in changes:
        if change.gain > LEAST_GAIN and (best is None or change.gain > best.gain):
            best = change
    return best


def _cliques(joined: Marks, items: list[int], inside: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """Yield all cliques."""
    yield inside
    for k, new in enumerate(items):
        if all(joined[new, old] for old in inside):
            yield from _cliques(joined, items[k + 1 :], (*inside, new))


def _inserts(
    scores: ScoredFamilies,
    marks: Marks,
    joined: Marks,
    x: int,
    y: int,
    above: set[int],
    beside: set[int],
    most: int,
    best: _Change | None,
) -> Iterator[_Change]:
    near = {z for z in beside if joined[z, x]}
    if not all(joined[a, b] for a, b in combinations(near, 2)):
        return
    for some in _cliques(joined, [z for z in sorted(beside - near) if all(joined[z, old] for old in near)]):
        blocked = near | set(some)
        family = sorted(blocked | above)
        if len(family) + 1 > most:
            continue
        gain = scores.local(y, sorted([*family, x])) - scores.local(y, family)
        # The walk along all ways costs more than the score, so it comes last.
        if gain > (LEAST_GAIN if best is None else best.gain) and not _has_path(marks, y, x, blocked):
            yield _Change(gain, x, y, some)


def _deletes(
    scores: ScoredFamilies, joined: Marks, x: int, y: int, above: set[int], beside: set[int], best: _Change | None
) -> Iterator[_Change]:
    near = {z for z in beside if joined[z, x] and z != x}
    for kept in _cliques(joined, sorted(near)):
        family = sorted({*kept, *above} - {x})
        gain = scores.local(y, family) - scores.local(y, sorted([*family, x]))
        if best is None or gain > best.gain:
            yield _Change(gain, x, y, tuple(sorted(near - set(kept))))


def _has_path(marks: Marks, start: int, goal: int, blocked: set[int]) -> bool:
    """Return whether a path from start to goal never goes against an arc and avoids the blocked nodes."""
    seen, stack = {start}, [start]
    while stack:
        for b in np.flatnonzero(marks[stack.pop()]).tolist():
            if b == goal:
                return True
            if b not in seen and b not in blocked:
                seen.add(b)
                stack.append(b)
    return False


def _changed(marks: Marks, change: _Change, insert: bool) -> Marks:
    new, x, y = marks.copy(), change.x, change.y
    if insert:
        new[x, y] = True
        for z in change.some:
            new[y, z] = False
        return new
    both = marks & marks.T
    new[x, y] = new[y, x] = False
    for z in change.some:
        new[z, y] = False
        if both[x, z]:
            new[z, x] = False
    return new


def _class_of(marks: Marks) -> Marks:
    """Return the CPDAG of the class that a partly directed graph stands for."""
    arcs, edges = dag.cpdag(extend_to_dag(marks))
    new = np.zeros_like(marks)
    for a, b in arcs:
        new[a, b] = True
    for a, b in edges:
        new[a, b] = new[b, a] = True
    return new
