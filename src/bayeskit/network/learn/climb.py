"""A graph that changes arc by arc: the legal changes, and the gain of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.structure_scores import StructureScores

# Below this a gain is rounding: with it a search could go round in circles.
LEAST_GAIN = 1e-8
# Gains that differ by less than this share are equal.
_ROUNDING = 1e-7

ADD, DROP, REVERSE = 0, 1, 2


class Move(NamedTuple):
    """A change of one arc, and what it gains."""

    kind: int
    a: int
    b: int
    gain: float


class Climber:
    """A directed acyclic graph, with the gain of each legal change.

    Adding, removing and reversing one arc a → b are the changes. A change of the parents of b changes the gains at b
    only, so the others are kept.
    """

    def __init__(self, scores: StructureScores, limits: Constraints, arcs: NDArray[np.bool_]) -> None:
        self.scores = scores
        self.limits = limits
        n = len(arcs)
        self.arcs = arcs.copy()
        self.local = np.array([scores.local(j, self.parents(j)) for j in range(n)])
        self._toggled = np.full((n, n), np.nan)  # score of family b with a added or removed
        # A number for each arc: the exclusive or over the arcs names a graph, for the list of graphs seen.
        self._names = np.random.default_rng(0).integers(1, 2**63, size=(n, n), dtype=np.uint64)
        self.key = np.uint64(0)
        for a, b in zip(*np.nonzero(arcs), strict=True):
            self.key ^= self._names[a, b]
        self._reach = closure(self.arcs)

    def parents(self, j: int) -> list[int]:
        """Return the parents of a node, in increasing order."""
        return np.flatnonzero(self.arcs[:, j]).tolist()

    @property
    def score(self) -> float:
        """The score of the graph."""
        return float(self.local.sum())

    def gains(self) -> tuple[NDArray[np.float64], NDArray[np.uint64]]:
        """Return the gain of each change, (3, n, n) with −inf where it is not legal, and the graph it leads to."""
        arcs, allowed, required = self.arcs, self.limits.allowed, self.limits.required
        room = arcs.sum(axis=0) < self.limits.max_parents
        add = allowed & ~arcs & ~arcs.T & ~self._reach.T & room[None, :]
        drop = arcs & ~required
        # Reversing a → b makes a cycle where another way leads from a to b.
        around = (arcs.astype(np.float32) @ self._reach.astype(np.float32)) > 0
        reverse = drop & allowed.T & ~around & room[:, None]
        self._fill(add | drop | reverse.T)
        change = self._toggled - self.local[None, :]
        gain = np.full((3, *arcs.shape), -np.inf)
        gain[ADD][add] = change[add]
        gain[DROP][drop] = change[drop]
        gain[REVERSE][reverse] = (change + change.T)[reverse]
        one = self.key ^ self._names
        return gain, np.stack([one, one, one ^ self._names.T])

    def _fill(self, wanted: NDArray[np.bool_]) -> None:
        for j in np.flatnonzero((wanted & np.isnan(self._toggled)).any(axis=0)).tolist():
            new = wanted[:, j] & np.isnan(self._toggled[:, j])
            found = self.scores.toggles(j, self.parents(j), new)
            self._toggled[new, j] = found[new]

    def best(self, gain: NDArray[np.float64]) -> Move:
        """Return the change of the greatest gain.

        Scores are sums in different orders, so equal gains (both directions of a first arc) differ by rounding. Of
        equal ones, an arc is added rather than removed or reversed, to the child with fewest parents, and the first by
        position is taken.
        """
        top = float(gain.max())
        if not np.isfinite(top):
            return Move(ADD, 0, 0, top)
        equal = np.argwhere(gain >= top - _ROUNDING * max(1.0, abs(top)))
        n_parents = self.arcs.sum(axis=0)
        kind, _, a, b = min((kind, int(n_parents[b]), a, b) for kind, a, b in equal.tolist())
        return Move(kind, a, b, float(gain[kind, a, b]))

    def apply(self, move: Move) -> None:
        """Make a change."""
        _, a, b, _ = move
        if move.kind == ADD:
            self.arcs[a, b] = True
            above, below = self._reach[:, a].copy(), self._reach[b].copy()
            above[a], below[b] = True, True
            self._reach |= above[:, None] & below[None, :]
            self._changed(b)
        else:
            self.arcs[a, b] = False
            self._changed(b)
            if move.kind == REVERSE:
                self.arcs[b, a] = True
                self._changed(a)
                self.key ^= self._names[b, a]
            self._reach = closure(self.arcs)
        self.key ^= self._names[a, b]

    def _changed(self, j: int) -> None:
        self.local[j] = self.scores.local(j, self.parents(j))
        self._toggled[:, j] = np.nan

    def perturb(self, n_changes: int, rng: np.random.Generator) -> None:
        """Make some legal changes at random."""
        for _ in range(n_changes):
            gain, _ = self.gains()
            legal = np.flatnonzero(np.isfinite(gain))
            if not len(legal):
                return
            kind, a, b = (int(k) for k in np.unravel_index(int(rng.choice(legal)), gain.shape))
            self.apply(Move(kind, a, b, float(gain[kind, a, b])))


def closure(arcs: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which nodes lead to which along one arc or more (Warshall 1962).

    Examples
    --------
    >>> closure(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)).astype(int)
    array([[0, 1, 1],
           [0, 0, 1],
           [0, 0, 0]])
    """
    reach = arcs.copy()
    for k in np.flatnonzero(arcs.any(axis=0) & arcs.any(axis=1)):
        reach |= reach[:, k][:, None] & reach[k][None, :]
    return reach


def parents_of(arcs: NDArray[np.bool_]) -> list[list[int]]:
    """Return the parents of each node of a matrix of arcs."""
    return [np.flatnonzero(arcs[:, j]).tolist() for j in range(len(arcs))]
