"""The constraints of a search: required arcs, forbidden arcs, tiers, and the largest number of parents."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network import dag
from bayeskit.network.variable_names import did_you_mean

Arcs = Iterable[Any]


@dataclass(frozen=True, eq=False)
class Constraints:
    """The allowed arcs i → j, and the required ones, as matrices over positions.

    Examples
    --------
    >>> limits = Constraints.of(("A", "B", "C"), tiers=[["A"], ["B", "C"]], blacklist=[("B", "C")])
    >>> limits.allowed.astype(int)
    array([[0, 1, 1],
           [0, 0, 0],
           [0, 1, 0]])
    """

    allowed: NDArray[np.bool_]  # (n, n)
    required: NDArray[np.bool_]  # (n, n)
    max_parents: int

    @classmethod
    def of(
        cls,
        names: Sequence[str],
        whitelist: Arcs = (),
        blacklist: Arcs = (),
        tiers: Sequence[Sequence[str]] | None = None,
        max_parents: int | None = None,
    ) -> Constraints:
        """Read the lists; refuse unknown names, and lists that contradict each other."""
        n, place = len(names), {name: i for i, name in enumerate(names)}
        allowed = ~np.eye(n, dtype=bool)
        tier = _tier_of(names, place, tiers)
        if tier is not None:
            allowed &= tier[:, None] <= tier[None, :]
        required = np.zeros((n, n), dtype=bool)
        for a, b in _read(blacklist, place, names, "blacklist"):
            allowed[a, b] = False
        for a, b in _read(whitelist, place, names, "whitelist"):
            if not allowed[a, b]:
                against = "tiers forbid" if tier is not None and tier[a] > tier[b] else "blacklist forbids"
                raise NetworkError(f"the whitelist has {names[a]} -> {names[b]} and the {against} it; keep one.")
            required[a, b] = True
        parents = [np.flatnonzero(required[:, j]).tolist() for j in range(n)]
        try:
            dag.check(names, parents)
        except NetworkError as error:
            raise NetworkError(f"in the whitelist, {error}") from None
        most = n - 1 if max_parents is None else max_parents
        if most != int(most) or most < 0:
            raise NetworkError(f"max_parents must be a whole number of at least 0; got {max_parents!r}.")
        crowded = [j for j in range(n) if len(parents[j]) > most]
        if crowded:
            raise NetworkError(
                f"the whitelist gives {names[crowded[0]]!r} {len(parents[crowded[0]])} parents and "
                f"max_parents is {most}."
            )
        return cls(allowed, required, int(most))

    def only(self, candidates: NDArray[np.bool_]) -> Constraints:
        """Return the constraints with other arcs than the candidates and the required ones forbidden too."""
        return Constraints(self.allowed & (candidates | self.required), self.required, self.max_parents)


def _tier_of(
    names: Sequence[str], place: dict[str, int], tiers: Sequence[Sequence[str]] | None
) -> NDArray[np.int64] | None:
    if tiers is None:
        return None
    tier = np.full(len(names), -1)
    for level, members in enumerate(tiers):
        for name in [members] if isinstance(members, str) else members:
            i = _place(name, place, names, "tiers")
            if tier[i] >= 0:
                raise NetworkError(
                    f"tiers put {name!r} into tier {tier[i]} and into tier {level}, which would be a cycle of tiers; "
                    "name it once."
                )
            tier[i] = level
    if (tier < 0).any():
        raise NetworkError(f"tiers leave out {names[int((tier < 0).argmax())]!r}; put every variable into one tier.")
    return tier


def _read(arcs: Arcs, place: dict[str, int], names: Sequence[str], what: str) -> list[tuple[int, int]]:
    pairs = []
    for arc in arcs:
        if not isinstance(arc, tuple | list) or len(arc) != 2:
            raise NetworkError(f"the {what} is a list of (parent, child) pairs; got {arc!r}.")
        a, b = (_place(name, place, names, what) for name in arc)
        if a == b:
            raise NetworkError(f"the {what} has an arc from {arc[0]!r} to itself.")
        pairs.append((a, b))
    return pairs


def _place(name: str, place: dict[str, int], names: Sequence[str], what: str) -> int:
    if name not in place:
        raise NetworkError(f"the {what} names {name!r}, which is not a column; {did_you_mean(name, names)}")
    return place[name]


def read_ordering(ordering: Sequence[str] | None, names: Sequence[str]) -> list[int]:
    """Return the positions of an ordering that names every variable once.

    Examples
    --------
    >>> read_ordering(["B", "A"], ("A", "B"))
    [1, 0]
    """
    if ordering is None:
        raise NetworkError("method 'k2' needs ordering=, the list of all columns, causes before effects.")
    place = {name: i for i, name in enumerate(names)}
    places = [_place(name, place, names, "ordering") for name in ordering]
    left_out = [name for name in names if name not in ordering]
    if left_out or len(places) > len(names):
        twice = next((name for k, name in enumerate(ordering) if name in ordering[:k]), None)
        what = f"leaves out {left_out[0]!r}" if left_out else f"has {twice!r} twice"
        raise NetworkError(f"the ordering {what}; it must name each of the {len(names)} columns once.")
    return places
