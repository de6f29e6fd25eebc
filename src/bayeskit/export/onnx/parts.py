"""Each part of a scorer as operators: log-scores of shape (rows, classes)."""

from __future__ import annotations

from functools import reduce

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.export.onnx.columns import Inputs
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.scorer import (
    Floats,
    Forest,
    Gaussians,
    Linear,
    Scales,
    Sum,
    columns_hidden_whole,
    without_columns,
)
from bayeskit.export.sql.tables import LOG_ZERO, log_numbers
from bayeskit.kinds.closed_form import ClosedForm

# A number is at most so many √2 deviations from a mean; its square is the log 0 of densities.
_FARTHEST = 1e150
# Numbers per row that the matrices of Gaussians with hidden columns may have.
_MOST_CELLS = 50_000


def write_sum(graph: Graph, inputs: Inputs, part: Sum) -> str:
    """A table or a density per column."""
    tables = [graph.lines(log_numbers(table), inputs.level(j)) for j, table in part.tables.items()]
    densities = [_density(graph, inputs, j, form) for j, form in part.densities.items()]
    return _sum_in_order(graph, graph.constant(log_numbers(part.start)[None]), tables, densities)


def _sum_in_order(graph: Graph, first: str, tables: list[str], densities: list[str]) -> str:
    """Add terms as the scoring kernel does, so that equal sums stay equal: tables by fours, then one by one."""
    total = first
    for begin in range(0, len(tables), 4):
        group = tables[begin : begin + 4]
        if len(group) == 4:
            group = [graph.add("Add", graph.add("Add", *group[:2]), graph.add("Add", *group[2:]))]
        for term in group:
            total = graph.add("Add", total, term)
    for term in densities:
        total = graph.add("Add", total, term)
    return total


def _density(graph: Graph, inputs: Inputs, j: int, form: ClosedForm) -> str:
    """Compute log p(x | c) but for a term that all classes share; 0 for a missing cell."""
    x = inputs.number(j)
    if form.logarithm:
        inputs.refused.append(graph.add("LessOrEqual", x, graph.constant(0.0)))
    if form.least is not None:
        inputs.refused.append(graph.add("Less", x, graph.constant(form.least)))
    if form.whole:
        inputs.refused.append(graph.add("Less", graph.add("Floor", x), x))
    z = graph.add("Log", x) if form.logarithm else x
    total = graph.constant(form.constant[None])
    if form.slope is not None:
        # A count beyond a million cannot make log 0 more impossible; the product must not overflow.
        limits = graph.constant(np.where(np.isfinite(form.slope), 1.7e308, 1e6)[None])
        slopes = graph.constant(np.maximum(form.slope, LOG_ZERO)[None])
        away = graph.add("Sub", graph.add("Min", z, limits), graph.constant(form.origin))
        total = graph.add("Add", total, graph.add("Mul", slopes, away))
    if form.mean is not None and form.half_precision is not None:
        scale = np.sqrt(form.half_precision)
        away = graph.add("Abs", graph.add("Sub", z, graph.constant(form.mean[None])))
        limited = graph.add("Min", away, graph.constant(np.minimum(_FARTHEST / scale, 1e300)[None]))
        scaled = graph.add("Mul", limited, graph.constant(scale[None]))
        total = graph.add("Sub", total, graph.add("Mul", scaled, scaled))
    return graph.add("Where", inputs.is_missing(j), graph.constant(0.0), total)


