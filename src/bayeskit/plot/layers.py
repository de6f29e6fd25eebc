"""Layers of a directed acyclic graph: which row each node stands in, and in which order, with few crossings.

The way of Sugiyama, Tagawa & Toda (1981) with the refinements of Gansner et al. (1993): rows that make the arcs as
short as possible in total, invisible nodes where an arc passes a row, medians and swaps against crossings.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

Arc = tuple[int, int]

# Sweeps without a better order before a start is given up, and starts for small and for large graphs.
PATIENCE = 8
STARTS_SMALL, STARTS_LARGE, SMALL = 24, 2, 400


@dataclass
class Layers:
    """Rows of nodes from top to bottom, each in order.

    Nodes from ``n`` on are invisible, one for each row that an arc passes. ``chains[k]`` is the way of arc k: its
    start, the invisible nodes and its end.
    """

    n: int
    rows: list[list[int]]
    chains: list[list[int]]
    crossings: int

    @property
    def segments(self) -> list[Arc]:
        """The pieces of arcs between one row and the next, each once."""
        return list(dict.fromkeys((a, b) for chain in self.chains for a, b in pairwise(chain)))


def layer(n: int, arcs: Sequence[Arc]) -> Layers:
    """Return rows and an order with few crossings for a graph of n nodes; arcs go from higher rows to lower ones.

    Examples
    --------
    >>> layer(4, [(0, 2), (1, 2), (2, 3)]).rows
    [[0, 1], [2], [3]]
    """
    rank = rank_nodes(n, arcs)
    chains, ranks = _chains(n, arcs, rank)
    height = max(ranks) + 1
    above: list[list[int]] = [[] for _ in ranks]
    below: list[list[int]] = [[] for _ in ranks]
    for chain in chains:
        for a, b in pairwise(chain):
            below[a].append(b)
            above[b].append(a)
    best: list[list[int]] = []
    fewest = -1
    for start in range(STARTS_SMALL if len(ranks) <= SMALL else STARTS_LARGE):
        rows = _first_order(ranks, height, above, below, start)
        crossings = _improve(rows, above, below)
        if fewest < 0 or crossings < fewest:
            best, fewest = rows, crossings
        if fewest == 0:
            break
    return Layers(n, best, chains, fewest)


def rank_nodes(n: int, arcs: Sequence[Arc]) -> list[int]:
    """Return the row of each node such that every arc goes down and the arcs' total length is least.

    A linear programme whose matrix is totally unimodular, so that its answer is whole.

    Examples
    --------
    >>> rank_nodes(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    if not arcs:
        return [0] * n
    cost = np.zeros(n)
    for a, b in arcs:
        cost[a] -= 1
        cost[b] += 1
    m = len(arcs)
    rows = np.repeat(np.arange(m), 2)
    columns = np.array(arcs).reshape(-1)
    matrix = coo_array((np.tile([1.0, -1.0], m), (rows, columns)), shape=(m, n)).tocsr()
    solve: Any = linprog  # its stub knows no sparse matrix
    answer = solve(cost, A_ub=matrix, b_ub=-np.ones(m), bounds=(0, n), method="highs")
    ranks = np.rint(answer.x).astype(int)
    return list((ranks - ranks.min()).tolist())


def _chains(n: int, arcs: Sequence[Arc], rank: list[int]) -> tuple[list[list[int]], list[int]]:
    ranks = list(rank)
    chains = []
    for a, b in arcs:
        between = range(rank[a] + 1, rank[b])
        chains.append([a, *range(len(ranks), len(ranks) + len(between)), b])
        ranks.extend(between)
    return chains, ranks


def _first_order(
    ranks: list[int], height: int, above: list[list[int]], below: list[list[int]], start: int
) -> list[list[int]]:
    """Return rows in the order of a walk along the arcs; later starts walk in an order shuffled by their number."""
    order = list(range(len(ranks)))
    rng = random.Random(start)
    if start:
        rng.shuffle(order)
    rows: list[list[int]] = [[] for _ in range(height)]
    seen = [False] * len(ranks)
    for root in sorted(order, key=lambda i: bool(above[i])):
        stack = [root]
        while stack:
            i = stack.pop()
            if seen[i]:
                continue
            seen[i] = True
            rows[ranks[i]].append(i)
            near = [*below[i], *above[i]]
            if start:
                rng.shuffle(near)
            stack.extend(near)
    return rows


def count_crossings(upper: Sequence[int], lower: Sequence[int], below: list[list[int]]) -> int:
    """Return how many pairs of segments cross between two rows.

    Examples
    --------
    >>> count_crossings([0, 1], [2, 3], [[3], [2], [], []])
    1
    """
    place = {node: k for k, node in enumerate(lower)}
    ends: list[int] = []
    crossings = 0
    for node in upper:
        mine = sorted(place[child] for child in below[node])
        for end in mine:
            crossings += len(ends) - bisect_left(ends, end + 1)
        for end in mine:
            ends.insert(bisect_left(ends, end), end)
    return crossings


def _total(rows: list[list[int]], below: list[list[int]]) -> int:
    return sum(count_crossings(upper, lower, below) for upper, lower in pairwise(rows))


def _improve(rows: list[list[int]], above: list[list[int]], below: list[list[int]]) -> int:
    """Sweep down and up by medians, swap neighbours, keep the best order in ``rows``; return its crossings."""
    fewest = _total(rows, below)
    best = [list(row) for row in rows]
    waited = sweep = 0
    while waited < PATIENCE and fewest:
        down = sweep % 2 == 0
        for r in range(1, len(rows)) if down else range(len(rows) - 2, -1, -1):
            fixed = rows[r - 1] if down else rows[r + 1]
            _sort_by_median(rows[r], fixed, above if down else below)
        _swap_neighbours(rows, above, below, ties=sweep % 4 >= 2)
        crossings = _total(rows, below)
        waited += 1
        if crossings < fewest:
            fewest, waited = crossings, 0
            best = [list(row) for row in rows]
        sweep += 1
    rows[:] = best
    return fewest


def _sort_by_median(row: list[int], fixed: list[int], near: list[list[int]]) -> None:
    place = {node: k for k, node in enumerate(fixed)}
    medians = {node: _median(sorted(place[other] for other in near[node])) for node in row}
    # Nodes without a neighbour in the fixed row keep their place; the others fill the rest in the order of medians.
    moving = iter(sorted((node for node in row if medians[node] >= 0), key=lambda node: medians[node]))
    row[:] = [node if medians[node] < 0 else next(moving) for node in row]


def _median(places: list[int]) -> float:
    if not places:
        return -1.0
    middle = len(places) // 2
    if len(places) % 2:
        return float(places[middle])
    if len(places) == 2:
        return (places[0] + places[1]) / 2
    left, right = places[middle - 1] - places[0], places[-1] - places[middle]
    if left + right == 0:
        return (places[middle - 1] + places[middle]) / 2
    return (places[middle - 1] * right + places[middle] * left) / (left + right)


def _swap_neighbours(rows: list[list[int]], above: list[list[int]], below: list[list[int]], ties: bool) -> None:
    """Swap neighbours in a row while that takes crossings away; swapping ties in the first round opens new ways."""
    places = [{node: k for k, node in enumerate(row)} for row in rows]
    better = True
    rounds = 0
    while better and rounds < 20:
        better = False
        rounds += 1
        for r, row in enumerate(rows):
            for k in range(len(row) - 1):
                a, b = row[k], row[k + 1]
                gain = 0
                if r:
                    gain += _gain(above[a], above[b], places[r - 1])
                if r + 1 < len(rows):
                    gain += _gain(below[a], below[b], places[r + 1])
                if gain > 0 or (gain == 0 and ties and rounds == 1):
                    row[k], row[k + 1] = b, a
                    places[r][a], places[r][b] = k + 1, k
                    better = better or gain > 0


def _gain(left: list[int], right: list[int], place: dict[int, int]) -> int:
    """Crossings of the segments of two neighbours, less those after a swap."""
    gain = 0
    for x in left:
        for y in right:
            gain += (place[x] > place[y]) - (place[x] < place[y])
    return gain
