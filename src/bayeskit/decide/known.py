"""Models whose probabilities are all known: what they must tell so that risk and relevance can be summed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError


class Domain(NamedTuple):
    """The values that a feature may take.

    ``weights`` are 1 for values that have a probability; for a density they are the widths of a fine grid, so that
    density times width is a probability. ``exact`` says which of the two it is.
    """

    name: str
    values: tuple[Any, ...]
    weights: NDArray[np.float64]
    exact: bool


class KnownModel(Protocol):
    """A model that knows P(x, c) for every x, missing cells summed out."""

    classes_: NDArray[Any]

    def _domains(self) -> list[Domain]:
        """Return what each feature may take."""
        ...

    def _log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c), shape (n_rows, n_classes), for columns of values in which None is missing."""
        ...

    def _draw(self, n_rows: int, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Return columns of rows drawn from P(x)."""
        ...


def known(model: Any, what: str) -> KnownModel:
    """Return the model when it knows all its probabilities; say what is missing otherwise."""
    if not all(hasattr(model, name) for name in ("_domains", "_log_joint")):
        raise BayeskitError(
            f"{what} needs a model that knows P(x, c), such as NaiveBayes; {type(model).__name__} knows P(c | x) only."
        )
    if not hasattr(model, "classes_"):
        raise BayeskitError(f"{what} needs a fitted model; call fit on this {type(model).__name__} first.")
    trusted: KnownModel = model
    return trusted


def as_column(values: Sequence[Any]) -> NDArray[Any]:
    """Return values as a column of objects, whatever they are."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
