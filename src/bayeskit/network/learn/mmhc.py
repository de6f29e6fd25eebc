"""MMHC: tests choose candidate arcs (max-min parents and children), hill-climbing chooses among them."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.climb import parents_of
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.hill_climb import Arcs, hill_climb
from bayeskit.network.learn.history import LearningHistory, OnStep
from bayeskit.network.learn.structure_scores import StructureScores
from bayeskit.network.learn.tests_of_independence import IndependenceTest

# Larger conditioning sets leave too few rows for each configuration.
MOST_GIVEN = 3


def mmhc(
    scores: StructureScores,
    tests: IndependenceTest,
    limits: Constraints,
    start: Arcs,
    *,
    restarts: int = 0,
    perturb: int = 10,
    random_state: int = 0,
    on_step: OnStep = None,
) -> tuple[Arcs, LearningHistory]:
    """Return the graph that hill-climbing finds among the arcs that the tests leave.

    References
    ----------
    Tsamardinos, Brown & Aliferis (2006), The max-min hill-climbing Bayesian network structure learning algorithm.
    """
    try:
        candidates = neighbours(tests, limits)
    except KeyboardInterrupt:
        reason = "interrupted while tests chose the candidates; the graph of the start is kept"
        return start, LearningHistory("mmhc", (scores.total(parents_of(start)),), reason, False)
    restricted = limits.only(candidates)
    arcs, history = hill_climb(
        scores, restricted, start & restricted.allowed, restarts=restarts, perturb=perturb,
        random_state=random_state, on_step=on_step,
    )  # fmt: skip
    return arcs, LearningHistory("mmhc", history.objective, history.reason, history.converged, history.starts)


def neighbours(tests: IndependenceTest, limits: Constraints) -> NDArray[np.bool_]:
    """Return which pairs may be joined: each is among the parents and children of the other."""
    n = len(limits.allowed)
    possible = limits.allowed | limits.allowed.T
    found = np.zeros((n, n), dtype=bool)
    known: dict[tuple[int, int, tuple[int, ...]], float] = {}
    for x in range(n):
        found[x, _parents_and_children(tests, x, np.flatnonzero(possible[x]).tolist(), known)] = True
    return found & found.T


def _parents_and_children(
    tests: IndependenceTest, x: int, others: list[int], known: dict[tuple[int, int, tuple[int, ...]], float]
) -> list[int]:
    def p_value(y: int, given: tuple[int, ...]) -> float:
        key = (min(x, y), max(x, y), given)
        if key not in known:
            known[key] = tests.p_value(key[0], key[1], given)
        return known[key]

    # worst[y]: the greatest p of y over the subsets of what was chosen so far; a new member adds the subsets with it.
    worst = {y: p_value(y, ()) for y in others}
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
