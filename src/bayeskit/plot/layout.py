"""From layers to coordinates: positions of nodes and smooth curves of arcs, for boxes of given sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from bayeskit.plot.layers import Arc, Layers, layer

GAP_X, GAP_Y = 26.0, 46.0  # between boxes of a row, and between rows
GAP_SLANT = 0.08  # more between rows, for each unit that an arc goes to the side, up to as much again
GAP_ARC = 14.0  # between an arc that passes a row and its neighbours
GAP_WRAPPED = 5.0  # the same in a wrapped drawing, whose rows are passed by many
GAP_PORT = 14.0  # between arcs at the edge of a box
GAP_PART = 40.0  # between connected components
PAGE = 1600.0  # rows up to this width are never wrapped
SHAPE = 1.6  # width by height of the page that a large network is wrapped to
# A bend in an arc's own way is worse than a slanting arc (weights as in Gansner et al. 1993).
WEIGHT_ENDS, WEIGHT_END, WEIGHT_WAY = 1.0, 2.0, 8.0
BALANCE_SWEEPS = 8
# Beyond so many pieces of arcs the places within rows come from sweeps: munin's 6,700 take the programme 2.6 s.
MOST_EXACT = 4000
SETTLING_SWEEPS = 16

Point = tuple[float, float]
# Points of one arc: start, then (control, control, end) triples of cubic curves.
Curve = list[Point]


@dataclass
class Layout:
    """Centres of boxes, curves of arcs, the size of the whole, and how many pairs of arcs cross."""

    centres: list[Point]
    curves: list[Curve]
    width: float
    height: float
    crossings: int


def lay_out(sizes: Sequence[tuple[float, float]], arcs: Sequence[Arc]) -> Layout:
    """Place boxes of these (width, height) so that arcs go down, cross seldom and bend little.

    Connected components are laid out one by one and placed side by side in rows.
    """
    centres: list[Point] = [(0.0, 0.0)] * len(sizes)
    curves: list[Curve] = [[] for _ in arcs]
    parts = []
    for nodes in _parts(len(sizes), arcs):
        local = {node: k for k, node in enumerate(nodes)}
        arcs_inside = [k for k, (a, _) in enumerate(arcs) if a in local]
        part = _lay_out_part([sizes[i] for i in nodes], [(local[arcs[k][0]], local[arcs[k][1]]) for k in arcs_inside])
        parts.append((nodes, arcs_inside, part))
    area = sum((part.width + GAP_PART) * (part.height + GAP_PART) for _, _, part in parts)
    limit = max((1.6 * area) ** 0.5, *(part.width for _, _, part in parts))
    left = top = line = width = 0.0
    for nodes, arcs_inside, part in sorted(parts, key=lambda item: -item[2].height):
        if left and left + part.width > limit:
            left, top, line = 0.0, top + line + GAP_PART, 0.0
        for node, (x, y) in zip(nodes, part.centres, strict=True):
            centres[node] = x + left, y + top
        for k, curve in zip(arcs_inside, part.curves, strict=True):
            curves[k] = [(x + left, y + top) for x, y in curve]
        left += part.width + GAP_PART
        width, line = max(width, left - GAP_PART), max(line, part.height)
    return Layout(centres, curves, width, top + line, sum(part.crossings for _, _, part in parts))


def _parts(n: int, arcs: Sequence[Arc]) -> list[list[int]]:
    """Return the nodes of each connected component, in rising order."""
    ends = np.array(arcs, dtype=np.int64).reshape(-1, 2).T
    graph = coo_array((np.ones(len(arcs)), (ends[0], ends[1])), shape=(n, n))
    count, part = connected_components(graph, directed=False)
    return [np.flatnonzero(part == k).tolist() for k in range(count)]


def _lay_out_part(sizes: Sequence[tuple[float, float]], arcs: Sequence[Arc]) -> Layout:
    widths = [size[0] for size in sizes]
    # As wide as a page of this shape that holds all boxes; a little more does not make it worth to wrap.
    area = sum((w + GAP_X) * (h + GAP_Y) for w, h in sizes)
    wide = [w + GAP_X for w in widths]
    most = max(PAGE, (SHAPE * area) ** 0.5)
    layers = layer(len(sizes), arcs, wide, most)
    x = _columns(layers, widths)
    heights = [max((sizes[i][1] for i in row if i < layers.n), default=0.0) for row in layers.rows]
    row_of = {node: r for r, row in enumerate(layers.rows) for node in row}
    # Arcs that go far to the side get more room to do so.
    slant = [0.0] * len(heights)
    for a, b in layers.segments:
        slant[row_of[b]] = max(slant[row_of[b]], abs(float(x[a] - x[b])))
    tops = [0.0]
    for r in range(1, len(heights)):
        tops.append(tops[-1] + heights[r - 1] + GAP_Y + min(slant[r] * GAP_SLANT, GAP_Y))
    centres = [(float(x[i]), tops[row_of[i]] + heights[row_of[i]] / 2) for i in range(layers.n)]
    spans = [(tops[r], tops[r] + heights[r]) for r in range(len(tops))]
    curves = _curves(layers, arcs, x, centres, sizes, [spans[row_of[node]] for node in range(len(x))])
    width = max(centres[i][0] + widths[i] / 2 for i in range(layers.n))
    return Layout(centres, curves, max(width, float(x.max())), tops[-1] + heights[-1], layers.crossings)


def _columns(layers: Layers, widths: list[float]) -> NDArray[np.float64]:
    """Return the x of each node: the order of rows kept, boxes apart, Σ weight · |x_a − x_b| least or nearly so."""
    n, half = layers.n, [w / 2 for w in widths]
    x = _settled(layers, half) if len(layers.segments) > MOST_EXACT else _shortest(layers, half)
    _balance(x, layers, half)
    left = min(float(place) - (half[i] if i < n else 0.0) for i, place in enumerate(x))
    return np.asarray(x - left)


def _shortest(layers: Layers, half: list[float]) -> NDArray[np.float64]:
    """Return the x of each node by a linear programme."""
    n, segments = layers.n, layers.segments
    count, m = sum(map(len, layers.rows)), len(segments)
    rows: list[int] = []
    columns: list[int] = []
    values: list[float] = []
    limits: list[float] = []

    def narrowest(row: list[int]) -> float:
        ends = sum(half[i] for i in (row[0], row[-1]) if i < n)
        return ends + sum(_apart(a, b, n, half, layers.wrapped) for a, b in pairwise(row))

    def constrain(terms: Sequence[tuple[int, float]], limit: float) -> None:
        for column, value in terms:
            rows.append(len(limits))
            columns.append(column)
            values.append(value)
        limits.append(limit)

    for row in layers.rows:
        for a, b in pairwise(row):
            constrain([(a, 1.0), (b, -1.0)], -_apart(a, b, n, half, layers.wrapped))
    cost = np.zeros(count + m)
    for k, (a, b) in enumerate(segments):  # the last m variables are the lengths |x_a - x_b|
        cost[count + k] = (WEIGHT_WAY, WEIGHT_END, WEIGHT_ENDS)[(a < n) + (b < n)]
        constrain([(a, 1.0), (b, -1.0), (count + k, -1.0)], 0.0)
        constrain([(a, -1.0), (b, 1.0), (count + k, -1.0)], 0.0)
    # Rows that were wrapped to be narrow must not drift to the side: all boxes stay within the widest row.
    most = max(map(narrowest, layers.rows)) if layers.wrapped else None
    low = [(half[i] if i < n else 0.0, most and most - (half[i] if i < n else 0.0)) for i in range(count)]
    low += [(0.0, None)] * m
    if not limits:
        return np.array([bound for bound, _ in low])
    matrix = coo_array((values, (rows, columns)), shape=(len(limits), count + m)).tocsr()
    solve: Any = linprog  # its stub knows no sparse matrix
    answer = solve(cost, A_ub=matrix, b_ub=np.array(limits), bounds=low, method="highs")
    return np.array(answer.x[:count])


def _settled(layers: Layers, half: list[float]) -> NDArray[np.float64]:
    """Return the x of each node by sweeps down and up: each row goes as near as it can to where its arcs come from.

    In the last sweeps it goes between where its arcs come from and where they lead.
    """
    n, rows = layers.n, layers.rows
    offsets = []  # of each row the places of its nodes when they stand as near to each other as they may
    for row in rows:
        steps = [_apart(a, b, n, half, layers.wrapped) for a, b in pairwise(row)]
        offsets.append(np.cumsum([half[row[0]] if row[0] < n else 0.0, *steps]))
    widths = [
        float(places[-1]) + (half[row[-1]] if row[-1] < n else 0.0) for row, places in zip(rows, offsets, strict=True)
    ]
    most = max(widths)
    x = np.zeros(sum(map(len, rows)))
    for row, places, width in zip(rows, offsets, widths, strict=True):
        x[row] = places + (most - width) / 2
    above: dict[int, list[tuple[int, float]]] = {}
    below: dict[int, list[tuple[int, float]]] = {}
    for a, b in layers.segments:
        weight = (WEIGHT_WAY, WEIGHT_END, WEIGHT_ENDS)[(a < n) + (b < n)]
        below.setdefault(a, []).append((b, weight))
        above.setdefault(b, []).append((a, weight))
    for sweep in range(SETTLING_SWEEPS):
        down, last = sweep % 2 == 0, sweep >= SETTLING_SWEEPS // 2
        for r in range(len(rows)) if down else reversed(range(len(rows))):
            wanted, weights = [], []
            for i in rows[r]:
                near = (above.get(i, []) if down or last else []) + (below.get(i, []) if last or not down else [])
                low, high = _cheapest([(float(x[j]), weight) for j, weight in near]) if near else (float(x[i]),) * 2
                wanted.append((low + high) / 2)
                weights.append(sum(weight for _, weight in near) or 0.1)
            slack = _rising(np.array(wanted) - offsets[r], weights)
            x[rows[r]] = offsets[r] + np.clip(slack, 0.0, most - widths[r])
    return x


def _rising(wanted: NDArray[np.float64], weights: list[float]) -> NDArray[np.float64]:
    """Return the rising numbers nearest to those wanted, by weighted squares: pool adjacent violators."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight and size of runs that are equal
    for place, weight in zip(wanted.tolist(), weights, strict=True):
        mean, total, size = place, weight, 1
        while blocks and blocks[-1][0] >= mean:
            before, heavy, n = blocks.pop()
            mean = (mean * total + before * heavy) / (total + heavy)
            total, size = total + heavy, size + n
        blocks.append((mean, total, size))
    return np.repeat([mean for mean, _, _ in blocks], [size for _, _, size in blocks])


