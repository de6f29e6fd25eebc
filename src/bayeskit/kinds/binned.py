"""Binned columns: numbers are put into bins, which are counted like values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bayeskit.errors import TableError
from bayeskit.kinds.categorical import CodedKind
from bayeskit.kinds.kind import Cells, FitContext, Grid
from bayeskit.table.column import Column
from bayeskit.table.discretize import METHODS, learn_edges, learn_mdl_edges
from bayeskit.table.encode import as_numbers, refuse_infinite
from bayeskit.table.schema import Variable


class Binned(CodedKind):
    """Numbers that no density fits: a table of bins. Bin b holds edges[b - 1] <= x < edges[b]."""

    name = "binned"
    words = METHODS
    takes_text = False
    description = "a smoothed table of at most `bins` bins"
    one_value = "One bin: no cut of its numbers separates the classes."

    def learn(self, columns: Sequence[Column], names: Sequence[str], word: str, training: FitContext) -> list[Variable]:
        """Bin each column by its method; "mdl" bins all columns at once, using the classes."""
        numbers = [as_numbers(column, name, word) for column, name in zip(columns, names, strict=True)]
        for column, name in zip(numbers, names, strict=True):
            refuse_infinite(column, name)
        if word != "mdl":
            edges = [learn_edges(column, word, training.bins, training.weight) for column in numbers]  # type: ignore[arg-type]
        elif training.y is None:
            raise TableError(f"column '{names[0]}' cannot be cut by 'mdl' without class labels.")
        else:
            edges = learn_mdl_edges(numbers, training.y, int(training.y.max()) + 1, training.weight)
        return [Variable(name, self.name, edges=cuts) for name, cuts in zip(names, edges, strict=True)]

    def grid(self, variable: Variable, parameters: Any) -> Grid:
        """Return one number from each bin."""
        edges = variable.edges
        values = (float(np.nextafter(edges[0], -np.inf)), *edges) if edges else (0.0,)
        return Grid(values, np.ones(len(values)), True)

    def cells(self, variable: Variable) -> Cells:
        """Read numbers: the values of the variable are the names of its bins."""
        return "number"