def write_gaussians(graph: Graph, inputs: Inputs, part: Gaussians, *, of_levels: bool = False) -> str:
    """Normal or t distributions: for each set of columns that is hidden whole one without them.

    ``of_levels`` says that a column is hidden by its level, and not by a missing number.
    """
    if not len(part.feature):
        return graph.constant(part.start[None])
    hidden: dict[int, str] = {}
    for j in dict.fromkeys(part.feature.tolist()):
        below = graph.add("Less", inputs.level(j), graph.constant(np.int64(0))) if of_levels else None
        hidden[j] = graph.upright(below, 1) if below is not None else inputs.is_missing(j)
    z = [_z(graph, inputs, part, place) for place in range(len(part.feature))]
    sets = columns_hidden_whole(part)
    answer = _log_density(graph, part, z, hidden, sets[-1])
    for some in sets[1:]:
        kept = [name for name, j in zip(z, part.feature.tolist(), strict=True) if j not in some]
        version = _log_density(graph, without_columns(part, some), kept, hidden, sets[-1])
        # Sets come by their size: a row takes the version of the last set that is hidden in it.
        here = reduce(lambda a, b: graph.add("And", a, b), [hidden[j] for j in some])
        answer = graph.add("Where", here, version, answer)
    return answer


def _log_density(graph: Graph, part: Gaussians, z: list[str], hidden: dict[int, str], whole: tuple[int, ...]) -> str:
    """Return log p(z | c); other hidden columns are swept out of the matrix of q, b and P as in `sql.gaussians`."""
    if not z:
        return graph.constant(part.start[None])
    k = len(part.mean)
    swept = np.flatnonzero(~np.isin(part.feature, whole)).tolist()
    if k * len(swept) ** 2 > _MOST_CELLS:
        raise TooLargeError(
            f"integrating out missing cells takes {k * len(swept) ** 2} numbers per row, more than {_MOST_CELLS} of "
            "ONNX; fit fewer columns, or write SQL or C."
        )
    is_hidden = graph.add("Concat", *(hidden[j] for j in part.feature.tolist()), axis=1)  # (rows, p)
    away = graph.add("Sub", graph.upright(graph.add("Concat", *z, axis=1), 1), graph.constant(part.mean[None]))
    away = graph.add("Sub", away, graph.constant(part.mean_rest[None]))
    away = graph.add("Div", away, graph.constant(part.deviation[None]))
    away = graph.add("Where", graph.upright(is_hidden, 1), graph.constant(0.0), away)  # (rows, classes, p)
    log_det = graph.constant(2.0 * np.log(np.diagonal(part.lower, axis1=1, axis2=2) * part.deviation).sum(axis=1)[None])
    matrix = _matrix(graph, part, away, swept)
    for place, k in enumerate(swept):
        here = hidden[int(part.feature[k])]
        matrix, log_det = _swept(graph, matrix, log_det, here, place + 1, part.deviation[:, k])
    distance = graph.add("Max", graph.flat_last(graph.slice(matrix, [0, 0], [1, 1], [2, 3])), graph.constant(0.0))
    known = graph.row_sum(graph.add("Cast", graph.add("Not", is_hidden), to=7))  # (rows, 1)
    shape = graph.add("Gather", graph.constant(part.shape.T), graph.flat(known), axis=0)
    start = graph.add("Add", graph.constant(part.start[None]), shape)
    start = graph.add("Sub", start, graph.add("Mul", graph.constant(0.5), log_det))
    if part.df is None:
        return graph.add("Sub", start, graph.add("Mul", graph.constant(0.5), distance))
    power = graph.add("Add", graph.constant(part.df[None]), graph.add("Cast", known, to=11))
    inside = graph.add("Add", graph.constant(1.0), graph.add("Mul", graph.constant(part.spread[None]), distance))
    tail = graph.add("Mul", graph.add("Mul", graph.constant(0.5), power), graph.add("Log", inside))
    return graph.add("Sub", start, tail)