def _apart(a: int, b: int, n: int, half: list[float], wrapped: bool) -> float:
    gap = GAP_X if a < n and b < n else GAP_WRAPPED if wrapped else GAP_ARC
    return gap + (half[a] if a < n else 0.0) + (half[b] if b < n else 0.0)


def _balance(x: NDArray[np.float64], layers: Layers, half: list[float]) -> None:
    """Move nodes to the middle of the places that cost the same, which the linear programme leaves open."""
    n = layers.n
    near: dict[int, list[tuple[int, float]]] = {}
    for a, b in layers.segments:
        weight = (WEIGHT_WAY, WEIGHT_END, WEIGHT_ENDS)[(a < n) + (b < n)]
        near.setdefault(a, []).append((b, weight))
        near.setdefault(b, []).append((a, weight))
    for _ in range(BALANCE_SWEEPS):
        for row in layers.rows:
            for k, i in enumerate(row):
                if i not in near:
                    continue
                low, high = _cheapest([(float(x[j]), weight) for j, weight in near[i]])
                if k:
                    low = max(low, float(x[row[k - 1]]) + _apart(row[k - 1], i, n, half, layers.wrapped))
                if k + 1 < len(row):
                    high = min(high, float(x[row[k + 1]]) - _apart(i, row[k + 1], n, half, layers.wrapped))
                if low <= high:
                    x[i] = (low + high) / 2


