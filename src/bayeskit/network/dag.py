"""Questions about a directed acyclic graph that is given as the parents of each node, in positions."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from itertools import combinations

from bayeskit.errors import NetworkError

Parents = Sequence[Sequence[int]]
# A node on a trail, and whether the trail came to it from a child.
Step = tuple[int, bool]


def check(names: Sequence[str], parents: Parents) -> None:
    """Refuse parents out of range, repeated parents and cycles; a cycle is shown."""
    for name, above in zip(names, parents, strict=True):
        for p in above:
            if not 0 <= p < len(names):
                raise NetworkError(f"variable {name!r} has the parent {p}; positions go from 0 to {len(names) - 1}.")
        if len(set(above)) < len(above):
            twice = next(names[p] for k, p in enumerate(above) if p in above[:k])
            raise NetworkError(f"variable {name!r} has the parent {twice!r} twice; give it once.")
    if len(topological_order(parents)) < len(names):
        cycle = find_cycle(parents)
        raise NetworkError(f"the arcs form a cycle: {' -> '.join(names[i] for i in cycle)}; remove one of them.")


def children(parents: Parents) -> tuple[tuple[int, ...], ...]:
    """Return the children of each node, in ascending order."""
    below: list[list[int]] = [[] for _ in parents]
    for child, above in enumerate(parents):
        for p in above:
            below[p].append(child)
    return tuple(map(tuple, below))


def topological_order(parents: Parents) -> tuple[int, ...]:
    """Return the nodes, parents before children; nodes on a cycle or below one are left out.

    Of the nodes whose parents are all placed, the one with the lowest number comes next (Kahn 1962), so that the order
    stays near the order of construction.

    Examples
    --------
    >>> topological_order([[1], [], [0]])
    (1, 0, 2)
    >>> topological_order([[], [2], [1]])
    (0,)
    """
    waiting = [len(above) for above in parents]
    below = children(parents)
    ready = [i for i, n in enumerate(waiting) if n == 0]  # rising, and so a heap
    order: list[int] = []
    while ready:
        i = heappop(ready)
        order.append(i)
        for child in below[i]:
            waiting[child] -= 1
            if waiting[child] == 0:
                heappush(ready, child)
    return tuple(order)


def find_cycle(parents: Parents) -> list[int]:
    """Return a cycle along the arcs, its first node repeated at the end; the graph must have one."""
    free = set(topological_order(parents))
    # Each node that is left has a parent that is left, so walking upwards must come back.
    walk = [next(i for i in range(len(parents)) if i not in free)]
    seen = {walk[0]: 0}
    while True:
        above = next(p for p in parents[walk[-1]] if p not in free)
        walk.append(above)
        if above in seen:
            return walk[seen[above] :][::-1]
        seen[above] = len(walk) - 1


def ancestors(parents: Parents, nodes: Iterable[int]) -> set[int]:
    """Return the nodes and all their ancestors.

    Examples
    --------
    >>> sorted(ancestors([[], [0], [1], []], [1]))
    [0, 1]
    """
    reached = set(nodes)
    stack = list(reached)
    while stack:
        for p in parents[stack.pop()]:
            if p not in reached:
                reached.add(p)
                stack.append(p)
    return reached


def markov_blanket(parents: Parents, i: int) -> set[int]:
    """Return the parents, the children and the children's other parents of a node.

    Examples
    --------
    >>> sorted(markov_blanket([[], [], [0, 1], [2]], 0))
    [1, 2]
    """
    families = [{child, *above} for child, above in enumerate(parents) if i in above]
    return set(parents[i]).union(*families) - {i}


def moral_edges(parents: Parents) -> set[tuple[int, int]]:
    """Return the edges (a, b), a < b, of the moral graph: arcs without direction, and edges between parents of a child.

    Examples
    --------
    >>> sorted(moral_edges([[], [], [0, 1]]))
    [(0, 1), (0, 2), (1, 2)]
    """
    return {pair for child, above in enumerate(parents) for pair in combinations(sorted({*above, child}), 2)}


def open_trail(parents: Parents, start: Iterable[int], goal: Iterable[int], given: Iterable[int]) -> list[int] | None:
    """Return a shortest trail from start to goal that the given nodes leave open, or None if they are d-separated.

    A trail is open when each node in its middle is a collider that is given or has a given descendant, or is
    not a collider and not given. A walk over (node, came from a child or a parent) finds it in time linear in the
    arcs (Koller & Friedman 2009, algorithm 3.1); a shortest one never visits a node twice.
    """
    known = set(given)
    targets = set(goal) - known
    came, end = _walk(parents, start, targets, known)
    if end is None:
        return None
    trail: list[int] = []
    step: Step | None = end
    while step is not None:
        trail.append(step[0])
        step = came[step]
    return trail[::-1]


def connected(parents: Parents, start: Iterable[int], given: Iterable[int]) -> set[int]:
    """Return the nodes that some open trail leads to from start, given some nodes; start itself is among them.

    Examples
    --------
    >>> sorted(connected([(), (), (0, 1)], [0], [])), sorted(connected([(), (), (0, 1)], [0], [2]))
    ([0, 2], [0, 1])
    """
    known = set(given)
    return {i for i, _ in _walk(parents, start, set(), known)[0]} - known


def _walk(
    parents: Parents, start: Iterable[int], targets: set[int], known: set[int]
) -> tuple[dict[Step, Step | None], Step | None]:
    """Walk along open trails, nearest first, until a target is met; return where each step came from, and the end."""
    below = children(parents)
    opened = ancestors(parents, known)
    # Starting as if from a child leaves every way open.
    queue = deque((i, True) for i in dict.fromkeys(start) if i not in known)
    came: dict[Step, Step | None] = dict.fromkeys(queue)
    while queue:
        here = queue.popleft()
        i, from_child = here
        if i in targets:
            return came, here
        onward: list[tuple[int, bool]] = []
        if i not in known:
            onward += [(child, False) for child in below[i]]
        if (i not in known) if from_child else (i in opened):
            onward += [(p, True) for p in parents[i]]
        for there in onward:
            if there not in came:
                came[there] = here
                queue.append(there)
    return came, None


def v_structures(parents: Parents) -> set[tuple[int, int, int]]:
    """Return each (a, c, b), a < b, with a → c ← b where a and b are not joined.

    Examples
    --------
    >>> v_structures([[], [], [0, 1]])
    {(0, 2, 1)}
    """
    joined = [set(above) for above in parents]
    return {
        (a, c, b)
        for c, above in enumerate(parents)
        for a, b in combinations(sorted(above), 2)
        if a not in joined[b] and b not in joined[a]
    }


def skeleton(parents: Parents) -> set[tuple[int, int]]:
    """Return the arcs without their direction, as (a, b) with a < b."""
    return {(min(p, i), max(p, i)) for i, above in enumerate(parents) for p in above}


def equivalent(left: Parents, right: Parents) -> bool:
    """Return whether two graphs over the same nodes have the same d-separations (Verma & Pearl 1990).

    Examples
    --------
    >>> equivalent([[], [0], [1]], [[1], [2], []])
    True
    >>> equivalent([[], [0], [1]], [[], [0, 2], []])
    False
    """
    return skeleton(left) == skeleton(right) and v_structures(left) == v_structures(right)


def cpdag(parents: Parents) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Return the arcs that all equivalent graphs share, and the edges (a, b), a < b, whose direction differs.

    V-structures first, then the rules of Meek (1995) until nothing changes.

    Examples
    --------
    >>> arcs, edges = cpdag([[], [], [0, 1], [2]])
    >>> sorted(arcs), sorted(edges)
    ([(0, 2), (1, 2), (2, 3)], [])
    """
    near: list[set[int]] = [set(above) for above in parents]
    for i, above in enumerate(parents):
        for p in above:
            near[p].add(i)
    into: list[set[int]] = [set() for _ in parents]  # the parents that are sure
    for a, c, b in v_structures(parents):
        into[c].update((a, b))
    # Whatever a rule directs agrees with the graph itself, so only its direction need be tried.
    edges = direct_edges(near, into, {(p, i) for i, above in enumerate(parents) for p in above if p not in into[i]})
    return {(a, b) for b, above in enumerate(into) for a in above}, {(min(a, b), max(a, b)) for a, b in edges}


