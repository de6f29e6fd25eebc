"""What is to be expected after the last row of a sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.kinds import Kind
from bayeskit.learn.naive_beliefs import kinds_of
from bayeskit.result import Result
from bayeskit.sequence.beliefs import ChainBeliefs
from bayeskit.table.names import not_found
from bayeskit.table.schema import Variable

Matrix = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Forecast(Result):
    """The rows to come: their states and their cells.

    Attributes
    ----------
    groups : tuple
        The sequences, in the order in which they first come.
    state_names : tuple
        The states.
    states : float array of shape (n_sequences, n_steps, n_states)
        P(state of the h-th row to come | rows so far).
    columns : dict
        For each column its values and their probabilities, of shape (n_sequences, n_steps, n_values), or for numbers
        ("mean", "deviation") and these two.
    """

    groups: tuple[Any, ...]
    state_names: tuple[Any, ...]
    states: Matrix
    columns: dict[str, tuple[tuple[Any, ...], Matrix]]

    def column(self, name: str) -> tuple[tuple[Any, ...], Matrix]:
        """Return values and probabilities of a column, or mean and deviation of numbers."""
        if name not in self.columns:
            raise BayeskitError(not_found("column", name, self.columns))
        return self.columns[name]


def forecast_columns(chain: ChainBeliefs, states: Matrix) -> dict[str, tuple[tuple[Any, ...], Matrix]]:
    """Return the distribution of each column, given P(state), of shape (n_sequences, n_steps, n_states)."""
    columns = {}
    for j, (variable, kind) in enumerate(zip(chain.schema, kinds_of(chain.schema), strict=True)):
        parameters = chain.cells.parameters[j]
        if variable.is_discrete:
            values, table = kind.table(variable, parameters)  # (n_values, n_states)
            columns[variable.name] = values, states @ (table / table.sum(axis=0)).T
        elif variable.is_numeric:
            mean, square = _moments(kind, variable, parameters, chain, j)
            expected = states @ mean
            deviation = np.sqrt(np.maximum(states @ square - expected**2, 0.0))
            columns[variable.name] = ("mean", "deviation"), np.stack([expected, deviation], axis=-1)
    return columns


def _moments(kind: Kind, variable: Variable, parameters: Any, chain: ChainBeliefs, j: int) -> tuple[Matrix, Matrix]:
    """Return E[x] and E[x²] of a numeric column in each state, over the grid of its kind."""
    grid = kind.grid(variable, parameters)
    x = np.asarray(grid.values, dtype=np.float64)
    read = x if kind.any_number else kind.read(variable, x)
    weight = np.exp(kind.log_density(variable, parameters, read)) * grid.weights[:, None]  # (n_points, n_states)
    weight /= weight.sum(axis=0)
    return x @ weight, x**2 @ weight
