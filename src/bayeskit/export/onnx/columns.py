"""Inputs → levels and numbers, as the model reads them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bayeskit.errors import BayeskitError
from bayeskit.export.onnx.graph import Graph
from bayeskit.export.raw import RawColumn
from bayeskit.export.scorer import Column
from bayeskit.export.sql.cells import LARGEST, refuse_inexact


class Inputs:
    """The columns of a row: level (rows,) of whole numbers, -1 where it is hidden, and number (rows, 1)."""

    def __init__(self, graph: Graph, columns: Sequence[Column], raw: Mapping[int, RawColumn]) -> None:
        """``raw`` has the words and numbers of each column that are other spellings or missing cells."""
        self.graph, self.columns, self.raw = graph, columns, raw
        self.refused: list[str] = []  # names of truth values of shape (rows, 1)
        self._codes: dict[int, str] = {}
        self._levels: dict[int, str] = {}
        self._numbers: dict[int, str] = {}

    def name(self, j: int) -> str:
        """Return the input of a column."""
        return self.columns[j].variable.name

    def number(self, j: int) -> str:
        """Return the numbers of a column, NaN where they are missing."""
        if j not in self._numbers:
            number = self.name(j)
            for missing in self.raw[j].missing_numbers if j in self.raw else ():
                is_missing = self.graph.add("Equal", number, self.graph.constant(float(missing)))
                number = self.graph.add("Where", is_missing, self.graph.constant(np.nan), number)
            self._numbers[j] = number
            too_large = self.graph.add("Greater", self.graph.add("Abs", number), self.graph.constant(LARGEST))
            self.refused.append(too_large)
        return self._numbers[j]

    def is_missing(self, j: int) -> str:
        """Return where a number is missing, (rows, 1)."""
        return self.graph.add("IsNaN", self.number(j))

    def level(self, j: int) -> str:
        """Return the levels of a column."""
        if j not in self._levels:
            levels = self.columns[j].levels
            assert levels is not None
            self._levels[j] = self.graph.add(
                "Gather", self.graph.constant(levels.astype(np.int64)), self.code(j), axis=0
            )
        return self._levels[j]

    def code(self, j: int) -> str:
        """Return the codes of a column."""
        if j not in self._codes:
            self._codes[j] = self._text_code(j) if self.columns[j].is_text else self._number_code(j)
        return self._codes[j]

    def _text_code(self, j: int) -> str:
        column = self.columns[j]
        values = [str(value) for value in column.variable.values]
        codes = list(range(1, len(values) + 1))
        assert column.levels is not None
        if "" not in values:  # the empty text is a missing cell, since a text of ONNX cannot be null
            values, codes = [*values, ""], [*codes, 0]
        elif column.levels[0] != column.levels[-1]:
            raise BayeskitError(
                f"column '{column.variable.name}' has the empty text among its values, and a text of ONNX has no null: "
                "a missing cell could not be told from an unseen value, which this model treats in another way."
            )
        if j in self.raw:
            code_of = dict(zip(values, codes, strict=True))
            words = {word: 0 for word in self.raw[j].missing if word not in code_of}
            words |= {word: code_of[meant] for word, meant in self.raw[j].respelled if meant in code_of}
            code_of |= words
            values, codes = list(code_of), list(code_of.values())
        code = self.graph.add(
            "LabelEncoder",
            self.name(j),
            domain="ai.onnx.ml",
            keys_strings=values,
            values_int64s=codes,
            default_int64=column.variable.n_values + 1,
        )
        return self.graph.flat(code)

    def _number_code(self, j: int) -> str:
        graph, variable, number = self.graph, self.columns[j].variable, self.number(j)
        if variable.is_binned:
            edges = np.array([variable.edges], dtype=np.float64)  # bin b holds edges[b - 1] <= x < edges[b]
            above = graph.add("Cast", graph.add("GreaterOrEqual", number, graph.constant(edges)), to=7)
            code = graph.add("Add", graph.row_sum(above), graph.constant(np.int64(1))) if edges.size else None
            code = code or graph.constant(np.ones((1, 1), dtype=np.int64))
        else:
            refuse_inexact(variable.name, variable.values)
            values = np.array([[float(value) for value in variable.values]])
            hit = graph.add("Cast", graph.add("Equal", number, graph.constant(values)), to=7)
            unseen = variable.n_values + 1
            # The code of the value that is hit: codes less that of an unseen value, which is added again.
            shifts = graph.constant(np.arange(1, values.size + 1, dtype=np.int64)[None] - unseen)
            code = graph.add("Add", graph.row_sum(graph.add("Mul", hit, shifts)), graph.constant(np.int64(unseen)))
        return graph.flat(graph.add("Where", self.is_missing(j), graph.constant(np.int64(0)), code))
