"""The mean over structures as operators: hidden parents are summed out of tensors with an axis per parent."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from math import prod

import numpy as np

from bayeskit.errors import TooLargeError
from bayeskit.export.elimination import plan_elimination
from bayeskit.export.onnx.columns import Inputs
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.scorer import Average, Structure
from bayeskit.export.sql.tables import LOG_ZERO, log_numbers

# Numbers per row that the sums over hidden parents may have: a graph computes them for all rows.
_MOST_CELLS = 50_000


def write_average(graph: Graph, inputs: Inputs, part: Average) -> str:
    """Return log P(x, c), the mean over the structures that take part; (rows, classes)."""
    scores = [_log_joint(graph, inputs, member) for member in part.members]
    if len(scores) == 1 and part.otherwise is None:
        return scores[0]
    conditions = [_takes_part(graph, inputs, member) for member in part.members]
    nothing = graph.constant(LOG_ZERO)
    joints = [
        score if condition is None else graph.add("Where", condition, score, nothing)
        for condition, score in zip(conditions, scores, strict=True)
    ]
    stacked = graph.add("Concat", *(graph.upright(joint, 1) for joint in joints), axis=1)
    mean = graph.add("Squeeze", graph.log_sum(stacked, 1), graph.constant(np.array([1])))
    sometimes = [condition for condition in conditions if condition is not None]
    if part.otherwise is None or len(sometimes) < len(conditions):
        return mean
    any_part = reduce(lambda a, b: graph.add("Or", a, b), sometimes)
    return graph.add("Where", any_part, mean, _log_joint(graph, inputs, part.otherwise))


def _takes_part(graph: Graph, inputs: Inputs, part: Structure) -> str | None:
    """The rows in which a structure takes part, (rows, 1); None where it always does."""
    if part.takes_part is None or part.takes_part.all():
        return None
    level = inputs.level(part.families[0][-1])
    return graph.upright(graph.add("Gather", graph.constant(np.append(part.takes_part, True)), level, axis=0), 1)


def _log_joint(graph: Graph, inputs: Inputs, part: Structure) -> str:
    r"""Log P(x, c) of one structure, where each parent is summed over the values that it may have.

    A parent that is known has one of them: to log-tensors with an axis per parent, in the order of elimination, a mask
    is added that is log 0 for the others.
    """
    sizes = [0] * len(inputs.columns)
    for members, table in zip(part.families, part.tables, strict=True):
        sizes[members[-1]] = table.shape[-2]
    order = [step.column for step in plan_elimination(part.families, sizes)]
    _refuse_large(part, order, sizes, [column.variable.name for column in inputs.columns])
    left = [_factor(graph, inputs, part, f, order) for f in range(len(part.families))]
    for j in order:
        axes = _scope([members for members, _ in left if j in members], order)  # j is the first of them
        aligned = [_aligned(graph, tensor, members, axes) for members, tensor in left if j in members]
        mask = _values_left(graph, inputs, j, sizes[j])
        aligned.append(graph.upright(mask, *range(2, len(axes) + 2)))
        total = graph.add("Max", graph.total(aligned), graph.constant(LOG_ZERO))
        message = graph.add("Squeeze", graph.log_sum(total, 1), graph.constant(np.array([1])))
        left = [*(each for each in left if j not in each[0]), (axes[1:], message)]
    terms = [graph.constant(log_numbers(part.log_prior)[None]), *(tensor for _, tensor in left)]
    return graph.add("Max", graph.total(terms), graph.constant(LOG_ZERO))


def _scope(factors: Sequence[Sequence[int]], order: Sequence[int]) -> tuple[int, ...]:
    """The columns of several factors, in the order of elimination."""
    return tuple(j for j in order if any(j in members for members in factors))


def _factor(graph: Graph, inputs: Inputs, part: Structure, f: int, order: Sequence[int]) -> tuple[tuple[int, ...], str]:
    """The parents in a family, and its logarithms: (rows, values of each of these …, classes)."""
    members, table = part.families[f], log_numbers(part.tables[f])
    axes = _scope([members], order)
    places = [members.index(j) for j in axes]
    if members[-1] in axes:
        return axes, graph.constant(np.transpose(table, [*places, table.ndim - 1])[None])
    lines = np.transpose(table, [table.ndim - 2, *places, table.ndim - 1])
    return axes, graph.lines(lines, inputs.level(members[-1]))


def _aligned(graph: Graph, tensor: str, members: Sequence[int], axes: Sequence[int]) -> str:
    lacking = [1 + k for k, j in enumerate(axes) if j not in members]
    return graph.upright(tensor, *lacking) if lacking else tensor


def _values_left(graph: Graph, inputs: Inputs, j: int, n: int) -> str:
    """0 for the value of a known cell, and for all values of a hidden one; log 0 for others: (rows, n)."""
    left = np.where(np.vstack([np.eye(n), np.ones((1, n))]) > 0, 0.0, LOG_ZERO)
    return graph.add("Gather", graph.constant(left), inputs.level(j), axis=0)


def _refuse_large(part: Structure, order: Sequence[int], sizes: Sequence[int], names: Sequence[str]) -> None:
    left, sums = [_scope([members], order) for members in part.families], []
    for j in order:
        axes = _scope([members for members in left if j in members], order)
        sums.append((prod(sizes[i] for i in axes) * len(part.log_prior), axes))
        left = [*(members for members in left if j not in members), axes[1:]]
    cells = sum(n for n, _ in sums)
    if cells > _MOST_CELLS:
        listed = ", ".join(f"'{names[j]}'" for j in max(sums)[1])
        raise TooLargeError(
            f"summing out missing parents takes {cells} numbers per row, more than the {_MOST_CELLS} of ONNX; the "
            f"largest sum is over {listed}. Fit with fewer parents or fewer values, or write SQL or C."
        )
