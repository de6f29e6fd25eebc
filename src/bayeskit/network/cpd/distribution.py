"""What every distribution of a variable given its parents can do; the table is the first of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError, TooLargeError
from bayeskit.network.variable_names import did_you_mean

Table = NDArray[np.float64]
Codes = NDArray[np.int64]

# A table of 1 GiB; a family that large has too many parents.
MAX_NUMBERS = 1 << 27
# Axes that an array of NumPy can have.
MOST_AXES = 64 if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else 32
# Cells of a form's full table that are made only to look for zeros.
LARGEST_LOOKED_AT = 1 << 20
# Rows of a full table that are made at once.
_BLOCK = 1 << 16
# A state with one of these names says that something is there; otherwise it is the last one.
PRESENT = ("yes", "true", "present", "positive", "on", "1")


@dataclass(frozen=True)
class Family:
    """A variable with its parents: names and states, as a distribution is told when it enters a network."""

    name: str
    states: tuple[str, ...]
    parents: tuple[str, ...]
    parent_states: tuple[tuple[str, ...], ...]

    @classmethod
    def of(
        cls, names: Sequence[str], states: Sequence[Sequence[str]], parents: Sequence[Sequence[int]], i: int
    ) -> Family:
        """Return the family of variable i."""
        above = parents[i]
        return cls(names[i], tuple(states[i]), tuple(names[p] for p in above), tuple(tuple(states[p]) for p in above))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of a full table: parents' states …, own states."""
        return (*map(len, self.parent_states), len(self.states))

    def match(self, what: str, given: Mapping[str, Any]) -> list[Any]:
        """Return what was given for each parent, in order; a missing or a strange name is an error."""
        for name in given:
            if name not in self.parents:
                raise NetworkError(
                    f"{what} of {self.name!r} names {name!r}, which is not one of its parents; "
                    f"{did_you_mean(name, self.parents) if self.parents else 'it has none.'}"
                )
        without = [name for name in self.parents if name not in given]
        if without:
            raise NetworkError(f"{what} of {self.name!r} has nothing for the parent {without[0]!r}; give every parent.")
        return [given[name] for name in self.parents]

    def state(self, variable: str, state: object) -> int:
        """Return the place of a state of the variable or of a parent."""
        states = self.states if variable == self.name else self.parent_states[self.parents.index(variable)]
        text = str(state)
        if text not in states:
            raise NetworkError(f"{variable!r} has no state {text!r}; {did_you_mean(text, states)}")
        return states.index(text)


def present_state(states: Sequence[str]) -> int:
    """Return the place of the state that says "it is there": "yes" and its like, or else the last.

    Examples
    --------
    >>> present_state(["yes", "no"]), present_state(["low", "high"])
    (0, 1)
    """
    lower = [state.lower() for state in states]
    return next((lower.index(word) for word in PRESENT if word in lower), len(states) - 1)


@dataclass(frozen=True)
class Step:
    """One step of a chain: how a running state moves on when it meets one parent.

    Attributes
    ----------
    parent : int
        The parent's place among the parents.
    table : float64 array of shape (running states before, the parent's states, running states after)
        Rows sum to 1; the first step begins in one state, and the last ends in the variable's own states.
    """

    parent: int
    table: Table


class Distribution(ABC):
    """P(variable | parents): what inference, learning, sampling and files ask of it.

    Attributes
    ----------
    kind : str
        What a file calls this kind of distribution.
    keeps_order : bool
        Whether the steps of its chain must come in their own order.
    values : float64 array of shape (states of each parent …, own states)
        The full table; read-only, and an error where it is too large to be made.
    """

    kind: ClassVar[str]
    values: Table
    keeps_order: ClassVar[bool] = True

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the full table: parents' states …, own states."""

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @abstractmethod
    def rows(self, codes: Codes) -> Table:
        """Return P(own states | parents) for each row of the parents' codes, (n, n_parents) → (n, n_states)."""

    @abstractmethod
    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return what goes into a model file: fields for JSON, and numbers."""

    @classmethod
    @abstractmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> Distribution:
        """Read what :meth:`to_parts` gave; ``shape`` follows from the states of the variable and its parents."""

    @property
    def n_states(self) -> int:
        """The number of states of the variable."""
        return self.shape[-1]

    @property
    def positive(self) -> bool:
        """Whether no probability is 0; of a form with a large table nothing is promised."""
        return prod(map(float, self.shape)) <= LARGEST_LOOKED_AT and bool((self.values > 0).all())

    def steps(self, order: Sequence[int] | None = None) -> list[Step] | None:
        """Return the chain that the engine may use in place of the table, parents in this order; None if there is none.

        Its running states are hidden variables of two parents each, so no table over all parents is made.
        """
        return None

    def rests_below(self, state: int) -> bool:
        """Return whether this own state means that the running state was 0 all along."""
        return False


class Form(Distribution):
    """A distribution that needs fewer numbers than a table, and makes the table on request."""

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called in messages."""

    @cached_property
    def values(self) -> Table:  # type: ignore[override]
        """The full table; read-only, and an error where it is too large."""
        shape = self.shape
        if not table_fits(shape):
            raise TooLargeError(
                f"the full table of this {self.title} would hold {prod(map(float, shape)):.3g} numbers over "
                f"{len(shape) - 1} parents; at most {MAX_NUMBERS:.3g} are made. What needs no full table (posteriors, "
                "samples, log_probability, .bayes files) works without it."
            )
        total = prod(shape[:-1])
        out = np.empty((total, shape[-1]))
        for at in range(0, total, _BLOCK):
            n = np.arange(at, min(at + _BLOCK, total))
            codes = np.stack(np.unravel_index(n, shape[:-1]), axis=1) if len(shape) > 1 else np.empty((len(n), 0))
            out[at : at + len(n)] = self.rows(codes.astype(np.int64))
        out = out.reshape(shape)
        out.setflags(write=False)
        return out


def table_fits(shape: Sequence[int]) -> bool:
    """Return whether a table of this shape can be made."""
    return len(shape) <= MOST_AXES and prod(map(float, shape)) <= MAX_NUMBERS


def probability(value: Any, what: str) -> float:
    """Return a number from 0 to 1."""
    try:
        p = float(value)
    except (TypeError, ValueError):
        raise NetworkError(f"{what} must be a probability; got {value!r}.") from None
    if not 0.0 <= p <= 1.0:
        raise NetworkError(f"{what} must be from 0 to 1; got {value!r}.")
    return p
