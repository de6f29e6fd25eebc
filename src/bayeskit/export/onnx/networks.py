"""Evidence networks as operators on tensors with a place per network and column: few operators, however many of these.

ONNX Runtime takes time that grows with the square of the number of operators to prepare a graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit.export.onnx.columns import Inputs
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.scorer import Integers, Networks


def write_networks(graph: Graph, inputs: Inputs, part: Networks) -> tuple[str, str]:
    """Σ log P(x_j | c, context) with the weights of the columns and the start, and without."""
    used = np.flatnonzero(part.plain_weight)
    start = graph.constant(part.start[None])
    if not len(used):
        return start, graph.constant(np.zeros_like(part.start)[None])
    units = _Units(graph, inputs, part, used)
    lines = units.lines(units.deepest())  # (rows, units, classes)
    weight, plain = (graph.constant(each[units.column][None, :, None]) for each in (part.weight, part.plain_weight))
    one = graph.constant(np.array([1]))
    weighted, unweighted = (
        graph.add("ReduceSum", graph.add("Mul", lines, each), one, keepdims=0) for each in (weight, plain)
    )
    return graph.add("Add", weighted, start), unweighted


class _Units:
    """A unit is a column in one of the networks; tensors have the shape (rows, units)."""

    def __init__(self, graph: Graph, inputs: Inputs, part: Networks, used: Integers) -> None:
        self.graph, self.part = graph, part
        n_networks, n_columns, self.depths = part.parents.shape
        self.network = np.repeat(np.arange(n_networks), len(used))
        self.column = np.tile(used, n_networks)
        self.unit = self.network * n_columns + self.column
        parents = part.parents[:, used]
        self.read = np.union1d(used, parents[parents >= 0])
        self.levels = graph.add("Concat", *(graph.upright(inputs.level(int(j)), 1) for j in self.read), axis=1)
        # Each column has one more place before its levels: a hidden cell, whose bin is -1.
        self.at = part.level_at[:-1] + np.arange(n_columns)
        padded = np.full((n_networks, int(part.level_at[-1]) + n_columns), -1, dtype=np.int64)
        for j in range(n_columns):
            first, last = part.level_at[j : j + 2].tolist()
            padded[:, self.at[j] + 1 : self.at[j] + 1 + last - first] = part.bins[:, first:last]
        self.n_places = padded.shape[1]
        self.bins = graph.constant(padded.ravel())
        self.zero = self.whole(0)

    def whole(self, values: Any) -> str:
        """Return whole numbers as a constant that fits (rows, units)."""
        return self.graph.constant(np.atleast_2d(np.asarray(values, dtype=np.int64)))

    def bin(self, column: Integers) -> str:
        """Return the bin that a cell of this column of each unit has in its network, -1 where it is hidden."""
        graph = self.graph
        level = graph.add("Gather", self.levels, graph.constant(np.searchsorted(self.read, column)), axis=1)
        place = graph.add("Add", level, self.whole(self.network * self.n_places + self.at[column] + 1))
        return graph.add("Gather", self.bins, place, axis=0)

    def deepest(self) -> str:
        """Return the deepest context of each unit that was seen; 0 is that without parents."""
        graph, part = self.graph, self.part
        n_nodes, parents = part.n_nodes.reshape(-1, self.depths + 1), part.parents.reshape(-1, self.depths)
        n_nodes, parents = n_nodes[self.unit], parents[self.unit]
        child = graph.constant(np.append(part.child, 0).astype(np.int64))
        begin, first = part.child_at[self.unit], np.zeros(len(self.unit), dtype=np.int64)
        node = deepest = self.zero
        going = np.ones(len(self.unit), dtype=bool)  # units that have contexts of this depth
        for depth in range(self.depths):
            going = going & (parents[:, depth] >= 0) & (n_nodes[:, depth + 1] > 0)
            if not going.any():
                break
            parent = np.where(going, parents[:, depth], self.column)
            size = np.where(going, part.sizes[self.network, parent], 0)
            b = self.bin(parent)
            known = graph.add("And", graph.constant(going[None]), graph.add("GreaterOrEqual", b, self.zero))
            if depth:
                known = graph.add("And", known, graph.add("Greater", node, self.zero))
            within = graph.add("Add", graph.add("Mul", graph.add("Sub", node, self.whole(first)), self.whole(size)), b)
            # Where there is no context, any child is looked up and not used.
            place = graph.add("Where", known, graph.add("Add", within, self.whole(begin)), self.zero)
            node = graph.add("Where", known, graph.add("Gather", child, place, axis=0), self.zero)
            deepest = graph.add("Where", graph.add("Greater", node, self.zero), node, deepest)
            begin, first = begin + n_nodes[:, depth] * size, first + np.where(going, n_nodes[:, depth], 0)
        return deepest

    def lines(self, context: str) -> str:
        """Return log P(x_j | c, context) of each unit; zeros for a hidden cell."""
        graph, part = self.graph, self.part
        b = self.bin(self.column)
        size = self.whole(part.sizes[self.network, self.column])
        place = graph.add("Add", graph.add("Mul", context, size), b)
        place = graph.add("Add", place, self.whole(part.value_at[self.unit]))
        place = graph.add("Where", graph.add("GreaterOrEqual", b, self.zero), place, self.whole(-1))
        return graph.lines(part.lines.astype(np.float64), place)