def _cheapest(neighbours: list[tuple[float, float]]) -> tuple[float, float]:
    """Return the interval in which Σ weight · |x − place| is least: the weighted median, or all between two."""
    neighbours.sort()
    half = sum(weight for _, weight in neighbours) / 2
    passed = 0.0
    for k, (place, weight) in enumerate(neighbours):
        passed += weight
        if passed == half and k + 1 < len(neighbours):
            return place, neighbours[k + 1][0]
        if passed > half:
            return place, place
    return neighbours[-1][0], neighbours[-1][0]


def _curves(
    layers: Layers,
    arcs: Sequence[Arc],
    x: NDArray[np.float64],
    centres: list[Point],
    sizes: Sequence[tuple[float, float]],
    spans: list[tuple[float, float]],
) -> list[Curve]:
    """Join each arc's points by curves that are vertical at every row, so that they pass between the boxes."""
    leave = _ports([(chain[0], chain[1]) for chain in layers.chains], x, sizes)
    arrive = _ports([(chain[-1], chain[-2]) for chain in layers.chains], x, sizes)
    curves = []
    for k, ((a, b), chain) in enumerate(zip(arcs, layers.chains, strict=True)):
        # Straight through the whole height of each row: beside a low box there may stand a high one.
        points = [(leave[k], centres[a][1] + sizes[a][1] / 2), (leave[k], spans[a][1])]
        for node in chain[1:-1]:
            points += [(float(x[node]), spans[node][0]), (float(x[node]), spans[node][1])]
        points += [(arrive[k], spans[b][0]), (arrive[k], centres[b][1] - sizes[b][1] / 2)]
        curve: Curve = [points[0]]
        for (x0, y0), (x1, y1) in pairwise(points):
            if y1 > y0:
                middle = (y0 + y1) / 2
                curve += [(x0, middle), (x1, middle), (x1, y1)]
        curves.append(curve)
    return curves


