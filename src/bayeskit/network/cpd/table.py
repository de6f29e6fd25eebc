"""The conditional table: P(variable | parents) where all of them are discrete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ModelFileError, NetworkError, TooLargeError
from bayeskit.network.cpd.distribution import MAX_NUMBERS as MAX_NUMBERS
from bayeskit.network.cpd.distribution import MOST_AXES as MOST_AXES
from bayeskit.network.cpd.distribution import Codes, Distribution, Family
from bayeskit.network.cpd.written_form import WrittenForm

Table = NDArray[np.float64]

# Programs print probabilities with as few as six digits, so a row of them may miss 1 by some units of the sixth.
TOLERANCE = 1e-5


@dataclass(frozen=True, eq=False)
class TableCPD(Distribution):
    """P(variable | parents) as a table with one axis per parent, in order, and the variable's own states last.

    Attributes
    ----------
    values : float64 array of shape (states of each parent …, own states)
        The probabilities; read-only, and each row sums to 1.

    Examples
    --------
    >>> cpd = TableCPD(np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> cpd.kind, cpd.n_states, cpd.n_parameters
    ('table', 2, 2)
    """

    values: Table

    # What a file calls this kind of distribution.
    kind: ClassVar[str] = "table"

    def __post_init__(self) -> None:
        self.values.setflags(write=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the table."""
        return self.values.shape

    @property
    def positive(self) -> bool:
        """Whether no probability is 0."""
        return bool((self.values > 0).all())

    def rows(self, codes: Codes) -> Table:
        """Return P(own states | parents) for each row of the parents' codes; rows sum to 1 as inference has them."""
        taken = self.values[tuple(codes.T)] if codes.shape[1] else np.repeat(self.values[None, :], len(codes), axis=0)
        return np.asarray(taken / taken.sum(axis=-1, keepdims=True))

    @property
    def n_parameters(self) -> int:
        """The number of free parameters, (states − 1) · Π parents' states."""
        return self.values.size // self.n_states * (self.n_states - 1)

    def to_parts(self) -> tuple[dict[str, Any], Table]:
        """Return what goes into a model file: fields for JSON, and numbers."""
        return {"shape": list(self.values.shape)}, self.values.reshape(-1)

    @classmethod
    def from_parts(cls, meta: Mapping[str, Any], numbers: Table, shape: tuple[int, ...]) -> TableCPD:
        """Read what :meth:`to_parts` gave; ``shape`` follows from the states of the variable and its parents."""
        if tuple(meta["shape"]) != shape or numbers.shape != (prod(shape),):
            raise ModelFileError(f"a table has shape {meta['shape']} and {numbers.size} numbers; it needs {shape}.")
        return cls(numbers.reshape(shape))


def check_table(
    names: Sequence[str],
    states: Sequence[Sequence[str]],
    parents: Sequence[Sequence[int]],
    i: int,
    table: Any,
    normalize: bool,
) -> Distribution:
    """Return the distribution of variable i in its shape; anything but a distribution is an error."""
    if isinstance(table, WrittenForm):
        table = table.bound(Family.of(names, states, parents, i))
    shape = tuple(len(states[p]) for p in (*parents[i], i))
    if isinstance(table, Distribution):
        if table.shape != shape:
            raise NetworkError(f"the distribution of {names[i]!r} has shape {table.shape}; its family needs {shape}.")
        return table
    if 0 in shape[:-1]:
        real = names[parents[i][shape.index(0)]]
        raise NetworkError(
            f"{names[i]!r} is discrete and has the real parent {real!r}, which a table has no rows for: give a "
            "Logistic or a Probit, turn the arc round, or cut the parent into states."
        )
    try:
        array = np.array(table, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise NetworkError(f"the table of {names[i]!r} is not an array of numbers: {error}") from None
    if array.shape != shape:
        axes = ", ".join([*(f"{names[p]!r}: {len(states[p])}" for p in parents[i]), f"{names[i]!r}: {len(states[i])}"])
        raise NetworkError(
            f"the table of {names[i]!r} has shape {array.shape}; it must be {shape}, one axis per parent in order, its "
            f"own states last ({axes})."
        )
    rows = array.reshape(-1, shape[-1])
    if not (rows >= 0).all() or not np.isfinite(rows).all():
        k = int(np.argmin(((rows >= 0) & np.isfinite(rows)).all(axis=1)))
        raise NetworkError(
            f"{_row_name(names, states, parents, i, k)} holds {rows[k].tolist()}; probabilities are 0 or more."
        )
    sums = rows.sum(axis=1)
    if normalize:
        if not (sums > 0).all():
            k = int(np.argmin(sums))
            raise NetworkError(f"{_row_name(names, states, parents, i, k)} is all zero, so it cannot be normalised.")
        rows /= sums[:, None]
    elif abs(sums - 1.0).max() > TOLERANCE:
        k = int(np.argmax(abs(sums - 1.0) > TOLERANCE))
        raise NetworkError(
            f"{_row_name(names, states, parents, i, k)} sums to {sums[k]:.10g}, not to 1 within {TOLERANCE:g}; "
            "correct it or pass normalize=True."
        )
    return TableCPD(array)


def _row_name(
    names: Sequence[str], states: Sequence[Sequence[str]], parents: Sequence[Sequence[int]], i: int, k: int
) -> str:
    place = np.unravel_index(k, tuple(len(states[p]) for p in parents[i])) if parents[i] else ()
    given = ", ".join(f"{names[p]}={states[p][int(s)]}" for p, s in zip(parents[i], place, strict=True))
    return f"the row P({names[i]} | {given})" if given else f"the table P({names[i]})"


def default_table(name: str, shape: tuple[int, ...], rng: np.random.Generator | None) -> Table:
    """Return uniform rows, or rows sampled from the flat Dirichlet distribution."""
    check_size(name, shape)
    if 0 in shape:
        return np.empty(shape)
    if rng is None:
        return np.full(shape, 1.0 / shape[-1])
    return rng.dirichlet(np.ones(shape[-1]), size=shape[:-1])


def uniform_table(card: int) -> TableCPD:
    """Return the table of a variable without parents in which all states are equally probable."""
    return TableCPD(np.full(card, 1.0 / card))


def check_size(name: str, shape: tuple[int, ...]) -> None:
    """Refuse a table with more axes or numbers than can be made."""
    if len(shape) > MOST_AXES:
        raise TooLargeError(
            f"{name!r} has {len(shape) - 1} parents; a table can have at most {MOST_AXES - 1}. Remove some of them."
        )
    if prod(shape) > MAX_NUMBERS:
        raise TooLargeError(
            f"the table of {name!r} would hold {prod(shape):.3g} numbers; at most {MAX_NUMBERS:.3g} are made. "
            "Remove some of its parents."
        )
