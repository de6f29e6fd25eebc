"""The states of a network's variables as a schema: which values of a table each state stands for."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np

from bayeskit.errors import NetworkError
from bayeskit.table.schema import Schema, Value, Variable

# What a classifier with unseen="smooth" keeps for a value that training did not show.
UNSEEN_STATE = "(unseen)"
# A table may hold text without a letter, which no file of a network could name.
EMPTY_STATE = "(empty)"


def schema_of(names: Sequence[str], states: Sequence[Sequence[str]]) -> Schema:
    """Return the schema of a network whose states have only names: categorical columns of text."""
    return Schema(
        tuple(
            Variable(name, "categorical", tuple(named), declared=True)
            for name, named in zip(names, states, strict=True)
        )
    )


def state_names(variable: Variable) -> tuple[str, ...]:
    """Return the states that a column of a table gives: its values, or its bins, as text.

    Examples
    --------
    >>> state_names(Variable("seats", "categorical", (2, 4)))
    ('2', '4')
    """
    return tuple(str(value) or EMPTY_STATE for value in variable.values)


def check_schema(schema: Schema, names: Sequence[str], states: Sequence[Sequence[str]]) -> Schema:
    """Refuse a schema whose columns and values are not the variables and states of the network.

    One more state than values is allowed, `UNSEEN_STATE`, which stands for every value that the schema does not have.
    """
    if schema.names != tuple(names):
        raise NetworkError(f"the schema has the columns {list(schema.names)}; the variables are {list(names)}.")
    for variable, named in zip(schema, states, strict=True):
        if variable.is_numeric and not named:
            continue  # a real variable
        if not variable.is_discrete:
            raise NetworkError(
                f"column {variable.name!r} is {variable.kind}, and the variable has states; cut it into bins."
            )
        known = state_names(variable)
        if tuple(named) not in (known, (*known, UNSEEN_STATE)):
            raise NetworkError(
                f"variable {variable.name!r} has the states {list(named)}; its schema has {list(known)}."
            )
    return schema


def find_state(value: object, places: Mapping[str, int]) -> int | None:
    """Return the place of the state that a value means, or None: 1 and 1.0 are "1", True is "True", "true" or "TRUE".

    Examples
    --------
    >>> find_state(True, {"FALSE": 0, "TRUE": 1})
    1
    """
    if isinstance(value, str):
        return places.get(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    if text not in places and text in ("True", "False"):
        return places.get(text.lower(), places.get(text.upper()))
    return places.get(text)


def state_of(value: object, variable: Variable, places: Mapping[str, int]) -> int | None:
    """Return the place of the state that a value of the variable's column falls into, or None.

    Examples
    --------
    >>> age = Variable("age", "binned", edges=(30.0, 41.0))
    >>> places = {state: k for k, state in enumerate(age.values)}
    >>> state_of(35, age, places), state_of("[41, inf)", age, places)
    (1, 2)
    """
    if isinstance(value, str) and value in places:
        return places[value]  # the usual case, first
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | float) and variable.is_binned and isfinite(value):
        return bisect_right(variable.edges, value)
    if isinstance(value, int | float | str) and value in variable.code_of:
        return variable.code_of[value]
    return find_state(value, places)


def states_as_numbers(states: Sequence[str]) -> dict[Value, int]:
    """Return the numbers that states are written as, each with the state's place; "1" comes before "1.0" and "01".

    Examples
    --------
    >>> states_as_numbers(["1", "2.5", "many"])
    {1: 0, 2.5: 1}
    """
    nearest: dict[Value, int] = {}
    exact: dict[Value, int] = {}
    for k, state in enumerate(states):
        try:
            number = float(state)
        except ValueError:
            continue
        if not isfinite(number) or "_" in state:
            continue
        value: Value = int(number) if number.is_integer() else number
        nearest.setdefault(value, k)
        if str(value) == state:
            exact[value] = k
    return {**nearest, **exact}
