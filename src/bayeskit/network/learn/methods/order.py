"""Order search: the order of the variables whose network scores best, one variable moved at a time."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import chain
from time import monotonic
from typing import Any

import numpy as np

from bayeskit._kernels import BestMoves
from bayeskit.errors import NetworkError
from bayeskit.estimate.history import History
from bayeskit.network.learn.candidate_parents import (
    MANY_VARIABLES,
    MOST_WITH_PAIRS,
    N_WIDENED,
    candidate_parents,
    chosen_by_order_search,
    pairs_beside,
    widened,
)  # fmt: skip
from bayeskit.network.learn.climber import LEAST_GAIN, parents_of
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask, refuse_below

# A few orders at random find the region, and changes of the best one its top: on samples of insurance (1,000 and 10,000
# rows) and alarm (1,000) changes of one order reached more than ten random ones; on alarm with 10,000 it was less.
_RANDOM_ORDERS = 5
# (the most rows, the starts): a start costs as much as there are rows, and with many the first ends near the top.
_RESTARTS = ((5_000, 50), (50_000, 10), (np.inf, 1))
_RESTARTS_OF_MANY = 5  # with many variables a sweep takes seconds
# So many variables at most are moved at random before each later start.
_MOVED = 20
# With time left, a search ends after this many starts in a row without a better network.
_PATIENCE = 1000


@dataclass(frozen=True)
class TimedSearch(SearchMethod):
    """The options of searches with starts in turn, which end after some starts or some time.

    Parameters
    ----------
    restarts : int, optional
        How many starts follow the first; by default 50 (10 with more than 5,000 rows, 1 with more than 50,000), or as
        many as ``max_seconds`` allows.
    max_seconds : float, optional
        The time after which the search ends with the best network so far; by default there is no limit.
    """

    restarts: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if self.restarts is not None:
            refuse_below(self, restarts=0)
        seconds: Any = self.max_seconds
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool)
        if seconds is not None and not (number and seconds > 0):
            raise NetworkError(f"max_seconds of {type(self).__name__} must be above 0; got {seconds!r}.")


@dataclass(frozen=True)
class OrderSearch(TimedSearch):
    """Search over orders: each variable is moved to its best place, until no move improves the score.

    The parents of a variable are found among those before it: the best is added while one helps, and then those that do
    not help any more are removed.

    Parameters
    ----------
    restarts : int, optional
        How many starts follow the first; by default 50 (10 with more than 5,000 rows, 1 with more than 50,000), or as
        many as ``max_seconds`` allows. The first five orders are random, later ones are the best so far with some
        variables moved at random.
    max_seconds : float, optional
        The time after which the search ends with the best network so far; by default there is no limit.

    References
    ----------
    Andrews, Ramsey, Sanchez-Romero, Camchong & Kummerfeld (2023), Fast scalable and accurate discovery of DAGs using
    the best order score search and grow-shrink trees, NeurIPS.
    """

    name = "order"

    def search(self, task: SearchTask) -> SearchResult:
        """Return the best network found; Ctrl-C ends the search, and the best one so far is returned."""
        return OrderWalk(self, task).run()


class OrderWalk:
    """An order search in progress: the moves, and the best network so far."""

    n_random = _RANDOM_ORDERS

    def __init__(self, method: TimedSearch, task: SearchTask) -> None:
        self._method, self._task = method, task
        self._rng = np.random.default_rng(task.random_state)
        self._end = np.inf if method.max_seconds is None else monotonic() + method.max_seconds
        limits, self._n = task.limits, len(task.limits.allowed)
        # Each variable may have the required arcs alone, so the best so far is never nothing.
        self.arcs: Marks = limits.required.copy()
        self.order = consistent_order(list(range(self._n)), limits.required)
        self.score = task.families.total(parents_of(self.arcs))
        self.path, self.ends = [self.score], list[float]()
        self.some_candidates = chosen_by_order_search(self._n, task.rows.n_rows)
        self._candidates = candidate_parents(task.families, limits, self.some_candidates)
        self._pairs: list[list[tuple[int, ...]]] = [[] for _ in range(self._n)]
        self._moves = self._moves_among(self._candidates)

    def _moves_among(self, candidates: list[list[int]]) -> BestMoves:
        limits = self._task.limits
        required = parents_of(limits.required)
        return BestMoves(self._task.families.kernel, candidates, required, limits.max_parents, self._pairs)

    def _widen(self, parents: list[list[int]]) -> None:
        """Try as parents, too, what says most beside those of a graph and what stands near in it."""
        self._candidates = widened(self._task.families, self._task.limits, self._candidates, parents)
        self._moves = self._moves_among(self._candidates)

    def _add_pairs(self, parents: list[list[int]]) -> None:
        """Try as parents, too, pairs that say much together beside those of a graph."""
        new = pairs_beside(self._task.families, self._task.limits, parents, self._end)
        self._pairs = [sorted({*old, *map(tuple, found)}) for old, found in zip(self._pairs, new, strict=True)]
        some = zip(self._candidates, self._pairs, strict=True)
        self._candidates = [sorted({*alone, *chain(*pairs)}) for alone, pairs in some]
        self._moves = self._moves_among(self._candidates)

    @property
    def out_of_time(self) -> bool:
        """Whether the time that the method was given is over."""
        return monotonic() >= self._end

    def run(self) -> SearchResult:
        """Climb from one order after another; Ctrl-C ends it."""
        reason, converged = "no move of a variable in the order improves the score", True
        try:
            self._starts()
            if self.out_of_time:
                reason = f"the time of {self._method.max_seconds:g} s is over"
        except KeyboardInterrupt:
            reason, converged = "interrupted; the best network so far is kept", False
        history = History(self._method.name, tuple(self.path), reason, converged, tuple(self.ends))
        return SearchResult(self.arcs, history)

    def _starts(self) -> None:
        most, start, idle = self._method.restarts, 0, 0
        if most is None:
            by_rows = next(starts for rows, starts in _RESTARTS if self._task.rows.n_rows <= rows)
            by_rows = by_rows if self._n <= MANY_VARIABLES else min(by_rows, _RESTARTS_OF_MANY)
            most = by_rows if self._method.max_seconds is None else None
        while (most is None or start <= most) and idle < _PATIENCE and not self.out_of_time:
            before = self.score
            if start < self.n_random:
                order = self._rng.permutation(self._n).tolist()
            else:
                order = list(self.order)
                for _ in range(int(self._rng.integers(2, max(_MOVED, self._n // 20) + 1))):
                    order.insert(int(self._rng.integers(self._n)), order.pop(int(self._rng.integers(self._n))))
            self.climb(order)
            for _ in range(N_WIDENED if start == 0 and self.some_candidates else 0):
                self._widen(parents_of(self.arcs))
                self.climb(self.order)
            if start == 0 and MANY_VARIABLES < self._n <= MOST_WITH_PAIRS:
                self._add_pairs(parents_of(self.arcs))
                self.climb(self.order)
            idle = 0 if self.score > before + LEAST_GAIN else idle + 1
            start += 1

    def climb(self, order: list[int]) -> None:
        """Move variables of an order until no move helps; keep the network where it is the best so far."""
        self._moves.order = consistent_order(order, self._task.limits.required)
        moved = True
        while moved and not self.out_of_time:
            turn = self._rng.permutation(self._n).tolist()
            moved = bool(self._moves.sweep(turn, min(self._end - monotonic(), 1e9)))
        score = self._moves.score()
        if abs(score - self.score) <= LEAST_GAIN:
            self.order = self._moves.order  # another order as good: later starts begin elsewhere
        elif score > self.score:
            arcs = np.zeros_like(self.arcs)
            for child, parents in enumerate(self._moves.parents()):
                arcs[parents, child] = True
            self.keep(arcs, score, self._moves.order)
        self.ends.append(score)
        self.path.append(self.score)
        self._task.report(len(self.path) - 1, self.score, self.arcs)

    def keep(self, arcs: Marks, score: float, order: list[int]) -> None:
        """Take a network as the best so far."""
        self.arcs, self.score, self.order = arcs, score, order


def consistent_order(order: list[int], required: Marks) -> list[int]:
    """Return the order with the required parents of each variable before it, and else as near as it can be.

    Examples
    --------
    >>> consistent_order([0, 1, 2], np.array([[0, 0, 0], [0, 0, 0], [1, 0, 0]], dtype=bool))
    [1, 2, 0]
    """
    if not required.any():
        return order
    rank = {v: i for i, v in enumerate(order)}
    waiting = required.sum(axis=0)
    ready = [rank[v] for v in order if not waiting[v]]
    heapify(ready)
    placed = []
    while ready:
        v = order[heappop(ready)]
        placed.append(v)
        for child in np.flatnonzero(required[v]).tolist():
            waiting[child] -= 1
            if not waiting[child]:
                heappush(ready, rank[child])
    return placed
