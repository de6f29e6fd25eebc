"""What every sufficient statistic can do: add, subtract, and go into a file and come back."""

from __future__ import annotations

from typing import Any, Protocol, Self, runtime_checkable

from numpy.typing import NDArray

from bayeskit.io.files import Stored
from bayeskit.table.schema import Schema


class Counted(Protocol):
    """What is known of counts without asking for all of their tables."""

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
    """A sum to which small batches are added quickly; it becomes a statistic when somebody asks for the total."""

    @property
    def total(self) -> Statistic:
        """The counts of all rows."""
        ...


@runtime_checkable
class Statistic(Counted, Stored, Protocol):
    """Sufficient statistics of some rows: a value that never changes, with the schema that its numbers are under.

    ``a + b`` is the statistic of both sets of rows, ``a - b`` takes rows away that were counted in ``a``. Integer
    counts add and subtract exactly. ``to_parts`` and ``from_parts`` write and read it, as those of a model do. A model
    learns from nothing else: it counts rows, adds, and believes what the sum says.
    """

    def __add__(self, other: Self, /) -> Self: ...
    def __sub__(self, other: Self, /) -> Self: ...

    def narrow(self) -> Self:
        """Return the same counts without levels and classes that have no row and were not declared."""
        ...
