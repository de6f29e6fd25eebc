"""Bernoulli columns: 0 and 1, both always possible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.kinds.categorical import CodedKind
from bayeskit.kinds.kind import Cells, FitContext
from bayeskit.table.column import Column
from bayeskit.table.encode import distinct
from bayeskit.table.schema import Variable


class Bernoulli(CodedKind):
    """Yes / no columns: a table of 0 and 1, both always possible."""

    name = "bernoulli"
    words = ("bernoulli",)
    description = "a smoothed table of 0 and 1, both always possible"
    takes_text = False
    holds = "0 and 1, or false and true"

    def learn(self, columns: Sequence[Column], names: Sequence[str], word: str, training: FitContext) -> list[Variable]:
        """Declare 0 and 1; a column that holds anything else is an error."""
        for column, name in zip(columns, names, strict=True):
            odd = [value for value in distinct(column, name) if value not in (0, 1)]
            if odd:
                raise TableError(
                    f"column '{name}' cannot be bernoulli: it holds {odd[0]!r}; its values must be 0 and 1, or False "
                    "and True."
                )
        return [Variable(name, self.name, (0, 1), declared=True) for name in names]

    def cells(self, variable: Variable) -> Cells:
        """Read 0 and 1 as well as false and true."""
        return "flag"

    def unfit(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which numbers are neither 0 nor 1."""
        return np.asarray((numbers != 0) & (numbers != 1) & ~np.isnan(numbers))
