"""The pool of AutoBayes as operators: evidence networks, Gaussians, trees, and both pools."""

from __future__ import annotations

import numpy as np

from bayeskit.export.onnx.columns import Inputs
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.onnx.networks import write_networks
from bayeskit.export.onnx.parts import write_forest, write_gaussians, write_linear
from bayeskit.export.scorer import Pool

_LEAST_PROBABILITY = 1e-300


def write_pool(graph: Graph, inputs: Inputs, part: Pool) -> str:
    """Return log P(c | x), of shape (rows, classes)."""
    weighted, plain = write_networks(graph, inputs, part.networks)
    for each in part.rare:
        term = graph.add("Gather", graph.constant(each.lines), inputs.code(each.column), axis=0)
        weighted = graph.add("Add", weighted, graph.add("Mul", term, graph.constant(each.weight)))
        plain = graph.add("Add", plain, term)
    scores = [weighted]
    for gaussians, tables in zip(part.gaussians, part.beside, strict=True):
        terms = [graph.lines(table, inputs.level(j)) for j, table in tables.items()]
        scores.append(graph.total([write_gaussians(graph, inputs, gaussians, of_levels=True), *terms]))
    for forest in part.forests:
        least = graph.constant(_LEAST_PROBABILITY)
        scores.append(graph.add("Log", graph.add("Max", write_forest(graph, inputs, forest), least)))
    scores += [write_linear(graph, inputs, each) for each in part.linear]
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
    full = graph.add("Add", full, graph.constant(part.matrix[:, -1][None]))
    full = _log_softmax(graph, graph.total([full, *(write_forest(graph, inputs, each) for each in part.boosted)]))
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
