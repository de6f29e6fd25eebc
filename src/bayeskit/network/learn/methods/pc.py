"""PC-stable: a test of independence removes an edge, v-structures and Meek's rules direct what is left."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, groupby
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.estimate.history import History
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.network.learn.mixed_rows import MixedRows
from bayeskit.network.learn.mixed_tests import MixedTests
from bayeskit.network.learn.pdag import meek
from bayeskit.network.learn.search_method import Marks, OnStep, SearchMethod, SearchResult, SearchTask, refuse_below
from bayeskit.network.learn.tests_of_independence import DataTests, IndependenceTest, TestName, check_test

Separators = dict[tuple[int, int], list[int]]
# Pairs whose neighbours are written down at once.
_PAIRS_AT_A_TIME = 2000
# The largest sets that are tried when colliders are decided: larger ones leave few rows for each configuration.
_MOST_GIVEN = 4
# p-values that differ by less are equal.
_EQUAL = 1e-12


@dataclass(frozen=True)
class PC(SearchMethod):
    """PC-stable: tests of independence remove edges; v-structures and Meek's rules direct what is left.

    Within a level of equally large conditioning sets the neighbours are those at its start, and a v-structure is
    decided by the separating set with the largest p, the clearest first: the order of the columns does not matter.
    What contradicts a clearer one is listed in ``conflicts`` of the result.

    Parameters
    ----------
    alpha : float, default 0.01
        The level of the tests.
    test : {"g2", "chi2", "mi"}, default "g2"
        The test of independence; see the theory page. With real variables ("g2") Student's test of the partial
        correlation, and the likelihood ratio of conditional Gaussian distributions where states are involved.
    max_condition : int, optional
        The largest conditioning set; by default as many as there are neighbours.

    References
    ----------
    Spirtes, Glymour & Scheines (2000), Causation, Prediction, and Search. Colombo & Maathuis (2014), Order-independent
    constraint-based causal structure learning, JMLR 15. Ramsey (2016), Improving accuracy and scalability of the PC
    algorithm by maximizing p-value.
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

    def begin(self, names: Sequence[str], limits: Constraints) -> Marks:
        """Return the required arcs; refuse a largest number of parents, which tests of pairs cannot keep."""
        if limits.max_parents < len(names) - 1:
            raise NetworkError(
                f"method 'pc' tests pairs and cannot keep max_parents ({limits.max_parents}); leave it out, give PC a "
                "smaller alpha or max_condition, or use method 'tabu' or 'mmhc'."
            )
        return super().begin(names, limits)

    def search(self, task: SearchTask) -> SearchResult:
        """Return the marks of a CPDAG; after Ctrl-C, those of the last whole level."""
        rows: DiscreteRows | MixedRows = task.rows
        tests = MixedTests(rows, self.alpha) if isinstance(rows, MixedRows) else DataTests(rows, self.test, self.alpha)
        return self.search_with(tests, task.limits, task.report)

    def search_with(self, tests: IndependenceTest, limits: Constraints, report: OnStep | None = None) -> SearchResult:
        """Search with tests of any kind, such as d-separation in a known graph."""
        near, separators, path, whole = learn_skeleton(tests, limits, self.max_condition, report)
        marks = near.copy()
        _background(marks, limits)
        conflicts = _direct_colliders(marks, collider_votes(near, separators, tests), limits)
        meek(marks)
        reason = "no larger conditioning set is left to try" if whole else "interrupted; the edges left so far are kept"
        return SearchResult(marks, History(self.name, tuple(path), reason, whole), conflicts=conflicts)


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
        degree = near.sum(axis=0)
        if not any(max(degree[x], degree[y]) > size for x, y in pairs):
            break
        try:
            separated = separated_pairs(tests, pairs, size, partial(_neighbours, near))
            for x, y in separated:
                near[x, y] = near[y, x] = False
            separators |= separated
            path.append(float(near.sum() // 2))
            size += 1
            if on_step is not None:
                on_step(size, path[-1], near)
        except KeyboardInterrupt:
            if size < 2:
                raise
            return near, separators, path, False
    return near, separators, path, True


def separated_pairs(
    tests: IndependenceTest, pairs: list[tuple[int, int]], size: int, candidates: Callable[[int, int], list[int]]
) -> Separators:
    """Return what separates which of the pairs, by sets of this size; some pairs at a time, which bounds the memory.

    ``candidates(x, y)`` are the variables on the side of x whose subsets are tried for the pair x, y.
    """
    separators: Separators = {}
    for begin in range(0, len(pairs), _PAIRS_AT_A_TIME):
        some = pairs[begin : begin + _PAIRS_AT_A_TIME]
        left = [candidates(x, y) if size else [] for x, y in some]
        right = [candidates(y, x) if size else [] for x, y in some]
        for pair, separation in zip(some, tests.level(some, left, right, size), strict=True):
            if separation.separated:
                separators[pair] = separation.given
    return separators


def _neighbours(near: NDArray[np.bool_], x: int, y: int) -> list[int]:
    return [z for z in np.flatnonzero(near[x]).tolist() if z != y]


def _background(marks: NDArray[np.bool_], limits: Constraints) -> None:
    """Direct the edges by lists and tiers."""
    one_way = marks & ~limits.allowed
    marks &= ~one_way
    for a, b in zip(*np.nonzero(limits.required), strict=True):
        marks[b, a] = False


class Vote(NamedTuple):
    """Whether a — c — b, where a and b are not joined, is a → c ← b; p is that of the clearest separation."""

    p: float
    a: int
    c: int
    b: int
    collider: bool


def collider_votes(near: NDArray[np.bool_], separators: Separators, tests: IndependenceTest) -> list[Vote]:
    """Ask, for each a — c — b, whether c is in the set of neighbours that separates a and b most clearly.

    A pair is removed by the first set that separates it, which the order of columns decides; the one with the largest p
    is the same in any order. Where sets with and without c are equally clear, there is no vote.
    """
    votes = []
    clearest: dict[tuple[int, int], tuple[float, list[set[int]]]] = {}
    for c in range(len(near)):
        for a, b in combinations(np.flatnonzero(near[c]).tolist(), 2):
            if near[a, b] or (a, b) not in separators:
                continue
            if (a, b) not in clearest:
                clearest[a, b] = _clearest_sets(near, a, b, separators[a, b], tests)
            p, sets = clearest[a, b]
            inside = [c in given for given in sets]
            if all(inside) or not any(inside):
                votes.append(Vote(p, a, c, b, not inside[0]))
    return votes


def _clearest_sets(
    near: NDArray[np.bool_], a: int, b: int, known: list[int], tests: IndependenceTest
) -> tuple[float, list[set[int]]]:
    """Return the largest p of a and b given some neighbours of either, and all sets that reach it."""
    tried = {tuple(sorted(known))}
    for side in (a, b):
        around = [z for z in np.flatnonzero(near[side]).tolist() if z not in (a, b)]
        for size in range(min(len(around), _MOST_GIVEN) + 1):
            tried.update(combinations(around, size))
    p = {given: tests.p_value(a, b, given) for given in sorted(tried)}
    top = max(p.values())
    return top, [set(given) for given, each in p.items() if each >= top - _EQUAL]


def _direct_colliders(
    marks: NDArray[np.bool_], votes: list[Vote], limits: Constraints
) -> tuple[tuple[int, int, int], ...]:
    """Make a → c ← b of the votes, the clearest first; return those that contradict a clearer one, or an equal one.

    Equally clear votes for both directions of an edge leave it undirected.
    """
    conflicts = []
    for _, group in groupby(sorted(votes, key=lambda vote: -vote.p), key=lambda vote: round(vote.p / _EQUAL)):
        colliders = [vote for vote in group if vote.collider]
        fitting = [
            vote for vote in colliders
            if marks[vote.a, vote.c] and marks[vote.b, vote.c]
            and limits.allowed[vote.a, vote.c] and limits.allowed[vote.b, vote.c]
        ]  # fmt: skip
        arcs = {(end, vote.c) for vote in fitting for end in (vote.a, vote.b)}
        for vote in colliders:
            against = vote not in fitting or any((vote.c, end) in arcs for end in (vote.a, vote.b))
            if against:
                conflicts.append((vote.a, vote.c, vote.b))
        for a, c in arcs:
            if (c, a) not in arcs:
                marks[c, a] = False
    return tuple(conflicts)
