"""Columns without any value so far: they have no effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.kinds.kind import Cells, Estimation, Grid, Kind, Statistics
from bayeskit.table.schema import Variable


class Unknown(Kind):
    """A column without a value: it has no effect until later rows have one."""

    name = "unknown"
    coded = False
    description = "nothing: the column has no value in any row"
    maximizes = True

    def estimate(self, statistics: Statistics, settings: Estimation) -> Sequence[NDArray[np.float64]]:
        """Return no parameters."""
        return [np.empty((0, len(statistics.n_class))) for _ in statistics.variables]

    def n_parameters(self, variable: Variable, parameters: Any) -> int:
        """Count none."""
        return 0

    def grid(self, variable: Variable, parameters: Any) -> Grid:
        """Return no values."""
        return Grid((), np.ones(0), True)

    def sample(self, variable: Variable, parameters: Any, c: int, size: int, rng: np.random.Generator) -> Any:
        """Return missing cells."""
        return np.full(size, None, dtype=object)

    def table(self, variable: Variable, parameters: Any) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return a table without rows."""
        return (), np.asarray(parameters)

    def cells(self, variable: Variable) -> Cells:
        """Return text, which accepts any cell of a file."""
        return "text"

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Return 0: the column has no effect."""
        return np.zeros((len(column), len(statistics.n_class)))
