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
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **attributes: Any) -> str:
        """Add an operator and return the name of its result."""
        name = output or self._name()
        self.nodes.append(helper.make_node(operator, list(inputs), [name], domain=domain, **attributes))
        return name

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
