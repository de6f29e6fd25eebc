"""A graph that grows operator by operator; each returns the name of what it computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx import NodeProto, TensorProto, helper, numpy_helper

# What ONNX Runtime has had since 1.17 of early 2024.
OPSETS = {"": 18, "ai.onnx.ml": 3}


class Graph:
    """Operators and constants; names that begin with ``prefix`` are those of no column."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.prefix = "_"
        while any(name.startswith(self.prefix) for name in taken):
            self.prefix += "_"
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []

    def constant(self, value: Any) -> str:
        """Return the name of a constant; numbers are of double precision."""
        array = np.asarray(value)
        array = array.astype(object if array.dtype.kind in "OU" else array.dtype)
        name = self._name()
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name))
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its result."""
        name = output or self._name()
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

    def total(self, terms: Sequence[str]) -> str:
        """Return the sum of several terms."""
        return self.add("Sum", *terms) if len(terms) > 1 else terms[0]

    def row_sum(self, matrix: str, axis: int = 1) -> str:
        """Return the sums over an axis, which stays."""
        return self.add("ReduceSum", matrix, self.constant(np.array([axis])), keepdims=1)

    def flat(self, column: str) -> str:
        """Return a column as a vector."""
        return self.add("Reshape", column, self.constant(np.array([-1])))

    def upright(self, vector: str, *axes: int) -> str:
        """Return a tensor with more axes, of length 1."""
        return self.add("Unsqueeze", vector, self.constant(np.array(axes, dtype=np.int64)))

    def lines(self, table: Any, level: str) -> str:
        """Return the line of each row's level, zeros where it is -1: the last line of the table."""
        padded = np.concatenate([table, np.zeros((1, *np.shape(table)[1:]))])
        return self.add("Gather", self.constant(padded), level, axis=0)

    def slice(self, tensor: str, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int]) -> str:
        """Return a part of a tensor."""
        return self.add("Slice", tensor, *(self.constant(np.array(each)) for each in (starts, ends, axes)))

    def flat_last(self, tensor: str) -> str:
        """Return a tensor of shape (rows, classes, 1, 1) without its last axes."""
        return self.add("Squeeze", tensor, self.constant(np.array([2, 3])))

    def log_sum(self, scores: str, axis: int) -> str:
        """Return the log of the sum of exponentials over an axis, which stays: shifted, exp() cannot overflow."""
        peak = self.add("ReduceMax", scores, self.constant(np.array([axis])), keepdims=1)
        return self.add(
            "Add", peak, self.add("Log", self.row_sum(self.add("Exp", self.add("Sub", scores, peak)), axis))
        )

    def model(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        """Return the model, checked."""
        from onnx import checker

        graph = helper.make_graph(self.nodes, "bayeskit", list(inputs), list(outputs), self.constants)
        opsets = [helper.make_opsetid(domain, version) for domain, version in OPSETS.items()]
        model = helper.make_model(graph, opset_imports=opsets, producer_name="bayeskit", ir_version=8)
        checker.check_model(model, full_check=True)
        return model

    def _name(self) -> str:
        return f"{self.prefix}{len(self.nodes) + len(self.constants)}"
