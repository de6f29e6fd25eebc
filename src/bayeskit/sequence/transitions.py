"""Which steps between states are possible: any, left to right, or as a matrix or dict says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.sequence.beliefs import Allowed

WORDS = ("any", "left-to-right")


def refuse_transitions(transitions: Any, start: Any, n_states: Any) -> None:
    """Raise an error for what does not say which steps are possible, before any row is read."""
    if isinstance(transitions, str):
        if transitions not in WORDS:
            raise BayeskitError(f"transitions must be 'any', 'left-to-right', a matrix or a dict; got {transitions!r}.")
    elif isinstance(transitions, Mapping):
        for state, following in transitions.items():
            if isinstance(following, str) or not hasattr(following, "__iter__"):
                raise BayeskitError(f"transitions[{state!r}] must be a list of states; got {following!r}.")
    else:
        matrix = _matrix(transitions)
        if n_states not in ("auto", len(matrix)):
            raise BayeskitError(f"transitions has {len(matrix)} rows, but n_states is {n_states}.")
    if start is not None and (isinstance(start, str) or not hasattr(start, "__iter__")):
        raise BayeskitError(f"start must be a list of states; got {start!r}.")


def allowed_states(transitions: Any, start: Any, states: NDArray[Any]) -> Allowed:
    """Return which states may be first, and which may follow which.

    >>> allowed_states("left-to-right", None, np.arange(3)).step.astype(int)
    array([[1, 1, 1],
           [0, 1, 1],
           [0, 0, 1]])
    >>> allowed_states({"up": ["down"]}, ["up"], np.array(["down", "up"])).step
    array([[ True,  True],
           [ True, False]])
    """
    k = len(states)
    may_begin, step = np.ones(k, dtype=bool), np.ones((k, k), dtype=bool)
    place = {state: i for i, state in enumerate(states.tolist())}
    if isinstance(transitions, str):
        if transitions == "left-to-right":
            may_begin, step = np.arange(k) == 0, np.triu(step)
    elif isinstance(transitions, Mapping):
        for state, following in transitions.items():
            row = _place(place, state, "transitions")
            step[row] = False
            step[row, [_place(place, each, f"transitions[{state!r}]") for each in following]] = True
    else:
        step = _matrix(transitions)
        if len(step) != k:
            raise BayeskitError(f"transitions has {len(step)} rows, but there are {k} states: {states.tolist()[:10]}.")
    if start is not None:
        may_begin = np.zeros(k, dtype=bool)
        may_begin[[_place(place, each, "start") for each in start]] = True
    if not may_begin.any():
        raise BayeskitError("start must name at least one state.")
    dead = ~step.any(axis=1)
    if dead.any():
        state = states.tolist()[int(dead.argmax())]
        raise BayeskitError(f"transitions must let something follow state {state!r}; it may follow itself.")
    return Allowed(may_begin, step)


def _place(place: dict[Any, int], state: Any, where: str) -> int:
    if state not in place:
        raise BayeskitError(f"{where} names state {state!r}; the states are {', '.join(map(repr, list(place)[:10]))}.")
    return place[state]


def _matrix(transitions: Any) -> NDArray[np.bool_]:
    try:
        matrix = np.asarray(transitions)
    except ValueError:
        matrix = np.empty(0)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.dtype.kind not in "biuf" or not len(matrix):
        raise BayeskitError(
            "transitions must be 'any', 'left-to-right', a square matrix of truth values or a dict; got "
            f"{transitions!s:.80}."
        )
    return np.asarray(matrix != 0)
