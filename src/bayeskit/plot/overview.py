"""A quick layout for networks with hundreds of variables: arcs go down, and boxes stand near those they belong to.

The layout of :mod:`bayeskit.plot.layout` takes care of every crossing; for a thousand boxes that takes half a minute,
and nobody sees it. Here a box stands at the mean of its neighbours, as far as there is room.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bayeskit.plot.layout import Layout

GAP_X, GAP_Y = 18.0, 60.0
SWEEPS = 12
Arc = tuple[int, int]


def overview(sizes: Sequence[tuple[float, float]], arcs: Sequence[Arc]) -> Layout:
    """Place boxes of these (width, height) in layers, in a time that grows with the number of boxes and arcs.

    Examples
    --------
    >>> layout = overview([(60, 40)] * 3, [(0, 1), (0, 2)])
    >>> layout.centres[0][1] < layout.centres[1][1] == layout.centres[2][1]
    True
    """
    n = len(sizes)
    width, height = (np.array([size[k] for size in sizes]) for k in (0, 1))
    layer = _layers(n, arcs)
    x = np.zeros(n)
    members = [np.flatnonzero(layer == k) for k in range(int(layer.max(initial=0)) + 1)]
    for boxes in members:
        _pack(x, boxes, width)
    ends = np.array(arcs, dtype=np.int64).reshape(-1, 2)
    degree = np.bincount(ends.ravel(), minlength=n)
    for sweep in range(SWEEPS):
        for boxes in members if sweep % 2 == 0 else members[::-1]:
            total = np.bincount(ends[:, 0], x[ends[:, 1]], n) + np.bincount(ends[:, 1], x[ends[:, 0]], n)
            x[boxes] = np.where(degree[boxes] > 0, total[boxes] / np.maximum(degree[boxes], 1), x[boxes])
            _pack(x, boxes, width)
    rows = _rows(x, members, width, height)
    tallest = np.array([height[boxes].max(initial=0.0) for boxes in rows])
    tops = np.concatenate([[0.0], np.cumsum(tallest + GAP_Y)])[: len(rows)]
    y = np.zeros(n)
    for boxes, top, high in zip(rows, tops, tallest, strict=True):
        y[boxes] = top + high / 2
    x -= (x - width / 2).min(initial=0.0)
    curves = []
    for a, b in arcs:
        top, bottom = y[a] + height[a] / 2, y[b] - height[b] / 2
        half = (top + bottom) / 2
        curves.append([(float(x[a]), float(top)), (float(x[a]), float(half)), (float(x[b]), float(half)),
                       (float(x[b]), float(bottom))])  # fmt: skip
    centres = [(float(a), float(b)) for a, b in zip(x, y, strict=True)]
    # Crossings are not counted: nothing was done to avoid them.
    whole = float((x + width / 2).max(initial=0.0)), float((tallest + GAP_Y).sum() - GAP_Y)
    return Layout(centres, curves, *whole, -1)


def _rows(
    x: NDArray[np.float64], members: list[NDArray[np.int64]], width: NDArray[np.float64], height: NDArray[np.float64]
) -> list[NDArray[np.int64]]:
    """Split wide layers into rows, so that the whole is about twice as wide as high; x is made narrower with them."""
    area = ((width + GAP_X) * (height + GAP_Y)).sum()
    target = max(np.sqrt(2.0 * area), width.max(initial=1.0))
    n_rows = [int(np.ceil((width[boxes] + GAP_X).sum() / target)) for boxes in members]
    x /= max((np.ptp(x) + width.max(initial=0.0)) / target, 1.0)
    rows = []
    for boxes, m in zip(members, n_rows, strict=True):
        order = boxes[np.argsort(x[boxes], kind="stable")]
        for k in range(m):
            rows.append(order[k::m])
            _pack(x, rows[-1], width)
    return rows


def _layers(n: int, arcs: Sequence[Arc]) -> NDArray[np.int64]:
    """Return the layer of each box: below all its parents, and a root just above its first child."""
    children: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * n
    for a, b in arcs:
        children[a].append(b)
        waiting[b] += 1
    layer = np.zeros(n, dtype=np.int64)
    roots = [v for v in range(n) if not waiting[v]]
    free = list(roots)
    while free:
        v = free.pop()
        for child in children[v]:
            layer[child] = max(layer[child], layer[v] + 1)
            waiting[child] -= 1
            if not waiting[child]:
                free.append(child)
    for v in roots:
        if children[v]:
            layer[v] = min(layer[child] for child in children[v]) - 1
    return layer


def _pack(x: NDArray[np.float64], boxes: NDArray[np.int64], width: NDArray[np.float64]) -> None:
    """Move the boxes of a layer apart, in the order in which they stand, around where they would stand."""
    order = boxes[np.argsort(x[boxes], kind="stable")]
    step = np.concatenate([[0.0], (width[order][1:] + width[order][:-1]) / 2 + GAP_X])
    offset = np.cumsum(step)
    # Without overlap x - offset may not fall; the running maximum from either side, averaged, moves boxes least.
    slack = x[order] - offset
    forward = np.maximum.accumulate(slack)
    backward = np.minimum.accumulate(slack[::-1])[::-1]
    x[order] = (forward + backward) / 2 + offset
