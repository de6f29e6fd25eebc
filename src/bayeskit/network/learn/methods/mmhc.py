"""MMHC: tests choose candidate arcs (max-min parents and children), hill-climbing chooses among them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayeskit.estimate.history import History
from bayeskit.network.learn.climber import parents_of
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.methods.hill_climb import HillClimb
from bayeskit.network.learn.search_method import LocalSearch, SearchResult, SearchTask
from bayeskit.network.learn.tests_of_independence import DataTests, IndependenceTest, TestName, check_test

# Larger conditioning sets leave too few rows for each configuration.
MOST_GIVEN = 3


@dataclass(frozen=True)
class MMHC(LocalSearch):
    """Max-min hill-climbing: tests choose candidate arcs, and hill-climbing chooses among them.

    Parameters
    ----------
    alpha : float, default 0.01
        The level of the tests.
    test : {"g2", "chi2", "mi"}, default "g2"
        The test of independence; see the theory page.
    restarts : int, default 0
        How often the climb begins again from the best graph so far, changed at random.
    perturb : int, default 10
        The number of random changes before each restart.
    start : BayesianNetwork, optional
        The graph to begin with; by default the empty graph.

    References
    ----------
    Tsamardinos, Brown & Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.
    """

    name = "mmhc"

    alpha: float = 0.01
    test: TestName = "g2"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_test(self.test, self.alpha)

    def search(self, task: SearchTask) -> SearchResult:
        """Return the graph that hill-climbing finds among the arcs that the tests leave."""
        try:
            candidates = neighbours(DataTests(task.rows, self.test, self.alpha), task.limits)
        except KeyboardInterrupt:
            reason = "interrupted while tests chose the candidates; the graph of the start is kept"
            total = task.families.total(parents_of(task.start))
            return SearchResult(task.start, History(self.name, (total,), reason, False))
        limits = task.limits.only(candidates)
        climb = HillClimb(restarts=self.restarts, perturb=self.perturb)
        result = climb.search(task.within(limits, task.start & limits.allowed))
        return SearchResult(result.marks, replace(result.history, method=self.name))


def neighbours(tests: IndependenceTest, limits: Constraints) -> NDArray[np.bool_]:
    """Return which pairs may be joined: each is among the parents and children of the other."""
    n = len(limits.allowed)
    possible = limits.allowed | limits.allowed.T
    p = _unconditional(tests, possible)
    near = np.zeros((n, n), dtype=bool)
    known: dict[tuple[int, int, tuple[int, ...]], float] = {}
    for x in range(n):
        # A test given more variables only makes the greatest p greater, so that the others are out for good.
        dependent = np.flatnonzero(possible[x] & (p[x] <= tests.alpha)).tolist()
        near[x, _parents_and_children(tests, x, {y: float(p[x, y]) for y in dependent}, known)] = True
    return near & near.T


def _unconditional(tests: IndependenceTest, possible: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return p of each pair given nothing, (n, n); NaN where the pair is not possible."""
    p = np.full(possible.shape, np.nan)
    for x in range(len(p)):
        others = [y for y in np.flatnonzero(possible[x]).tolist() if y > x]
        none: list[list[int]] = [[] for _ in others]
        for y, separation in zip(others, tests.level([(x, y) for y in others], none, none, 0), strict=True):
            p[x, y] = p[y, x] = separation.p
    return p


def _parents_and_children(
    tests: IndependenceTest,
    x: int,
    worst: dict[int, float],
    known: dict[tuple[int, int, tuple[int, ...]], float],
) -> list[int]:
    """Choose among the variables that depend on x; ``worst`` begins with p of each given nothing."""
    alone = dict(worst)

    def p_value(y: int, given: tuple[int, ...]) -> float:
        if not given:
            return alone[y]
        key = (min(x, y), max(x, y), given)
        if key not in known:
            known[key] = tests.p_value(key[0], key[1], given)
        return known[key]

    # worst[y]: the greatest p of y over the subsets of what was chosen so far; a new member adds the subsets with it.
    chosen: list[int] = []
    while True:
        open_ones = {y: p for y, p in worst.items() if p <= tests.alpha and y not in chosen}
        if not open_ones:
            break
        new = min(open_ones, key=lambda y: (open_ones[y], y))
        before, chosen = chosen, [*chosen, new]
        for y in open_ones:
            if y != new:
                for size in range(min(len(before), MOST_GIVEN - 1) + 1):
                    for some in combinations(before, size):
                        if worst[y] <= tests.alpha:
                            worst[y] = max(worst[y], p_value(y, tuple(sorted((*some, new)))))
    for y in list(chosen):
        rest = [z for z in chosen if z != y]
        sets = (given for size in range(min(len(rest), MOST_GIVEN) + 1) for given in combinations(sorted(rest), size))
        if any(p_value(y, given) > tests.alpha for given in sets):
            chosen.remove(y)
    return chosen
