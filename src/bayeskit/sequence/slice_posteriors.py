"""What a dynamic network answers: the probabilities of each variable in each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.result import Result
from bayeskit.table.names import not_found

Matrix = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class SlicePosteriors(Result):
    """P(x) of each variable in each row.

    Attributes
    ----------
    states : dict of variable to tuple of str
        The states of each variable.
    values : dict of variable to float array of shape (n_rows, n_states)
        Their probabilities, in the order of the rows of the table.
    """

    states: dict[str, tuple[str, ...]]
    values: dict[str, Matrix]

    def __getitem__(self, name: str) -> Matrix:
        if name not in self.values:
            raise BayeskitError(not_found("variable", name, self.values))
        return self.values[name]

    def of(self, name: str, state: str) -> Matrix:
        """Return P(variable = state) of each row."""
        values = self[name]
        if state not in self.states[name]:
            raise BayeskitError(not_found(f"state of {name!r}", state, self.states[name]))
        return np.asarray(values[:, self.states[name].index(state)])