def direct_edges(near: list[set[int]], into: list[set[int]], edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Direct a → b for every edge (a, b) whose other direction would make a cycle or a new v-structure (Meek 1995).

    ``near`` holds the neighbours of each node, ``into`` its sure parents, which grow; the edges left are returned. An
    edge that may be directed either way is given both ways.
    """
    while True:
        forced = {(a, b) for a, b in edges if _must_point(a, b, near, into)}
        # Arcs that contradict each other may force both directions: then neither, whatever the order of the nodes.
        forced = {(a, b) for a, b in forced if (b, a) not in forced}
        if not forced:
            return edges
        for a, b in forced:
            into[b].add(a)
            edges -= {(a, b), (b, a)}


def _must_point(a: int, b: int, near: list[set[int]], into: list[set[int]]) -> bool:
    if any(c not in near[b] and c != b for c in into[a]):  # 1. c → a — b, c and b not joined: else a new v-structure
        return True
    if any(a in into[c] for c in into[b]):  # 2. a → c → b: else a cycle
        return True
    beside = {c for c in near[a] if a not in into[c] and c not in into[a]}  # a — c
    # 3. a — c → b and a — d → b, c and d not joined: else a cycle or a new v-structure
    if any(d not in near[c] for c, d in combinations(beside & into[b], 2)):
        return True
    # 4. a — c → d → b with a and d joined, c and b not joined
    return any(c in into[d] and d in near[a] for c in beside - near[b] - {b} for d in into[b])
