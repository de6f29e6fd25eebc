"""A graph that changes arc by arc: the legal changes, and the gain of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.scored_families import ScoredFamilies

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
    only, so the others are kept. Only the pairs that may be joined are kept, both ways, row by row: where few arcs are
    allowed, a step costs as much as these, and not as all pairs.
    """

    def __init__(self, scores: ScoredFamilies, limits: Constraints, arcs: NDArray[np.bool_]) -> None:
        self.scores = scores
        self.limits = limits
        self.arcs = arcs.copy()
        n, joined = len(arcs), limits.allowed | arcs
        self._a, self._b = np.nonzero(joined | joined.T)  # (n_pairs,) each
        self._flat = self._a * n + self._b
        self._mirror = np.lexsort((self._a, self._b))  # the place of b → a
        self._into = np.split(self._mirror, np.searchsorted(self._b[self._mirror], np.arange(1, n)))  # by child
        self._allowed = limits.allowed[self._a, self._b]
        self._required = limits.required[self._a, self._b]
        self._is_arc = arcs[self._a, self._b]
        self._n_parents = arcs.sum(axis=0)
        self.local = np.array([scores.local(j, self.parents(j)) for j in range(n)])
        self._toggled = np.full(len(self._a), np.nan)  # score of family b with a added or removed
        # A number for each arc: the exclusive or over the arcs names a graph, for the list of graphs seen.
        self._names = np.random.default_rng(0).integers(1, 2**63, size=len(self._a), dtype=np.uint64)
        self.key = np.bitwise_xor.reduce(self._names[self._is_arc])
        self._reach = closure(self.arcs)

    def parents(self, j: int) -> list[int]:
        """Return the parents of a node, in increasing order."""
        return np.flatnonzero(self.arcs[:, j]).tolist()

    @property
    def score(self) -> float:
        """The score of the graph."""
        return float(self.local.sum())

    def gains(self) -> NDArray[np.float64]:
        """Return the gain of each change, (3, n_pairs), with −inf where it is not legal."""
        a, b, mirror, is_arc = self._a, self._b, self._mirror, self._is_arc
        room = self._n_parents < self.limits.max_parents
        add = self._allowed & ~is_arc & ~is_arc[mirror] & ~self._reach[b, a] & room[b]
        drop = is_arc & ~self._required
        reverse = drop & self._allowed[mirror] & room[a]
        # Reversing a → b makes a cycle where another way leads from a to b.
        turned = np.flatnonzero(reverse)
        reverse[turned] = ~(self.arcs[a[turned]] & self._reach[:, b[turned]].T).any(axis=1)
        self._fill(add | drop | reverse[mirror])
        change = self._toggled - self.local[b]
        gain = np.full((3, len(a)), -np.inf)
        gain[ADD][add] = change[add]
        gain[DROP][drop] = change[drop]
        gain[REVERSE][reverse] = (change + change[mirror])[reverse]
        return gain

    def leads_to(self) -> NDArray[np.uint64]:
        """Return the key of the graph that each change leads to, (3, n_pairs)."""
        one = self.key ^ self._names
        return np.stack([one, one, one ^ self._names[self._mirror]])

    def _fill(self, wanted: NDArray[np.bool_]) -> None:
        unknown = wanted & np.isnan(self._toggled)
        for j in np.unique(self._b[unknown]).tolist():
            pairs = self._into[j][unknown[self._into[j]]]
            new = np.zeros(len(self.arcs), dtype=bool)
            new[self._a[pairs]] = True
            self._toggled[pairs] = self.scores.toggles(j, self.parents(j), new)[self._a[pairs]]

    def best(self, gain: NDArray[np.float64]) -> Move:
        """Return the change of the greatest gain.

        Scores are sums in different orders, so equal gains (both directions of a first arc) differ by rounding. Of
        equal ones, an arc is added rather than removed or reversed, to the child with fewest parents, and the first by
        position is taken.
        """
        top = float(gain.max(initial=-np.inf))
        if not np.isfinite(top):
            return Move(ADD, 0, 0, top)
        equal = np.argwhere(gain >= top - _ROUNDING * max(1.0, abs(top)))
        crowd = self._n_parents[self._b]
        kind, _, k = min((kind, int(crowd[k]), k) for kind, k in equal.tolist())  # k goes by a, then by b
        return Move(kind, int(self._a[k]), int(self._b[k]), float(gain[kind, k]))

    def apply(self, move: Move) -> None:
        """Make a change."""
        _, a, b, _ = move
        self._set(a, b, move.kind == ADD)
        if move.kind == REVERSE:
            self._set(b, a, True)

    def _set(self, a: int, b: int, there: bool) -> None:
        pair = int(np.searchsorted(self._flat, a * len(self.arcs) + b))
        self.arcs[a, b] = self._is_arc[pair] = there
        self.key ^= self._names[pair]
        self._n_parents[b] += 1 if there else -1
        self.local[b] = self.scores.local(b, self.parents(b))
        self._toggled[self._into[b]] = np.nan
        if there:
            above, below = np.flatnonzero(self._reach[:, a]), np.flatnonzero(self._reach[b])
            self._reach[np.ix_([*above, a], [*below, b])] = True
        else:
            self._forget(a)

    def _forget(self, a: int) -> None:
        """Find anew what leads where after an arc from a was removed; only a and the nodes above it can lose a way."""
        above = [*np.flatnonzero(self._reach[:, a]).tolist(), a]
        # A node reaches more than each of those below it, so the least first is children first.
        for _, x in sorted(zip(self._reach[above].sum(axis=1).tolist(), above, strict=True)):
            below = np.flatnonzero(self.arcs[x])
            self._reach[x] = self._reach[below].any(axis=0)
            self._reach[x, below] = True

    def perturb(self, n_changes: int, rng: np.random.Generator) -> None:
        """Make some legal changes at random."""
        for _ in range(n_changes):
            gain = self.gains()
            legal = np.flatnonzero(np.isfinite(gain))
            if not len(legal):
                return
            kind, k = (int(i) for i in np.unravel_index(int(rng.choice(legal)), gain.shape))
            self.apply(Move(kind, int(self._a[k]), int(self._b[k]), float(gain[kind, k])))


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