def _matrix(graph: Graph, part: Gaussians, away: str, swept: list[int]) -> str:
    """The matrix of q, b and P, of b and P what columns need that are swept: (rows, classes, n + 1, n + 1)."""
    n, inverse = len(swept), np.linalg.inv(part.lower)
    precision = np.einsum("cvi,cvj->cij", inverse, inverse)[:, swept][:, :, swept]
    white = graph.add("MatMul", graph.upright(away, 2), graph.constant(np.swapaxes(inverse, 1, 2)[None]))
    q = graph.row_sum(graph.add("Mul", white, white), 3)  # (rows, classes, 1, 1)
    if not n:
        return q
    b = graph.add("MatMul", white, graph.constant(np.ascontiguousarray(inverse[:, :, swept])[None]))
    top = graph.add("Concat", q, b, axis=3)
    rows_of_p = graph.add("Expand", graph.constant(precision[None]), _shape_of(graph, b, n))
    below = graph.add("Concat", graph.add("Transpose", b, perm=[0, 1, 3, 2]), rows_of_p, axis=3)
    return graph.add("Concat", top, below, axis=2)


def _shape_of(graph: Graph, b: str, p: int) -> str:
    rows = graph.add("Shape", b, start=0, end=1)
    return graph.add("Concat", rows, graph.constant(np.array([1, p, p])), axis=0)


def _swept(graph: Graph, matrix: str, log_det: str, hidden: str, j: int, deviation: Floats) -> tuple[str, str]:
    line = graph.slice(matrix, [j], [j + 1], [2])
    column = graph.slice(matrix, [j], [j + 1], [3])
    pivot = graph.slice(line, [j], [j + 1], [3])
    swept = graph.add("Sub", matrix, graph.add("Div", graph.add("Mul", column, line), pivot))
    gain = graph.add("Sub", graph.add("Log", graph.flat_last(pivot)), graph.constant(2.0 * np.log(deviation)[None]))
    grown = graph.add("Add", log_det, gain)
    return graph.add("Where", graph.upright(hidden, 2, 3), swept, matrix), graph.add("Where", hidden, grown, log_det)


def write_linear(graph: Graph, inputs: Inputs, part: Linear) -> str:
    """The product of the numbers z, less their means, with the coefficients; a hidden cell adds nothing."""
    hidden, z = [], []
    for place, j in enumerate(part.feature.tolist()):
        hidden.append(graph.upright(graph.add("Less", inputs.level(j), graph.constant(np.int64(0))), 1))
        z.append(_z(graph, inputs, part, place))
    away = graph.add("Sub", graph.add("Concat", *z, axis=1), graph.constant(part.mean[None]))
    away = graph.add("Where", graph.add("Concat", *hidden, axis=1), graph.constant(0.0), away)  # (rows, p)
    return graph.add(
        "Add", graph.add("MatMul", away, graph.constant(part.coefficients)), graph.constant(part.start[None])
    )


def _z(graph: Graph, inputs: Inputs, part: Scales, k: int) -> str:
    """A number on its scale, or the indicator of a level; (rows, 1)."""
    j = int(part.feature[k])
    if k >= len(part.curve_at) - 1:
        off, on = -part.center[k] / part.scale[k], (1.0 - part.center[k]) / part.scale[k]
        same = graph.add("Equal", inputs.level(j), graph.constant(np.int64(part.level[k])))
        return graph.upright(graph.add("Where", same, graph.constant(on), graph.constant(off)), 1)
    x = inputs.number(j)
    if np.isinf(part.farthest):
        return x
    x = graph.add("Where", inputs.is_missing(j), graph.constant(part.median[k]), x)
    points = slice(int(part.curve_at[k]), int(part.curve_at[k + 1]))
    if points.stop > points.start:
        return _curve(graph, x, part.curve_x[points], part.curve_z[points])
    z = graph.add("Sub", graph.add("Div", x, graph.constant(part.unit[k])), graph.constant(part.center[k]))
    z = graph.add("Div", z, graph.constant(part.scale[k]))
    return graph.add("Max", graph.add("Min", z, graph.constant(part.farthest)), graph.constant(-part.farthest))


