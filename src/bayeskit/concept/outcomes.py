"""P(d | h) of one hypothesis: a table of outcomes, or a function of the instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bayeskit.concept.probabilities import SUM_TOLERANCE, check_probabilities
from bayeskit.errors import BayeskitError


class OutcomeModel(Protocol):
    """P(d | h) of one hypothesis h."""

    def probability(self, example: Any) -> float:
        """Return P(example | h)."""
        ...

    def outcomes(self, x: Any) -> dict[Any, float]:
        """Return P(v | h), or P(v | h, x), of every outcome v."""
        ...


@dataclass(frozen=True)
class OutcomeTable:
    """A hypothesis that gives each outcome a probability, whatever the instance."""

    name: Any
    table: dict[Any, float]

    def probability(self, example: Any) -> float:
        """Return the probability of the outcome; 0 for one that is not named."""
        try:
            return self.table.get(example, 0.0)
        except TypeError:
            raise BayeskitError(
                f"an example must be one of the outcomes {list(self.table)}; got {example!r}."
            ) from None

    def outcomes(self, x: Any) -> dict[Any, float]:
        """Return the table."""
        if x is not None:
            raise BayeskitError(f"the hypothesis {self.name!r} does not depend on x; leave x out.")
        return self.table


@dataclass(frozen=True)
class OutcomeFunction:
    """A hypothesis that gives an outcome, or a table of outcomes, for each instance x."""

    name: Any
    function: Callable[[Any], Any]

    def probability(self, example: Any) -> float:
        """Return the probability of the outcome of a pair (x, outcome)."""
        if not isinstance(example, tuple) or len(example) != 2:
            raise BayeskitError(
                f"an example must be a pair (x, outcome), since hypotheses are functions; got {example!r}."
            )
        x, outcome = example
        return self.outcomes(x).get(outcome, 0.0)

    def outcomes(self, x: Any) -> dict[Any, float]:
        """Return P(v | h, x) as a table."""
        said = self.function(x)
        return _distribution(self.name, said) if isinstance(said, Mapping) else {said: 1.0}


def read_outcomes(name: Any, says: Any) -> OutcomeModel:
    """Read the outcomes of a hypothesis; anything but a table or a function is an error.

    Examples
    --------
    >>> read_outcomes("fair", {"heads": 0.5, "tails": 0.5}).probability("heads")
    0.5
    >>> read_outcomes("even", lambda x: "yes" if x % 2 == 0 else "no").probability((4, "yes"))
    1.0
    """
    if isinstance(says, Mapping):
        return OutcomeTable(name, _distribution(name, says))
    if callable(says):
        return OutcomeFunction(name, says)
    raise BayeskitError(
        f"the hypothesis {name!r} must be a mapping of outcome to probability or a function of x; got {says!r:.60}. "
        "Or give likelihood=, a function (h, d) → P(d | h)."
    )


def _distribution(name: Any, table: Mapping[Any, Any]) -> dict[Any, float]:
    values = np.array([float(p) for p in table.values()], dtype=np.float64)
    check_probabilities(values, f"P(d | {name})", tuple(table))
    if abs(values.sum() - 1.0) > SUM_TOLERANCE:
        raise BayeskitError(f"the outcomes of {name!r} sum to {values.sum():.12g}; P(d | h) must sum to 1.")
    return dict(zip(table, values.tolist(), strict=True))
