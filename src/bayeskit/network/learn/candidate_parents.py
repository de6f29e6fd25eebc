"""Candidate parents: where there are many variables, which of them a search tries as parents of each."""

from __future__ import annotations

from time import monotonic

from bayeskit.network.learn.climber import parents_of
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.scored_families import ScoredFamilies

# Up to this many variables all are tried; with more, those that say most about the variable alone.
MANY_VARIABLES = 150
# A search over orders counts each candidate of a variable many times over, so it chooses earlier where that takes long:
# at 100,000 rows of alarm it then needs 2 s in the place of 5, and ends at the same score.
_MANY_ROWS, _MANY_OF_MANY_ROWS = 50_000, 20
# How many of those, and how many more of those that say most beside the parents that a first search found.
N_ALONE, N_BESIDE = 15, 8
# Of a pair that says much together and nothing alone, one is sought among so many that score best; the other is any.
N_FIRST = 4
# Beyond so many variables no pairs are sought: each variable is counted with all others so many times over.
MOST_WITH_PAIRS = 3_000
# So often they are chosen anew, beside the parents that were found.
N_WIDENED = 3


def chosen_by_order_search(n_variables: int, n_rows: int) -> bool:
    """Return whether a search over orders tries some of the variables as parents, and not all.

    Examples
    --------
    >>> chosen_by_order_search(37, 10_000), chosen_by_order_search(37, 100_000), chosen_by_order_search(200, 100)
    (False, True, True)
    """
    return n_variables > MANY_VARIABLES or (n_rows > _MANY_ROWS and n_variables > _MANY_OF_MANY_ROWS)


def candidate_parents(families: ScoredFamilies, limits: Constraints, some: bool) -> list[list[int]]:
    """Return which allowed parents of each variable a search tries, without the required ones: all, or some.

    Some are the ones that gain most as its only parent, and those for which it does: one pass over
    all pairs, counted by bits where columns have few states.
    """
    n = len(limits.allowed)
    if not some:
        return parents_of(limits.allowed & ~limits.required)
    return _allowed(_strongest(families, limits, [[] for _ in range(n)], N_ALONE), limits)


def widened(
    families: ScoredFamilies, limits: Constraints, candidates: list[list[int]], parents: list[list[int]]
) -> list[list[int]]:
    """Return more candidates: what gains most beside the parents of a graph, and what it joins in two steps."""
    near: list[set[int]] = [set(above) for above in parents]
    for v, above in enumerate(parents):
        for p in above:
            near[p].add(v)
    wide = _strongest(families, limits, parents, N_BESIDE)
    for v, others in enumerate(wide):
        others.update(candidates[v], near[v], *(near[u] for u in near[v]))
    return _allowed(wide, limits)


def pairs_beside(
    families: ScoredFamilies, limits: Constraints, parents: list[list[int]], end: float
) -> list[list[list[int]]]:
    """Return pairs of variables that gain as parents together, and more than either: each may say nothing alone.

    None are sought after the time ``end``.
    """
    may = limits.allowed & ~limits.required
    return [
        families.strongest_pairs(v, above, may[:, v], N_FIRST) if monotonic() < end else []
        for v, above in enumerate(parents)
    ]


def _strongest(families: ScoredFamilies, limits: Constraints, parents: list[list[int]], most: int) -> list[set[int]]:
    chosen: list[set[int]] = [set() for _ in parents]
    for v, above in enumerate(parents):
        either_way = limits.allowed[:, v] | limits.allowed[v]
        for other in families.strongest(v, above, either_way, most):
            chosen[v].add(other)
            chosen[other].add(v)
    return chosen


def _allowed(chosen: list[set[int]], limits: Constraints) -> list[list[int]]:
    allowed, required = limits.allowed, limits.required
    return [[p for p in sorted(some) if allowed[p, v] and not required[p, v]] for v, some in enumerate(chosen)]
