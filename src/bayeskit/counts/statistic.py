"""The protocol of sufficient statistics: add, subtract, save and load."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from bayeskit.io.model_files import Stored
from bayeskit.table.schema import Schema


class Counted(Protocol):
    """The part of counts that is known without computing all tables."""

    @property
    def schema(self) -> Schema:
        """The columns, their kinds and their levels."""
        ...

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels, of shape (n_classes,), in increasing order."""
        ...

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows of each class, or their weight, of shape (n_classes,)."""
        ...

    def declare(self, classes: NDArray[Any]) -> Self:
        """Return the same counts with declared classes, which may have no row yet."""
        ...


class Running(Counted, Protocol):
    """A sum to which small batches are added quickly; :attr:`total` turns it into a statistic."""

    @property
    def total(self) -> Statistic:
        """The counts of all rows."""
        ...


@runtime_checkable
class Statistic(Counted, Stored, Protocol):
    """Sufficient statistics of some rows: an immutable value, with the schema of its columns.

    ``a + b`` is the statistic of both sets of rows, ``a - b`` subtracts rows that were counted in ``a``. Integer
    counts add and subtract exactly. ``to_parts`` and ``from_parts`` write and read it, as those of a model do. A model
    learns only from statistics: it counts rows, adds, and estimates from the sum.
    """

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...

    def narrow(self) -> Self:
        """Return the same counts without levels and classes that have no row and were not declared."""
        ...
