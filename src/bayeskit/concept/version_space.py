"""The version space between its most specific and its most general members: updated, counted, listed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.attributes import EMPTY, Attribute, Codes
from bayeskit.concept.conjunctions import ConjunctionSpace
from bayeskit.errors import TooLargeError

# How many different sets of members of G the count may keep apart at once.
_MOST_STATES = 1_000_000
# Pairs of hypotheses that are compared in one go.
_BLOCK = 1 << 20


def exclude(space: ConjunctionSpace, general: Codes, specific: Codes | None, cells: Codes, limit: int) -> Codes:
    """Return G after a negative example: members that cover it are replaced by their most general specialisations.

    Parameters
    ----------
    general : array of shape (n_general, d)
        The constraints of each member of G.
    specific : array of shape (d,) or None
        The constraints of S, below which no member may fall; None while S is ∅.
    cells : array of shape (d,)
        The negative example.
    limit : int
        The largest number of members; more are an error.
    """
    covers = space.covers(general, cells)
    if not covers.any():
        return general
    kept = general[~covers]
    grown: list[Codes] = []
    n_grown = 0
    for member in general[covers]:
        for j, part in enumerate(space.parts):
            narrower = np.array(part.without(int(member[j]), int(cells[j])), dtype=np.int64)
            if specific is not None and len(narrower):
                narrower = narrower[part.at_least(narrower, specific[j])]
            rows = np.repeat(member[None, :], len(narrower), axis=0)
            rows[:, j] = narrower
            grown.append(rows)
            n_grown += len(rows)
        # Most grown rows fall below others, so the limit is asked of what remains, unless that is out of sight too.
        if n_grown > 64 * limit:
            raise _too_large(len(general), n_grown, limit)
    new = np.unique(np.concatenate(grown), axis=0) if grown else np.empty((0, len(cells)), dtype=np.int64)
    new = new[~_below_any(space, new, kept)]
    new = new[~_below_any(space, new, new)]
    if len(kept) + len(new) > limit:
        raise _too_large(len(general), len(kept) + len(new), limit)
    following = np.concatenate([kept, new])
    if not len(following) and specific is None:
        return np.full((1, len(cells)), EMPTY, dtype=np.int64)  # without a positive example ∅ is always consistent
    return following


def _too_large(before: int, after: int, limit: int) -> TooLargeError:
    return TooLargeError(
        f"G would grow from {before} to {after} hypotheses, more than max_general={limit}. Give more positive "
        "examples, fewer columns, or a higher max_general."
    )


def _below_any(space: ConjunctionSpace, rows: Codes, others: Codes) -> NDArray[np.bool_]:
    """Return for each row whether another row is at least as general."""
    below = np.zeros(len(rows), dtype=bool)
    if not len(others):
        return below
    size = max(1, _BLOCK // len(others))
    for start in range(0, len(rows), size):
        mine = rows[start : start + size, None, :]
        at_least = np.ones((mine.shape[0], len(others)), dtype=bool)
        for j, part in enumerate(space.parts):
            at_least &= part.at_least(others[None, :, j], mine[:, :, j])
        same = (mine == others[None, :, :]).all(axis=2)
        below[start : start + size] = (at_least & ~same).any(axis=1)
    return below


Masks = dict[int, int]


def count(
    space: ConjunctionSpace,
    specific: Codes | None,
    general: Codes,
    known: dict[tuple[int, int | None], Masks] | None = None,
) -> int:
    """Return how many conjunctions lie between S and some member of G, as a whole number of any size.

    Attribute by attribute: a constraint keeps those members of G that are at least as general, and conjunctions that
    keep the same members are counted together. ``known`` caches the results for an attribute between counts with
    the same G.
    """
    if not len(general):
        return 0
    general = general[general[:, 0] != EMPTY]
    states: dict[int, int] = {(1 << len(general)) - 1: 1} if len(general) else {}
    for j, part in enumerate(space.parts):
        below = None if specific is None else int(specific[j])
        masks = None if known is None else known.get((j, below))
        if masks is None:
            masks = _masks(part, general[:, j], below)
            if known is not None:
                known[j, below] = masks
        following: dict[int, int] = {}
        for state, n in states.items():
            for mask, m in masks.items():
                left = state & mask
                if left:
                    following[left] = following.get(left, 0) + n * m
        states = following
        if len(states) > _MOST_STATES:
            raise TooLargeError(
                f"the version space has {len(general)} most general hypotheses that overlap in more than "
                f"{_MOST_STATES} ways, and is not counted."
            )
    # While no positive example has come, ∅ is consistent too.
    return sum(states.values()) + (specific is None)


def _masks(part: Attribute, general: Codes, specific: int | None) -> Masks:
    """Return which members of G are more general than a constraint, as bits, and how many constraints each set has."""
    constraints = part.all
    if specific is not None:
        constraints = constraints[part.at_least(constraints, specific)]
    above = part.at_least(general[None, :], constraints[:, None])
    packed = np.packbits(above, axis=1, bitorder="little")
    rows, times = np.unique(packed, axis=0, return_counts=True)
    return {int.from_bytes(row.tobytes(), "little"): int(n) for row, n in zip(rows, times.tolist(), strict=True)}


def members(space: ConjunctionSpace, specific: Codes | None, general: Codes) -> Iterator[tuple[int, ...]]:
    """Yield the constraints of every hypothesis of the version space, each once."""
    if specific is None and len(general):
        yield (EMPTY,) * len(space.parts)
    seen: set[tuple[int, ...]] = set()
    for member in general[general[:, 0] != EMPTY]:
        choices = []
        for j, part in enumerate(space.parts):
            fits = part.at_least(member[j], part.all)
            if specific is not None:
                fits &= part.at_least(part.all, specific[j])
            choices.append(part.all[fits].tolist())
        for constraints in product(*choices):
            if constraints not in seen:
                seen.add(constraints)
                yield constraints
