"""One variable of a network with its conditional table, printed as a table and given as a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.answer_tables import SHOWN, FrameOf, frame_of, text_table
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.table import TableCPD
from bayeskit.result import Result


def places_of_states(
    names: Sequence[str], states: Sequence[Sequence[str]], key: str | tuple[str, ...]
) -> tuple[int, ...]:
    """Return the positions of one state for each variable."""
    given = (key,) if isinstance(key, str) else tuple(key)
    if len(given) != len(names):
        raise KeyError(f"give one state for each of {', '.join(names) or 'no parents'}; got {key!r}")
    for name, known, state in zip(names, states, given, strict=True):
        if state not in known:
            raise KeyError(f"{name} has no state {state!r}; states: {', '.join(known)}")
    return tuple(known.index(state) for known, state in zip(states, given, strict=True))


@dataclass(frozen=True, eq=False, repr=False)
class VariableTable(Result):
    """P(variable | parents) of one variable, as ``net["x"]`` gives it.

    Attributes
    ----------
    name : str
        The variable.
    states : tuple of str
        Its states.
    parents : tuple of str
        Its parents, in the order of the array's axes.
    parent_states : tuple of tuples of str
        The states of each parent.
    distribution : Distribution
        The table, or the form that stands for it.
    array : float64 array of shape (parents' states …, own states)
        The probabilities; read-only. A form with too many parents has none, and rows are asked for one by one.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
    >>> net["wet"]
    rain  no   yes
    no    0.9  0.1
    yes   0.1  0.9
    >>> net["wet"]["yes"]
    array([0.1, 0.9])
    """

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    parent_states: tuple[tuple[str, ...], ...]
    distribution: Distribution

    @property
    def array(self) -> NDArray[np.float64]:
        """The full table."""
        return self.distribution.values

    def __getitem__(self, given: str | tuple[str, ...]) -> NDArray[np.float64]:
        """Return the row for the parents' states, one for each in order."""
        places = places_of_states(self.parents, self.parent_states, given)
        if isinstance(self.distribution, TableCPD):
            return np.asarray(self.array[places])
        return np.asarray(self.distribution.rows(np.array([places], dtype=np.int64).reshape(1, -1))[0])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.array, dtype=dtype)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a column for each parent and one for each own state; the constructor reads it back."""
        rows = self.array.reshape(-1, len(self.states))
        keys = list(zip(*product(*self.parent_states), strict=True)) if self.parents else []
        columns: dict[str, Any] = {name: list(key) for name, key in zip(self.parents, keys, strict=True)}
        return frame_of({**columns, **{state: rows[:, k] for k, state in enumerate(self.states)}}, output)

    def __repr__(self) -> str:
        if not self.states:
            return f"{self.name}: {self.distribution!r}"
        keys = islice(product(*self.parent_states), SHOWN)
        cells = [(*key, *(f"{p:.6g}" for p in self[key])) for key in keys]
        return text_table((*self.parents, *self.states), cells, prod(map(len, self.parent_states)))
