"""A distribution as it is written, before it knows the states of its variables."""

from __future__ import annotations

from abc import ABC, abstractmethod

from bayeskit.network.cpd.distribution import Distribution, Family


class WrittenForm(ABC):
    """What a user writes in place of a table; `bound` makes the distribution when it enters a network."""

    @abstractmethod
    def bound(self, family: Family) -> Distribution:
        """Return the distribution for a family, its numbers in the order of parents and states."""

    def default_states(self) -> list[str]:
        """Return the states of a variable that was given none."""
        return ["no", "yes"]
