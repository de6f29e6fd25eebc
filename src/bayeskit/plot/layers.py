"""Layers of a directed acyclic graph: the row of each node and the order within rows, with few crossings.

The method of Sugiyama, Tagawa & Toda (1981) with the refinements of Gansner et al. (1993): rows that make the arcs as
short as possible in total, invisible nodes where an arc passes a row, medians and swaps against crossings.
"""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil
from typing import Any

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

Arc = tuple[int, int]

# Sweeps without a better order before a start is given up, and starts for small and for large graphs.
PATIENCE = 8
STARTS_SMALL, STARTS_LARGE, SMALL = 24, 2, 400
WRAPPED_SWEEPS = 8


@dataclass
class Layers:
    """Rows of nodes from top to bottom, each in order.

    Nodes from ``n`` on are invisible, one for each row that an arc passes, or that the arcs of one node pass together.
    ``chains[k]`` is the way of arc k: its start, the invisible nodes and its end. ``wrapped`` says that wide rows were
    wrapped.
    """

    n: int
    rows: list[list[int]]
    chains: list[list[int]]
    crossings: int
    wrapped: bool = False

    @property
    def segments(self) -> list[Arc]:
        """The pieces of arcs between one row and the next, each once."""
        return list(dict.fromkeys((a, b) for chain in self.chains for a, b in pairwise(chain)))


def layer(n: int, arcs: Sequence[Arc], widths: Sequence[float] | None = None, most: float = float("inf")) -> Layers:
    """Return rows and an order with few crossings for a graph of n nodes; arcs go from higher rows to lower ones.

    With ``widths``, a row of nodes that together are wider than ``most`` is wrapped: its nodes take turns in several
    rows, and the arcs of a node run together up to the row where they part.

    Examples
    --------
    >>> layer(4, [(0, 2), (1, 2), (2, 3)]).rows
    [[0, 1], [2], [3]]
    >>> [len(row) for row in layer(7, [(0, i) for i in range(1, 7)], [1.0] * 7, 3.0).rows]
    [1, 4, 3]
    """
    rank = rank_nodes(n, arcs)
    plain = _order(n, arcs, rank)
    if widths is None:
        return plain
    wrapped = _wrap(plain, widths, most)
    return plain if wrapped is None else _wrapped_order(plain, arcs, wrapped)


def _wrap(layers: Layers, widths: Sequence[float], most: float) -> list[int] | None:
    """Return the rows of the nodes when no row may be wider than ``most``; None where none is."""
    rank, top, wraps = [0] * layers.n, 0, False
    for row in layers.rows:
        nodes = [node for node in row if node < layers.n]
        rows = max(1, ceil(sum(widths[node] for node in nodes) / most))
        wraps = wraps or rows > 1
        # By turns, so that neighbours stay near each other and the arcs above and below stay steep.
        for k, node in enumerate(nodes):
            rank[node] = top + k % rows
        top += rows
    return rank if wraps else None


def _wrapped_order(plain: Layers, arcs: Sequence[Arc], rank: list[int]) -> Layers:
    """Return the wrapped rows in the order that their nodes had before; a few sweeps remove most crossings.

    The many rows that arcs now pass would make a search from new starts take minutes.
    """
    chains, ranks = _chains(plain.n, arcs, rank, together=True)
    above, below = _neighbours(chains, len(ranks))
    place = {node: k / len(row) for row in plain.rows for k, node in enumerate(row)}
    ends: dict[int, list[float]] = {}
    for chain in chains:
        for node in chain[1:-1]:
            ends.setdefault(node, []).append(place[chain[-1]])
    key = {node: place[node] if node < plain.n else sum(ends[node]) / len(ends[node]) for node in range(len(ranks))}
    rows: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node in sorted(range(len(ranks)), key=lambda node: key[node]):
        rows[ranks[node]].append(node)
    best, fewest = [list(row) for row in rows], _total(rows, below)
    for sweep in range(WRAPPED_SWEEPS):
        _sweep(rows, above, below, down=sweep % 2 == 0)
        crossings = _total(rows, below)
        if crossings < fewest:
            best, fewest = [list(row) for row in rows], crossings
    return _centred(Layers(plain.n, best, chains, fewest))


