"""The result of a d-separation query: yes or no, and why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from bayeskit.result import Result


@dataclass(frozen=True)
class Separation(Result):
    """Whether two sets of variables are d-separated; if not, an open trail between them is the reason.

    It is true or false in an ``if``.

    Attributes
    ----------
    separated : bool
        Whether they are d-separated.
    trail : tuple of str
        A shortest open trail, or nothing.
    reason : str
        One sentence that says why.
    """

    separated: bool
    trail: tuple[str, ...]
    reason: str

    def __bool__(self) -> bool:
        return self.separated

    def __repr__(self) -> str:
        return self.reason


def blocked(x: Sequence[str], y: Sequence[str], given: Sequence[str]) -> Separation:
    """Return the result that no trail is open."""
    while_given = f"given {_listed(given)}" if given else "while nothing is given"
    return Separation(True, (), f"d-separated: no trail between {_listed(x)} and {_listed(y)} is open {while_given}.")


def unblocked(trail: Sequence[str], arcs: set[tuple[str, str]], openers: dict[str, str]) -> Separation:
    """Return the open trail; ``openers`` holds, for each collider on it, the given variable at or below it."""
    shown = trail[0]
    for a, b in pairwise(trail):
        shown += f" -> {b}" if (a, b) in arcs else f" <- {b}"
    why = "no variable on it is given"
    if openers:
        parts = [f"{c} is given" if c == by else f"{c} has the given descendant {by}" for c, by in openers.items()]
        why = "its colliders are opened: " + ", ".join(parts)
    return Separation(False, tuple(trail), f"not d-separated: the trail {shown} is open; {why}.")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:-1]) + f" and {names[-1]}" if len(names) > 1 else names[0]