def _ports(ends: list[Arc], x: NDArray[np.float64], sizes: Sequence[tuple[float, float]]) -> list[float]:
    """Choose where the arcs of a node touch its edge: near where they go, in that order, and apart.

    An end is the node and the next one on the arc's way; arcs that go on together share a place.
    """
    by_node: dict[int, list[int]] = {}
    for node, following in dict.fromkeys(ends):
        by_node.setdefault(node, []).append(following)
    ports: dict[Arc, float] = {}
    for node, ends_of_node in by_node.items():
        ends_of_node.sort(key=lambda following: x[following])
        room = 0.7 * sizes[node][0]
        low, high = float(x[node]) - room / 2, float(x[node]) + room / 2
        gap = min(GAP_PORT, room / max(len(ends_of_node) - 1, 1))
        wanted = [min(max(float(x[following]), low), high) for following in ends_of_node]
        for following, place in zip(ends_of_node, _spread(wanted, gap, low, high), strict=True):
            ports[node, following] = place
    return [ports[end] for end in ends]


def _spread(wanted: list[float], gap: float, low: float, high: float) -> list[float]:
    """Return places in order, at least a gap apart and inside the bounds, as near to those wanted as squares allow."""
    blocks: list[tuple[float, int]] = []  # mean and size of runs that touch: pool adjacent violators
    for k, place in enumerate(wanted):
        mean, size = place - k * gap, 1
        while blocks and blocks[-1][0] >= mean:
            before, n = blocks.pop()
            mean, size = (mean * size + before * n) / (size + n), size + n
        blocks.append((mean, size))
    flat = [mean for mean, size in blocks for _ in range(size)]
    last = len(wanted) - 1
    return [min(max(mean + k * gap, low + k * gap), high - (last - k) * gap) for k, mean in enumerate(flat)]
