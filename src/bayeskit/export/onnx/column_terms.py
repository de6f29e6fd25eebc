"""log P(x | c) of each column as operators over its input: a table that is looked up, or a density."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.sql.cells import LARGEST, refuse_inexact
from bayeskit.export.sql.tables import LOG_ZERO, log_numbers
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.table.schema import Variable

# A number is at most so many √2 deviations from a mean; its square is the log 0 of densities.
_FARTHEST = 1e150


def is_text(variable: Variable) -> bool:
    """Say whether the cells of a column are texts."""
    return not variable.is_binned and any(isinstance(value, str) for value in variable.values)


class Columns:
    """The terms of the columns, each of shape (rows, classes), and the rows that the model refuses."""

    def __init__(self, graph: Graph, unseen: str) -> None:
        self.graph, self.unseen = graph, unseen
        self.refused: list[str] = []  # names of truth values of shape (rows, 1)

    def table(self, variable: Variable, parameters: NDArray[np.float64]) -> str:
        """Look up log P(x | c): the values, then unseen ones where they have a slot, then the missing cell."""
        kept = variable.n_values + (self.unseen == "smooth")
        rows = log_numbers(np.vstack([parameters[:kept], np.zeros((1, parameters.shape[1]))]))
        code = self._text_code(variable, kept) if is_text(variable) else self._number_code(variable, kept)
        return self.graph.add("Gather", self.graph.constant(rows), code, axis=0)

    def _text_code(self, variable: Variable, missing: int) -> str:
        graph, values = self.graph, [str(value) for value in variable.values]
        codes = list(range(len(values)))
        if "" not in values:  # the empty text is a missing cell, since a text of ONNX cannot be null
            values, codes = [*values, ""], [*codes, missing]
        elif self.unseen == "smooth":
            raise BayeskitError(
                f"column '{variable.name}' has the empty text among its values, and a text of ONNX has no null: with "
                "unseen='smooth' a missing cell could not be told."
            )
        unseen = variable.n_values if self.unseen == "smooth" else missing
        code = graph.add(
            "LabelEncoder",
            variable.name,
            domain="ai.onnx.ml",
            keys_strings=values,
            values_int64s=codes,
            default_int64=unseen,
        )
        return self._flat(code)

    def _number_code(self, variable: Variable, missing: int) -> str:
        graph = self.graph
        number, absent = variable.name, graph.add("IsNaN", variable.name)
        if variable.is_binned:
            edges = np.array([variable.edges], dtype=np.float64)  # bin b holds edges[b - 1] <= x < edges[b]
            above = graph.add("Cast", graph.add("GreaterOrEqual", number, graph.constant(edges)), to=7)
            found = self._row_sum(above) if edges.size else graph.constant(np.zeros((1, 1), dtype=np.int64))
            self._refuse_infinite(number)
        else:
            refuse_inexact(variable.name, variable.values)
            values = np.array([[float(value) for value in variable.values]])
            hit = graph.add("Cast", graph.add("Equal", number, graph.constant(values)), to=7)
            unseen = variable.n_values if self.unseen == "smooth" else missing
            # The code of the value that is hit: codes less that of an unseen value, which is added again.
            shifts = graph.constant(np.arange(values.size, dtype=np.int64)[None] - unseen)
            found = graph.add("Add", self._row_sum(graph.add("Mul", hit, shifts)), graph.constant(np.int64(unseen)))
            self._refuse_infinite(number)
        return self._flat(graph.add("Where", absent, graph.constant(np.int64(missing)), found))

    def density(self, variable: Variable, form: ClosedForm) -> str:
        """Compute log p(x | c) but for a term that all classes share; 0 for a missing cell."""
        graph, x = self.graph, variable.name
        self._refuse_infinite(x)
        if form.logarithm:
            self.refused.append(graph.add("LessOrEqual", x, graph.constant(0.0)))
        if form.least is not None:
            self.refused.append(graph.add("Less", x, graph.constant(form.least)))
        if form.whole:
            self.refused.append(graph.add("Less", graph.add("Floor", x), x))
        z = graph.add("Log", x) if form.logarithm else x
        total = graph.constant(form.constant[None])
        if form.slope is not None:
            # A count beyond a million cannot make log 0 more impossible; the product must not overflow.
            limits = graph.constant(np.where(np.isfinite(form.slope), 1.7e308, 1e6)[None])
            slopes = graph.constant(np.maximum(form.slope, LOG_ZERO)[None])
            total = graph.add("Add", total, graph.add("Mul", slopes, graph.add("Min", z, limits)))
        if form.mean is not None and form.half_precision is not None:
            scale = np.sqrt(form.half_precision)
            away = graph.add("Abs", graph.add("Sub", z, graph.constant(form.mean[None])))
            limited = graph.add("Min", away, graph.constant(np.minimum(_FARTHEST / scale, 1e300)[None]))
            scaled = graph.add("Mul", limited, graph.constant(scale[None]))
            total = graph.add("Sub", total, graph.add("Mul", scaled, scaled))
        return graph.add("Where", graph.add("IsNaN", x), graph.constant(0.0), total)

    def _refuse_infinite(self, x: str) -> None:
        self.refused.append(self.graph.add("Greater", self.graph.add("Abs", x), self.graph.constant(LARGEST)))

    def _row_sum(self, matrix: str) -> str:
        return self.graph.add("ReduceSum", matrix, self.graph.constant(np.array([1])), keepdims=1)

    def _flat(self, column: str) -> str:
        return self.graph.add("Reshape", column, self.graph.constant(np.array([-1])))


def sum_in_order(graph: Graph, first: str, tables: list[str], densities: list[Any]) -> str:
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