def _centred(layers: Layers) -> Layers:
    """Move the way on of a node's arcs into the middle of the children that branch off from it in the same row."""
    above: dict[int, set[int]] = {}
    for a, b in layers.segments:
        above.setdefault(b, set()).add(a)
    for row in layers.rows:
        start = 0
        while start < len(row):
            end = start + 1
            while end < len(row) and above.get(row[end]) == above.get(row[start]) and row[start] in above:
                end += 1
            boxes = [node for node in row[start:end] if node < layers.n]
            ways = [node for node in row[start:end] if node >= layers.n]
            row[start:end] = [*boxes[: len(boxes) // 2], *ways, *boxes[len(boxes) // 2 :]]
            start = end
    _, below = _neighbours(layers.chains, sum(map(len, layers.rows)))
    return replace(layers, wrapped=True, crossings=_total(layers.rows, below))


def _order(n: int, arcs: Sequence[Arc], rank: list[int]) -> Layers:
    chains, ranks = _chains(n, arcs, rank, together=False)
    height = max(ranks) + 1
    above, below = _neighbours(chains, len(ranks))
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


def _neighbours(chains: list[list[int]], n: int) -> tuple[list[list[int]], list[list[int]]]:
    """Return the neighbours above and below each node, each once."""
    above: list[list[int]] = [[] for _ in range(n)]
    below: list[list[int]] = [[] for _ in range(n)]
    for a, b in dict.fromkeys((a, b) for chain in chains for a, b in pairwise(chain)):
        below[a].append(b)
        above[b].append(a)
    return above, below


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


def _chains(n: int, arcs: Sequence[Arc], rank: list[int], together: bool) -> tuple[list[list[int]], list[int]]:
    ranks = list(rank)
    chains = []
    shared: dict[Arc, int] = {}  # (start of the arcs, row) → the invisible node that they share
    for k, (a, b) in enumerate(arcs):
        chain = [a]
        for row in range(rank[a] + 1, rank[b]):
            key = (a if together else -1 - k, row)
            if key not in shared:
                shared[key] = len(ranks)
                ranks.append(row)
            chain.append(shared[key])
        chains.append([*chain, b])
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
        _sweep(rows, above, below, down=sweep % 2 == 0)
        _swap_neighbours(rows, above, below, ties=sweep % 4 >= 2)
        crossings = _total(rows, below)
        waited += 1
        if crossings < fewest:
            fewest, waited = crossings, 0
            best = [list(row) for row in rows]
        sweep += 1
    rows[:] = best
    return fewest


def _sweep(rows: list[list[int]], above: list[list[int]], below: list[list[int]], *, down: bool) -> None:
    """Sort each row by the medians of its neighbours in the row before it, from the top or from the bottom."""
    for row, fixed in zip(rows[1:], rows, strict=False) if down else zip(rows[-2::-1], rows[::-1], strict=False):
        _sort_by_median(row, fixed, above if down else below)


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
    """Swap neighbours in a row while that removes crossings; swapping ties in the first round opens new ways."""
    place = [0] * len(above)
    for row in rows:
        for k, node in enumerate(row):
            place[node] = k
    # A pair that did not gain is looked at again only after a neighbour of one of them has moved.
    clock, moved = 0, [0] * len(above)
    settled: dict[int, tuple[int, int]] = {}
    better = True
    rounds = 0
    while better and rounds < 20:
        better = False
        rounds += 1
        for row in rows:
            for k in range(len(row) - 1):
                a, b = row[k], row[k + 1]
                other, when = settled.get(a, (-1, 0))
                if other == b and when >= moved[a] and when >= moved[b]:
                    continue
                clock += 1
                gain = _gain(above[a], above[b], place) + _gain(below[a], below[b], place)
                if gain > 0 or (gain == 0 and ties and rounds == 1):
                    row[k], row[k + 1] = b, a
                    place[a], place[b] = k + 1, k
                    better = better or gain > 0
                    for node in (*above[a], *above[b], *below[a], *below[b]):
                        moved[node] = clock
                else:
                    settled[a] = b, clock


def _gain(left: list[int], right: list[int], place: list[int]) -> int:
    """Crossings of the segments of two neighbours, minus those after a swap."""
    gain = 0
    for x in left:
        here = place[x]
        for y in right:
            there = place[y]
            if here > there:
                gain += 1
            elif here < there:
                gain -= 1
    return gain
