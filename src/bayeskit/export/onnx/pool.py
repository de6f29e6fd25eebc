"""The pool of AutoBayes as operators: evidence networks, Gaussians, trees, and both pools."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bayeskit.export.onnx.columns import Inputs
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.onnx.parts import write_forest, write_gaussians
from bayeskit.export.scorer import Networks, Pool

_LEAST_PROBABILITY = 1e-300


def write_pool(graph: Graph, inputs: Inputs, part: Pool) -> str:
    """Return log P(c | x), of shape (rows, classes)."""
    weighted, plain = _networks(graph, inputs, part.networks)
    scores = [weighted]
    for gaussians, tables in zip(part.gaussians, part.beside, strict=True):
        terms = [graph.lines(table, inputs.level(j)) for j, table in tables.items()]
        scores.append(graph.total([write_gaussians(graph, inputs, gaussians, of_levels=True), *terms]))
    for forest in part.forests:
        least = graph.constant(_LEAST_PROBABILITY)
        scores.append(graph.add("Log", graph.add("Max", write_forest(graph, inputs, forest), least)))
    members = [_log_softmax(graph, score, part.least_log) for score in scores]
    pooled = graph.constant(part.bias[None])
    told = [plain]
    for m, member in enumerate(members):
        pooled = graph.add("Add", pooled, graph.add("Mul", member, graph.constant(part.weight[m])))
        if m:
            told.append(graph.add("Sub", member, graph.constant(part.nothing_known[m][None])))
    few = graph.add("Mul", graph.total(told), graph.constant(part.few_weight))
    few = graph.add("Add", few, graph.constant(part.log_prior[None]))
    # Less the mean over the classes of the centre, as one product with the matrix.
    centred = np.eye(len(part.bias)) - (part.centre / part.centre.sum())[:, None]
    full = graph.add("MatMul", pooled, graph.constant(centred @ part.matrix[:, :-1].T))
    full = _log_softmax(graph, graph.add("Add", full, graph.constant(part.matrix[:, -1][None])))
    t = _known(graph, inputs, part)
    if t is not None:
        rest = graph.add("Sub", graph.constant(1.0), t)
        full = _log_softmax(graph, graph.add("Add", graph.add("Mul", t, full), graph.add("Mul", rest, few)))
    mixed = graph.add("Mul", graph.add("Exp", full), graph.constant(part.n_rows))
    mixed = graph.add("Add", mixed, graph.constant(np.exp(part.log_prior)[None]))
    return graph.add("Log", graph.add("Div", mixed, graph.constant(part.n_rows + 1.0)))


def _log_softmax(graph: Graph, score: str, least: float | None = None) -> str:
    score = graph.add("Sub", score, graph.log_sum(score, 1))
    return score if least is None else graph.add("Max", score, graph.constant(least))


def _known(graph: Graph, inputs: Inputs, part: Pool) -> str | None:
    """The square of the share of the columns that are known, (rows, 1)."""
    varies = np.flatnonzero(part.varies).tolist()
    if not varies:
        return None
    zero = graph.constant(np.int64(0))
    known = [graph.add("Cast", graph.add("GreaterOrEqual", inputs.level(j), zero), to=11) for j in varies]
    share = graph.add("Div", graph.total(known), graph.constant(float(len(varies))))
    return graph.upright(graph.add("Mul", share, share), 1)


def _networks(graph: Graph, inputs: Inputs, part: Networks) -> tuple[str, str]:
    """Σ log P(x_j | c, context) with the weights of the columns and the start, and without."""
    used = np.flatnonzero(part.plain_weight).tolist()
    bins: dict[tuple[int, int], str] = {}

    def bin_of(t: int, j: int) -> str:
        if (t, j) not in bins:
            table = part.bins[t, part.level_at[j] : part.level_at[j + 1]]
            with_hidden = graph.constant(np.append(table, -1).astype(np.int64))
            bins[t, j] = graph.add("Gather", with_hidden, inputs.level(j), axis=0)
        return bins[t, j]

    weighted, plain = [graph.constant(part.start[None])], []
    for j in used:
        terms = [_line(graph, part, bin_of, t, j) for t in range(len(part.sizes))]
        total = graph.total(terms)
        weighted.append(graph.add("Mul", total, graph.constant(part.weight[j])))
        plain.append(graph.add("Mul", total, graph.constant(part.plain_weight[j])))
    return graph.total(weighted), graph.total(plain) if plain else graph.constant(np.zeros_like(part.start)[None])


def _line(graph: Graph, part: Networks, bin_of: Callable[[int, int], str], t: int, j: int) -> str:
    """The line of a column in one network: that of its bin, in the deepest context that was seen."""
    unit, n_nodes, parents = t * part.sizes.shape[1] + j, part.n_nodes[t, j], part.parents[t, j]
    begin, first, zero, node = int(part.child_at[unit]), 0, graph.constant(np.int64(0)), None
    deepest = zero
    for depth in range(part.parents.shape[2]):
        if parents[depth] < 0 or not n_nodes[depth + 1]:
            break
        size = int(part.sizes[t, parents[depth]])
        child = part.child[begin : begin + int(n_nodes[depth]) * size]
        b = bin_of(t, int(parents[depth]))
        place = b
        is_known = graph.add("GreaterOrEqual", b, zero)
        if node is not None:
            offset = graph.add("Sub", node, graph.constant(np.int64(first)))
            place = graph.add("Add", graph.add("Mul", offset, graph.constant(np.int64(size))), b)
            is_known = graph.add("And", is_known, graph.add("Greater", node, zero))
        # Where there is no context, any child is looked up and not used.
        at = graph.add("Where", is_known, place, zero)
        next_node = graph.add("Gather", graph.constant(child.astype(np.int64)), at, axis=0)
        node = graph.add("Where", is_known, next_node, zero)
        deepest = graph.add("Where", graph.add("Greater", node, zero), node, deepest)
        begin += int(n_nodes[depth]) * size
        first += int(n_nodes[depth])
    lines = part.lines[part.value_at[unit] : part.value_at[unit + 1]].astype(np.float64)
    b = bin_of(t, j)
    place = graph.add("Add", graph.add("Mul", deepest, graph.constant(np.int64(part.sizes[t, j]))), b)
    place = graph.add("Where", graph.add("GreaterOrEqual", b, zero), place, graph.constant(np.int64(-1)))
    return graph.lines(lines, place)
