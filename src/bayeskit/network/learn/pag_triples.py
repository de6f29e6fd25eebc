"""RFCI: v-structures and discriminating paths that more tests must allow, in place of all possible separators."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.methods.pc import Separators
from bayeskit.network.learn.pag import ARROW, CIRCLE, EdgeMarks
from bayeskit.network.learn.pag_rules import MarkRules
from bayeskit.network.learn.tests_of_independence import IndependenceTest

Triple = tuple[int, int, int]


class CheckedTriples:
    """The orientation of RFCI (Colombo et al. 2012, algorithms 4.4 and 4.5).

    Without the search through all possible separators an edge may stand that is none in truth, and a rule may then say
    what is wrong. So a triple a, c, b decides only if a and c, and c and b, depend on each other given what separates a
    and b; else the edge is removed. The edges of a discriminating path are tested likewise.

    Parameters
    ----------
    tests : IndependenceTest
        The tests.
    near : bool array of shape (n, n)
        Which pairs are joined; edges are removed in place.
    separators : dict of (a, b) to list of int
        What separates the others; added to in place.
    blank : callable
        Gives the marks before any rule.
    """

    def __init__(
        self,
        tests: IndependenceTest,
        near: NDArray[np.bool_],
        separators: Separators,
        blank: Callable[[NDArray[np.bool_]], EdgeMarks],
    ) -> None:
        self._tests, self._near, self._separators, self._blank = tests, near, separators, blank
        self._marks: EdgeMarks | None = None

    def marks_by_rules(self) -> EdgeMarks:
        """Return the marks that triples and rules decide."""
        n = len(self._near)
        unshielded = [
            (a, c, b)
            for c in range(n)
            for a, b in combinations(np.flatnonzero(self._near[c]).tolist(), 2)
            if not self._near[a, b]
        ]
        triples = self._checked(unshielded)
        marks = self._blank(self._near)
        self._marks = marks
        self._orient(triples)
        MarkRules(marks, self._separators, self._check_path).apply()
        return marks

    def _checked(self, triples: Iterable[Triple]) -> list[Triple]:
        """Return the triples that may decide, after edges that a test denies are removed."""
        waiting, kept = deque(triples), list[Triple]()
        near = self._near
        while waiting:
            a, c, b = waiting.popleft()
            if not (near[a, c] and near[c, b]) or near[a, b] or (a, b) not in self._separators:
                continue
            given = [z for z in self._separators[a, b] if z != c]
            apart = [end for end in (a, b) if self._tests.p_value(end, c, given) > self._tests.alpha]
            for end in apart:
                waiting.extend(self._remove(end, c, given))
            if not apart:
                kept.append((a, c, b))
        return [(a, c, b) for a, c, b in kept if near[a, c] and near[c, b]]

    def _remove(self, x: int, y: int, given: list[int]) -> list[Triple]:
        """Remove an edge by the smallest subset that separates it; return the triangles that this opens."""
        pair = min(x, y), max(x, y)
        self._separators[pair] = self._smallest(*pair, given) or []
        self._near[x, y] = self._near[y, x] = False
        if self._marks is not None:
            self._marks[x, y] = self._marks[y, x] = 0
        return [(pair[0], z, pair[1]) for z in np.flatnonzero(self._near[x] & self._near[y]).tolist()]

    def _smallest(self, x: int, y: int, given: list[int]) -> list[int] | None:
        """Return the smallest subset that separates x and y, or None."""
        for size in range(len(given) + 1):
            for some in combinations(sorted(given), size):
                if self._tests.p_value(x, y, some) > self._tests.alpha:
                    return list(some)
        return None

    def _orient(self, triples: Iterable[Triple]) -> None:
        assert self._marks is not None
        for a, c, b in triples:
            if c not in self._separators[a, b]:
                for end in (a, b):
                    if self._marks[end, c] == CIRCLE:
                        self._marks[end, c] = ARROW

    def _check_path(self, path: list[int]) -> bool:
        """Return whether all edges of a discriminating path stand tests; remove those that do not."""
        d, c = path[0], path[-1]
        between = self._separators.get((min(d, c), max(d, c)), [])
        opened = []
        for x, y in pairwise(path):
            given = [z for z in between if z not in (x, y)]
            if self._smallest(min(x, y), max(x, y), given) is not None:
                opened += self._remove(x, y, given)
        if opened:
            self._orient(self._checked(opened))
        return all(self._near[x, y] for x, y in pairwise(path))
