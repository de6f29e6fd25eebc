"""The ten rules that turn circles of a partial ancestral graph into arrows and tails (Zhang 2008)."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import combinations, pairwise

import numpy as np

from bayeskit.network.learn.pag import ARROW, CIRCLE, NONE, TAIL, EdgeMarks

# The variables that separate a pair (a, b) with a < b.
Separating = Mapping[tuple[int, int], Collection[int]]
# Given a discriminating path, whether it may decide; it may not once an edge of it was removed.
PathCheck = Callable[[list[int]], bool]


class MarkRules:
    """The rules R1 to R10 on marks that they change in place; only circles are replaced.

    The letters are those of Zhang (2008), On the completeness of orientation rules for causal discovery in the presence
    of latent confounders and selection bias, Artificial Intelligence 172. A path that must be uncovered (no two
    neighbours of a vertex on it are joined) is searched for edge by edge, so it may pass a variable twice: the proofs
    of the rules never use that it does not.

    Parameters
    ----------
    marks : int8 array of shape (n, n)
        The mark at b of the edge between a and b in row a.
    separators : mapping of (a, b) to variables
        What separates the pairs that are not joined.
    check_path : callable, optional
        Asked before a discriminating path decides.
    """

    def __init__(self, marks: EdgeMarks, separators: Separating, check_path: PathCheck | None = None) -> None:
        self.marks, self._separators, self._check_path = marks, separators, check_path
        self._changed = False

    def apply(self) -> None:
        """Apply all rules until none changes a mark."""
        rounds = ((self._r1_r3, self._r2_r8, self._r4), (self._r5,), (self._r6_r7,), (self._r9_r10,))
        again = True
        while again:
            again = False
            for rules in rounds:
                self._changed = True
                while self._changed:
                    self._changed = False
                    for rule in rules:
                        rule()
                    again |= self._changed

    def _near(self, a: int) -> list[int]:
        near: list[int] = np.flatnonzero(self.marks[a]).tolist()
        return near

    def _set(self, a: int, b: int, mark: int) -> None:
        """Put a mark at b of the edge a, b, if there is a circle."""
        if self.marks[a, b] == CIRCLE:
            self.marks[a, b] = mark
            self._changed = True

    def _into(self, a: int, b: int) -> None:
        """Make a → b."""
        self._set(a, b, ARROW)
        self._set(b, a, TAIL)

    def _r1_r3(self) -> None:
        """R1: a *→ b o–* c, a and c not joined: b → c. R3: a *→ b ←* c, a *–o d o–* c, d *–o b: d *→ b."""
        m = self.marks
        for b in range(len(m)):
            near = self._near(b)
            into = [a for a in near if m[a, b] == ARROW]
            for c in (c for c in near if m[c, b] == CIRCLE):
                if any(a != c and not m[a, c] for a in into):
                    self._into(b, c)
            for d in (d for d in near if m[d, b] == CIRCLE):
                ends = [a for a in into if m[a, d] == CIRCLE]
                if any(not m[a, c] for a, c in combinations(ends, 2)):
                    self._set(d, b, ARROW)

    def _r2_r8(self) -> None:
        """R2: a → b *→ c or a *→ b → c, and a *–o c: a *→ c. R8: a → b → c or a –o b → c, and a o→ c: a → c."""
        m = self.marks
        for a, c in zip(*(side.tolist() for side in np.nonzero(m == CIRCLE)), strict=True):
            two_steps = (m[a] == ARROW) & (m[:, c] == ARROW) & ((m[:, a] == TAIL) | (m[c] == TAIL))
            if two_steps.any():
                self._set(a, c, ARROW)
        for c, a in zip(*(side.tolist() for side in np.nonzero((m == CIRCLE) & (m.T == ARROW))), strict=True):
            first = (m[:, a] == TAIL) & ((m[a] == ARROW) | (m[a] == CIRCLE))
            if (first & (m[:, c] == ARROW) & (m[c] == TAIL)).any():
                self._set(c, a, TAIL)

    def _r4(self) -> None:
        """R4: on a discriminating path d … a, b, c with b o–* c, what separates d and c says if b is a collider."""
        m = self.marks
        for c in range(len(m)):
            for b in [b for b in self._near(c) if m[c, b] == CIRCLE]:
                path = self._discriminating(b, c) if m[c, b] == CIRCLE else None
                if path is None or (self._check_path is not None and not self._check_path(path)):
                    continue
                d, a = path[0], path[-3]
                if b in self._separators.get((min(d, c), max(d, c)), ()):
                    self._into(b, c)
                else:
                    for x, y in ((a, b), (b, a), (b, c), (c, b)):
                        self._set(x, y, ARROW)

    def _discriminating(self, b: int, c: int) -> list[int] | None:
        """Return a shortest path d … a, b, c: d and c not joined, all between d and b colliders and parents of c."""
        m = self.marks

        def is_parent(v: int) -> bool:
            return bool(m[v, c] == ARROW and m[c, v] == TAIL)

        after = {a: b for a in self._near(b) if a != c and m[b, a] == ARROW and is_parent(a)}
        waiting = deque(after)
        while waiting:
            v = waiting.popleft()
            for u in (u for u in self._near(v) if m[u, v] == ARROW and u not in (b, c) and u not in after):
                if not m[u, c]:
                    path = [u, v]
                    while path[-1] != b:
                        path.append(after[path[-1]])
                    return [*path, c]
                if m[v, u] == ARROW and is_parent(u):
                    after[u] = v
                    waiting.append(u)
        return None

    def _r5(self) -> None:
        """R5: an uncovered path of circles a, c … d, b beside a o–o b closes a cycle, whose edges are undirected."""
        m = self.marks
        circles = (m == CIRCLE) & (m.T == CIRCLE)
        for a, b in zip(*(side.tolist() for side in np.nonzero(np.triu(circles))), strict=True):
            if not (m[a, b] == CIRCLE and m[b, a] == CIRCLE):
                continue
            for c in (c for c in self._near(a) if c != b and circles[a, c] and not m[c, b]):
                path = self._uncovered(a, c, lambda u, v: bool(circles[u, v]), end=b)
                if path is not None:
                    for x, y in pairwise([*path, a]):
                        self._set(x, y, TAIL)
                        self._set(y, x, TAIL)
                    break

    def _r6_r7(self) -> None:
        """R6: a — b o–* c: b –* c. R7: a –o b o–* c, a and c not joined: b –* c."""
        m = self.marks
        for b in range(len(m)):
            near = self._near(b)
            lines = [a for a in near if m[a, b] == TAIL and m[b, a] == TAIL]
            halves = [a for a in near if m[a, b] == CIRCLE and m[b, a] == TAIL]
            for c in (c for c in near if m[c, b] == CIRCLE):
                if any(a != c for a in lines) or any(a != c and not m[a, c] for a in halves):
                    self._set(c, b, TAIL)

    def _r9_r10(self) -> None:
        """R9 and R10: uncovered potentially directed paths from a, and a o→ c: a → c."""
        m = self.marks
        for c, a in zip(*(side.tolist() for side in np.nonzero((m == CIRCLE) & (m.T == ARROW))), strict=True):
            first = [u for u in self._near(a) if u != c and self._possible(a, u)]
            reached = {u: self._reached(a, u) for u in first}
            parents = {b for b in self._near(c) if m[b, c] == ARROW and m[c, b] == TAIL}
            nine = any(not m[u, c] and c in reached[u] for u in first)
            ten = any(
                not m[u, w] and any(b != d for b in parents & reached[u] for d in parents & reached[w])
                for u, w in combinations(first, 2)
            )
            if nine or ten:
                self._set(c, a, TAIL)
        self._r2_r8()  # a new tail may give R8 more to do

    def _possible(self, u: int, v: int) -> bool:
        """Return whether the edge may be u → v."""
        return bool(self.marks[u, v] not in (NONE, TAIL) and self.marks[v, u] != ARROW)

    def _reached(self, a: int, u: int) -> set[int]:
        """Return all that uncovered potentially directed paths a, u … reach."""
        return {v for _, v in self._steps(a, u, self._possible)}

    def _uncovered(self, a: int, u: int, fits: Callable[[int, int], bool], end: int) -> list[int] | None:
        """Return a shortest uncovered path a, u … d, end where a and d are not joined, or None."""
        before: dict[tuple[int, int], tuple[int, int] | None] = {}
        for step in self._steps(a, u, fits, before):
            if step[1] == end and not self.marks[step[0], a]:
                path, at = [end], before[step]
                path.append(step[0])
                while at is not None:
                    path.append(at[0])
                    at = before[at]
                return path[::-1]
        return None

    def _steps(
        self,
        a: int,
        u: int,
        fits: Callable[[int, int], bool],
        before: dict[tuple[int, int], tuple[int, int] | None] | None = None,
    ) -> Iterator[tuple[int, int]]:
        """Yield the edges (x, y) of uncovered paths that begin with a, u, nearest first; note where each came from."""
        before = {} if before is None else before
        before[a, u] = None
        waiting = deque([(a, u)])
        while waiting:
            x, y = step = waiting.popleft()
            yield step
            for z in self._near(y):
                if z not in (x, a) and not self.marks[x, z] and (y, z) not in before and fits(y, z):
                    before[y, z] = step
                    waiting.append((y, z))