def _curve(graph: Graph, x: str, points: Floats, z: Floats) -> str:
    """A piecewise linear curve, level outside of it."""
    if len(points) == 1:
        zero = graph.add("Mul", graph.add("Cast", graph.add("IsNaN", x), to=11), graph.constant(0.0))
        return graph.add("Add", zero, graph.constant(z[0]))
    limited = graph.add("Min", graph.add("Max", x, graph.constant(points[0])), graph.constant(points[-1]))
    above = graph.add("Cast", graph.add("GreaterOrEqual", limited, graph.constant(points[None, 1:-1])), to=7)
    place = graph.flat(graph.row_sum(above)) if len(points) > 2 else None
    first, gap, rise = points[:-1] / 2, points[1:] / 2 - points[:-1] / 2, np.diff(z)

    def pick(values: Floats) -> str:
        if place is None:
            return graph.constant(values[:1, None])
        return graph.upright(graph.add("Gather", graph.constant(values), place, axis=0), 1)

    half = graph.add("Sub", graph.add("Mul", limited, graph.constant(0.5)), pick(first))
    return graph.add("Add", graph.add("Mul", graph.add("Div", half, pick(gap)), pick(rise)), pick(z[:-1]))


def write_forest(graph: Graph, inputs: Inputs, part: Forest) -> str:
    """P(c | x): the share of each node among its parent's rows, their product on the way to each leaf."""
    from bayeskit.export.sql.forests import paths_of

    paths = paths_of(part)
    inner = np.flatnonzero(part.feature >= 0)
    if not len(inner):
        return graph.constant(paths.lines.sum(axis=0, keepdims=True))
    columns = sorted({int(j) for j in part.feature[inner]})
    above, side = np.zeros((2, len(part.feature)), dtype=np.int64)
    for node in inner.tolist():
        children = slice(int(part.child[node]), int(part.child[node] + part.n_children[node]))
        above[children], side[children] = node, np.arange(children.stop - children.start)
    place = np.searchsorted(columns, np.maximum(part.feature[above], columns[0]))
    levels = graph.add("Concat", *(graph.upright(inputs.level(j), 1) for j in columns), axis=1)
    level = graph.add("Gather", levels, graph.constant(place), axis=1)  # (rows, nodes)
    cut, absent = part.cut[above], part.absent[above]

    def whole(values: object) -> str:
        return graph.constant(np.asarray(values, dtype=np.int64)[None])

    one, zero, minus = whole([1]), whole([0]), whole([-1])
    by_cut = graph.add("Where", graph.add("Less", level, whole(cut)), zero, one)
    by_cut = graph.add("Where", graph.add("Equal", level, zero), whole(absent), by_cut)
    if len(part.sides):
        # Where a node has a cut, or the cell is hidden, any side is looked up and not used.
        at = graph.add("Add", whole(np.where(cut < 0, part.side_at[above], 0)), graph.add("Max", level, zero))
        at = graph.add("Min", at, whole([len(part.sides) - 1]))
        sides = graph.add("Gather", graph.constant(part.sides.astype(np.int64)), at, axis=0)
        by_cut = graph.add("Where", graph.constant((cut < 0)[None]), sides, by_cut)
    goes = graph.add("Where", graph.add("Less", level, zero), minus, by_cut)
    share = graph.add("Cast", graph.add("Equal", goes, whole(side)), to=11)
    share = graph.add("Where", graph.add("Less", goes, zero), graph.constant(part.share[None]), share)
    is_root = np.zeros(len(part.feature), dtype=bool)
    is_root[part.tree_at[:-1]] = True
    share = graph.add("Where", graph.constant(is_root[None]), graph.constant(1.0), share)
    weight = None
    for d in range(paths.nodes.shape[1]):
        step = graph.add("Gather", share, graph.constant(paths.nodes[:, d]), axis=1)
        weight = step if weight is None else graph.add("Mul", weight, step)
    assert weight is not None
    return graph.add("MatMul", weight, graph.constant(paths.lines))
