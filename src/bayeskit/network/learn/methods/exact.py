"""Exact search: the network of the highest score of all, by dynamic programming over sets of variables."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import floor, log2

import numpy as np

from bayeskit._kernels import best_sinks
from bayeskit.errors import TooLargeError
from bayeskit.estimate.history import History
from bayeskit.network.learn.climber import LEAST_GAIN, parents_of
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.methods.hill_climb import HillClimb
from bayeskit.network.learn.scored_families import ScoredFamilies
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask

# 2^24 sets of 25 variables are beyond memory; 22 take half a gigabyte and some minutes.
MOST_VARIABLES = 22


@dataclass(frozen=True)
class Exact(SearchMethod):
    """The network of the highest score of all that the constraints allow, for up to about 20 columns; no options.

    References
    ----------
    Silander & Myllymäki (2006), A simple approach for finding the globally optimal Bayesian network structure, UAI.
    de Campos & Ji (2011), Efficient structure learning of Bayesian networks using constraints, JMLR 12, for the most
    parents that BIC can pay for.
    """

    name = "exact"

    def search(self, task: SearchTask) -> SearchResult:
        """Return a graph of the highest score; on Ctrl-C, that of hill-climbing."""
        n = len(task.limits.allowed)
        need = n * 2.0 ** (n - 1) * 12
        if n > MOST_VARIABLES or need > task.max_bytes:
            raise TooLargeError(
                f"exact search over {n} variables needs tables of all their sets ({need / 2**30:.3g} GiB); it is meant "
                f"for up to about 20. Use method='tabu' with restarts, or fewer columns."
            )
        try:
            arcs = _best_network(task)
        except KeyboardInterrupt:
            # Nothing is known before the end, and hill-climbing takes a moment beside it.
            climbed = HillClimb().search(replace(task, start=task.limits.required, random_state=0, on_step=None))
            reason = "interrupted; the network of hill-climbing is kept, which may not be the best"
            return SearchResult(climbed.marks, History(self.name, climbed.history.objective[-1:], reason, False))
        total = task.families.total(parents_of(arcs))
        return SearchResult(arcs, History(self.name, (total,), "no network has a higher score", True))


def _best_network(task: SearchTask) -> Marks:
    scores, limits = task.families, task.limits
    n, most = len(limits.allowed), _most_parents(scores, limits)
    best, chosen = [], []
    for v in range(n):
        required = np.flatnonzero(limits.required[:, v]).tolist()
        free = [i for i in range(n) if i != v]
        candidates = [i for i in free if limits.allowed[i, v] and i not in required]
        score, subset = scores.best_subsets(v, candidates, required, max(0, most - len(required)))
        best.append(_over_all(score, candidates, required, free))
        chosen.append((subset, candidates, required))
        task.report(v + 1, float("nan"))  # there is no graph before the end
    sinks = best_sinks(best, n)
    arcs = np.zeros((n, n), dtype=bool)
    left = (1 << n) - 1
    while left:
        v = int(sinks[left])
        left &= ~(1 << v)
        subset, candidates, required = chosen[v]
        there = sum(1 << k for k, i in enumerate(candidates) if left >> i & 1)
        above = [i for k, i in enumerate(candidates) if int(subset[there]) >> k & 1]
        arcs[_needed(scores, v, above, required) + required, v] = True
    return arcs


def _needed(scores: ScoredFamilies, v: int, above: list[int], required: list[int]) -> list[int]:
    """Return the parents without those that gain nothing, such as a column of one value: of equals the smaller."""
    kept, now = list(above), scores.local(v, [*above, *required])
    for i in above:
        fewer = [u for u in kept if u != i]
        if (score := scores.local(v, [*fewer, *required])) >= now - LEAST_GAIN:
            kept, now = fewer, score
    return kept


def _most_parents(scores: ScoredFamilies, limits: Constraints) -> int:
    if scores.score.name != "bic" or scores.rows.weight is not None or scores.rows.n_rows < 8:
        return limits.max_parents
    n = scores.rows.n_rows
    return min(limits.max_parents, floor(log2(2 * n / np.log(n))) + 1)


def _over_all(
    score: np.ndarray[tuple[int], np.dtype[np.float64]], candidates: list[int], required: list[int], free: list[int]
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the best score for each set of all other variables, where ``score`` is over the candidates only."""
    sets = np.arange(1 << len(free), dtype=np.int64)
    place = np.zeros(len(sets), dtype=np.int64)
    for k, i in enumerate(candidates):
        place |= (sets >> free.index(i) & 1) << k
    best = score[place]
    for i in required:
        best[(sets >> free.index(i) & 1) == 0] = -np.inf
    return np.ascontiguousarray(best)
