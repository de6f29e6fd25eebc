"""PC-stable: a test of independence removes an edge, v-structures and Meek's rules direct what is left."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayeskit.estimate.history import History
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.pdag import meek
from bayeskit.network.learn.search_method import OnStep, SearchMethod, SearchResult, SearchTask, refuse_below
from bayeskit.network.learn.tests_of_independence import DataTests, IndependenceTest, TestName, check_test

Separators = dict[tuple[int, int], list[int]]


@dataclass(frozen=True)
class PC(SearchMethod):
    """PC-stable: tests of independence remove edges; v-structures and Meek's rules direct what is left.

    Within a level of equally large conditioning sets the neighbours are those at its start, so the order of the
    columns does not matter for the skeleton.

    Parameters
    ----------
    alpha : float, default 0.01
        The level of the tests.
    test : {"g2", "chi2", "mi"}, default "g2"
        The test of independence; see the theory page.
    max_condition : int, optional
        The largest conditioning set; by default as many as there are neighbours.

    References
    ----------
    Spirtes, Glymour & Scheines (2000), Causation, Prediction, and Search. Colombo & Maathuis (2014), Order-independent
    constraint-based causal structure learning, JMLR 15.
    """

    name = "pc"
    finds_class = True

    alpha: float = 0.01
    test: TestName = "g2"
    max_condition: int | None = None

    def __post_init__(self) -> None:
        check_test(self.test, self.alpha)
        if self.max_condition is not None:
            refuse_below(self, max_condition=0)

    def search(self, task: SearchTask) -> SearchResult:
        """Return the marks of a CPDAG; after Ctrl-C, those of the last whole level."""
        return self.search_with(DataTests(task.rows, self.test, self.alpha), task.limits, task.report)

    def search_with(self, tests: IndependenceTest, limits: Constraints, report: OnStep | None = None) -> SearchResult:
        """Search with tests of any kind, such as d-separation in a known graph."""
        near, separators, path, whole = learn_skeleton(tests, limits, self.max_condition, report)
        marks = near.copy()
        _background(marks, limits)
        _colliders(marks, separators, limits)
        meek(marks)
        reason = "no larger conditioning set is left to try" if whole else "interrupted; the edges left so far are kept"
        return SearchResult(marks, History(self.name, tuple(path), reason, whole))


def learn_skeleton(
    tests: IndependenceTest, limits: Constraints, max_condition: int | None, on_step: OnStep | None
) -> tuple[NDArray[np.bool_], Separators, list[float], bool]:
    """Return which variables stay joined, what separates the others, edges after each level, and whether all is done.

    Ctrl-C after the sets of one variable keeps the edges of the last complete level; before, nearly all pairs are
    joined.
    """
    near = limits.allowed | limits.allowed.T
    fixed = limits.required | limits.required.T
    separators: Separators = {}
    path, size = [float(near.sum() // 2)], 0
    while max_condition is None or size <= max_condition:
        pairs = list(zip(*(side.tolist() for side in np.nonzero(np.triu(near & ~fixed))), strict=True))
        left, right = _sides(near, pairs), _sides(near, [(y, x) for x, y in pairs])
        if not any(len(side) >= size for side in (*left, *right)):
            break
        try:
            for (x, y), separation in zip(pairs, tests.level(pairs, left, right, size), strict=True):
                if separation.separated:
                    near[x, y] = near[y, x] = False
                    separators[x, y] = separation.given
            path.append(float(near.sum() // 2))
            size += 1
            if on_step is not None:
                on_step(size, path[-1], near)
        except KeyboardInterrupt:
            if size < 2:
                raise
            return near, separators, path, False
    return near, separators, path, True


def _sides(near: NDArray[np.bool_], pairs: list[tuple[int, int]]) -> list[list[int]]:
    """Return the neighbours of the first of each pair, without the second."""
    return [[z for z in np.flatnonzero(near[x]).tolist() if z != y] for x, y in pairs]


def _background(marks: NDArray[np.bool_], limits: Constraints) -> None:
    """Direct the edges by lists and tiers."""
    one_way = marks & ~limits.allowed
    marks &= ~one_way
    for a, b in zip(*np.nonzero(limits.required), strict=True):
        marks[b, a] = False


def _colliders(marks: NDArray[np.bool_], separators: Separators, limits: Constraints) -> None:
    """Make a → c ← b of a — c — b, where a and b are separated by a set without c."""
    n = len(marks)
    joined = marks | marks.T
    for c in range(n):
        for a, b in combinations(np.flatnonzero(joined[c]).tolist(), 2):
            if joined[a, b] or c in separators.get((min(a, b), max(a, b)), [c]):
                continue
            # Tests may contradict each other: an arc that points away already is not turned.
            if marks[a, c] and marks[b, c] and limits.allowed[a, c] and limits.allowed[b, c]:
                marks[c, a] = marks[c, b] = False
