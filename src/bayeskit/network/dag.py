"""Questions about a directed acyclic graph that is given as the parents of each node, in positions."""

from __future__ import annotations

from collections.abc import Sequence

from bayeskit.errors import NetworkError

Parents = Sequence[Sequence[int]]


def check(names: Sequence[str], parents: Parents) -> None:
    """Refuse parents out of range, repeated parents and cycles; a cycle is shown."""
    for name, own in zip(names, parents, strict=True):
        for p in own:
            if not 0 <= p < len(names):
                raise NetworkError(f"variable {name!r} has the parent {p}; positions go from 0 to {len(names) - 1}.")
        if len(set(own)) < len(own):
            twice = next(names[p] for k, p in enumerate(own) if p in own[:k])
            raise NetworkError(f"variable {name!r} has the parent {twice!r} twice; give it once.")
    if len(_peel(parents)) < len(names):
        cycle = find_cycle(parents)
        raise NetworkError(
            f"the arcs go round in a cycle: {' -> '.join(names[i] for i in cycle)}; take one of them out."
        )


def children(parents: Parents) -> tuple[tuple[int, ...], ...]:
    """Return the children of each node, in ascending order."""
    found: list[list[int]] = [[] for _ in parents]
    for child, own in enumerate(parents):
        for p in own:
            found[p].append(child)
    return tuple(map(tuple, found))


def _peel(parents: Parents) -> list[int]:
    # Kahn's algorithm, first in first out, so that the order stays near the order of construction.
    waiting = [len(own) for own in parents]
    below = children(parents)
    order = [i for i, n in enumerate(waiting) if n == 0]
    for i in order:
        for child in below[i]:
            waiting[child] -= 1
            if waiting[child] == 0:
                order.append(child)
    return order


def topological_order(parents: Parents) -> tuple[int, ...]:
    """Return the nodes, parents before children.

    Examples
    --------
    >>> topological_order([[1], [], [0]])
    (1, 0, 2)
    """
    return tuple(_peel(parents))


def find_cycle(parents: Parents) -> list[int]:
    """Return a cycle along the arcs, its first node repeated at the end; the graph must have one."""
    free = set(_peel(parents))
    # Each node that is left has a parent that is left, so walking upwards must come back.
    walk = [next(i for i in range(len(parents)) if i not in free)]
    seen = {walk[0]: 0}
    while True:
        above = next(p for p in parents[walk[-1]] if p not in free)
        walk.append(above)
        if above in seen:
            return walk[seen[above] :][::-1]
        seen[above] = len(walk) - 1
