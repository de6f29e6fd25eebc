"""A distribution as it is written, before it knows the states of its variables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.distribution import Distribution, Family


class WrittenForm(ABC):
    """What a user writes in place of a table; `bound` makes the distribution when it enters a network.

    Attributes
    ----------
    takes_real : bool
        Whether a discrete variable that is written so may have real parents.
    """

    takes_real: ClassVar[bool] = False

    @abstractmethod
    def bound(self, family: Family) -> Distribution:
        """Return the distribution for a family, its numbers in the order of parents and states."""

    def formula_rows(self, cards: tuple[int, ...]) -> int:
        """Return how often a formula is computed for parents with so many states; 0 for what is no formula."""
        return 0

    def default_states(self) -> list[str]:
        """Return the states of a variable that was given none."""
        return ["no", "yes"]


def both(what: str, links: Any, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given for the parents, in a mapping and as keywords; a parent in both is an error."""
    if links is not None and not isinstance(links, Mapping):
        raise NetworkError(f"{what} takes a mapping of parent to its number, or keywords; got {links!r}.")
    twice = sorted(set(links or {}) & set(more))
    if twice:
        raise NetworkError(f"{what}: the parent {twice[0]!r} is given twice.")
    return {**(links or {}), **more}
