"""Distributions written as formulas: the table of a discrete variable, the mean and noise of a real one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product
from math import prod
from typing import Any

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.network.cpd.distribution import PRESENT, Family
from bayeskit.network.cpd.gaussian import GaussianCPD, RealForm
from bayeskit.network.cpd.table import check_size
from bayeskit.network.expression import Expression
from bayeskit.network.expression_values import Linear, State, as_linear

_ABSENT = ("no", "false", "absent", "negative", "off", "0")


class Equation(RealForm):
    """A real variable as a formula of its parents: linear in the real ones, with normal noise.

    Parameters
    ----------
    formula : str
        As in `Expression`; ``Normal(mean, sd)`` is the noise, and an ``If`` may look at discrete parents.

    Examples
    --------
    >>> from bayeskit import BayesianNetwork
    >>> tables = {"sex": [0.5, 0.5], "height": Equation("If(sex == 'f', 166, 179) + Normal(0, 6)")}
    >>> net = BayesianNetwork("sex{f|m}->height", tables=tables)
    >>> round(net.posterior("sex", given={"height": 175})["m"], 4)
    0.7115
    """

    def __init__(self, formula: str, *, by_place: bool = False, aliases: Mapping[str, str] | None = None) -> None:
        # `by_place`: states count as 0, 1, … in the order of the variable, as GeNIe has them. `aliases`: what a formula
        # calls a parent → its name.
        self.formula, self.by_place, self.aliases = Expression(formula), by_place, dict(aliases or {})

    def __repr__(self) -> str:
        return f"Equation({self.formula.text!r})"

    def formula_rows(self, cards: tuple[int, ...]) -> int:
        """Return how often the formula is computed."""
        return prod(card for card in cards if card)

    def bound(self, family: Family) -> GaussianCPD:
        """Return the normal of each configuration of the discrete parents."""
        real = [name for name, states in zip(family.parents, family.parent_states, strict=True) if not states]
        cards = tuple(map(len, family.parent_states))
        size = prod(card for card in cards if card)
        check_size(family.name, (*(card for card in cards if card), len(real) + 2))
        intercept, slope, sd = np.zeros(size), np.zeros((size, len(real))), np.zeros(size)
        aliases = {alias: name for alias, name in self.aliases.items() if name in family.parents}
        for k, values in enumerate(configurations(family, self.by_place)):
            values |= {alias: values[name] for alias, name in aliases.items()}
            line = as_linear(self.formula.value(values))
            if not line.sd > 0:
                raise NetworkError(
                    f"the formula of {family.name!r}, {self.formula.text!r}, has no noise; add + Normal(0, sd)."
                )
            intercept[k], sd[k] = line.constant, line.sd
            slope[k] = [line.slopes.get(name, 0.0) for name in real]
        return GaussianCPD(cards, intercept, slope, sd)


def configurations(family: Family, by_place: bool = False) -> Iterator[dict[str, Any]]:
    """Yield what the names of a formula stand for, for each configuration of the discrete parents."""
    constants = {
        state: State(state)
        for states in (family.states, *family.parent_states)
        for state in states
        if state not in family.parents
    }
    choices = []
    for name, states in zip(family.parents, family.parent_states, strict=True):
        choices.append(states_as_values(states, by_place) if states else [Linear(slopes={name: 1.0})])
    for values in product(*choices):
        yield {**constants, **dict(zip(family.parents, values, strict=True))}


def states_as_values(states: tuple[str, ...], by_place: bool = False) -> list[State]:
    """Return states with the numbers that they count as: those that they are, 1 and 0 for yes and no, or places."""
    if by_place:
        return [State(state, float(k)) for k, state in enumerate(states)]
    numbers = [_as_number(state) for state in states]
    if None not in numbers:
        return [State(state, value) for state, value in zip(states, numbers, strict=True)]
    lower = [state.lower() for state in states]
    if len(states) == 2 and any(word in lower for word in PRESENT) and any(word in lower for word in _ABSENT):
        return [State(state, float(word in PRESENT)) for state, word in zip(states, lower, strict=True)]
    return [State(state) for state in states]


def _as_number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if np.isfinite(value) and "_" not in text else None


def state_of_value(value: Any, states: tuple[str, ...]) -> Any:
    """Return what a formula gave as a function of a table would return it: a state, a truth value or a row."""
    if isinstance(value, State):
        return value.text
    if isinstance(value, float):
        for state in states:
            if _as_number(state) == value:
                return state
        return bool(value) if value in (0.0, 1.0) else f"{value:g}"
    if isinstance(value, Linear):
        raise NetworkError("the formula depends on a real variable; a discrete variable has discrete parents only.")
    return value


def values_of(formula: Expression, family: Family) -> Mapping[tuple[int, ...], Any]:
    """Return what a formula gives for each configuration of discrete parents."""
    places = product(*(range(len(states)) for states in family.parent_states))
    return {
        place: state_of_value(formula.value(values), family.states)
        for place, values in zip(places, configurations(family), strict=True)
    }
