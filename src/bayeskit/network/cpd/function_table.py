"""Tables made by a function of the parents' states."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.distribution import Distribution, Family, probability
from bayeskit.network.cpd.equation import values_of
from bayeskit.network.cpd.table import TableCPD, check_size
from bayeskit.network.cpd.written_form import WrittenForm
from bayeskit.network.expression import Expression


class Table(WrittenForm):
    """A table made by a function: `Table.of`."""

    def __init__(self, function: Callable[..., Any] | str, parents: Sequence[str] | None = None) -> None:
        if not callable(function) and not isinstance(function, str):
            raise NetworkError(f"Table.of needs a function of the parents' states, or a formula; got {function!r}.")
        self.function = Expression(function) if isinstance(function, str) else function
        self.parents = None if parents is None else tuple(map(str, [parents] if isinstance(parents, str) else parents))

    @classmethod
    def of(cls, function: Callable[..., Any] | str, parents: Sequence[str] | None = None) -> Table:
        """Return a table whose rows a function gives.

        Parameters
        ----------
        function : callable or str
            Called with one state of each parent, as text; returns the variable's state (or True and False for the
            states that say "yes" and "no"), or a distribution: one number per own state, or a mapping. Or a formula of
            the parents' names (see :class:`~bayeskit.network.expression.Expression`), in which states that are
            numbers count as these, and "yes" and "no" as 1 and 0.
        parents : list of str, optional
            The order of the arguments; by default that of the arcs.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork(
        ...     "a->both<-b",
        ...     tables={"a": [0.5, 0.5], "b": [0.5, 0.5], "both": Table.of(lambda a, b: a == b == "yes")},
        ... )
        >>> net.posterior("both")["yes"]
        0.25
        >>> net.with_table("both", Table.of("a + b >= 1")).posterior("both")["yes"]
        0.75
        """
        return cls(function, parents)

    def formula_rows(self, cards: tuple[int, ...]) -> int:
        """Return how often the formula is computed."""
        return prod(cards)

    def bound(self, family: Family) -> Distribution:
        """Return the table for a family; the function is called once for each row."""
        order = family.parents if self.parents is None else self.parents
        if sorted(order) != sorted(family.parents):
            raise NetworkError(
                f"Table.of for {family.name!r} takes {list(order)}; its parents are {list(family.parents)}."
            )
        check_size(family.name, family.shape)
        values = np.zeros(family.shape)
        if isinstance(self.function, Expression):
            for place, result in values_of(self.function, family).items():
                given = [f"{n}={s[k]}" for n, s, k in zip(family.parents, family.parent_states, place, strict=True)]
                _fill(values[place] if place else values, family, result, ", ".join(given))
            return TableCPD(values)
        places = [family.parents.index(name) for name in order]
        for codes in product(*(range(card) for card in family.shape[:-1])):
            states = [family.parent_states[p][codes[p]] for p in places]
            row = values[codes] if codes else values
            _fill(
                row, family, self.function(*states), ", ".join(f"{n}={s}" for n, s in zip(order, states, strict=True))
            )
        return TableCPD(values)


def _fill(row: Any, family: Family, result: Any, given: str) -> None:
    where = f"Table.of for {family.name!r} given {given or 'no parents'}"
    if isinstance(result, Mapping):
        for state, p in result.items():
            row[family.state(family.name, state)] = probability(p, where)
    elif isinstance(result, bool | np.bool_) and str(result) not in family.states:
        row[_of_truth(family, bool(result), where)] = 1.0
    elif isinstance(result, str) or np.ndim(result) == 0:
        row[family.state(family.name, result)] = 1.0
    elif np.shape(result) == row.shape:
        row[:] = [probability(p, where) for p in result]
    else:
        raise NetworkError(f"{where}: the function returned {result!r}; return a state or a distribution.")
    if abs(row.sum() - 1.0) > 1e-5:
        raise NetworkError(f"{where}: the row sums to {row.sum():g}, not to 1.")


def _of_truth(family: Family, truth: bool, where: str) -> int:
    words = (
        ("yes", "true", "present", "positive", "on", "1")
        if truth
        else ("no", "false", "absent", "negative", "off", "0")
    )
    for place, state in enumerate(family.states):
        if state.lower() in words:
            return place
    raise NetworkError(f"{where}: the function returned {truth}, and no state is called {words[0]!r} or the like.")
