"""Groups of variables: those that the user made, or parts of a large graph that are joined more inside than outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Arc = tuple[int, int]
MANY = 120  # variables from which a network without groups opens folded, in groups that the graph suggests
SWEEPS = 20


def group_variables(names: Sequence[str], arcs: Sequence[Arc], said: Mapping[str, str]) -> dict[str, list[int]]:
    """Return the members of each group: the user's, or of a large network without any those that the graph suggests.

    A group that the graph suggests is called after its member with the most arcs.

    Examples
    --------
    >>> group_variables(["a", "b", "c"], [(0, 1)], {"b": "tests", "c": "tests"})
    {'tests': [1, 2]}
    """
    groups: dict[str, list[int]] = {}
    if any(name in said for name in names):
        for i, name in enumerate(names):
            if name in said:
                groups.setdefault(said[name], []).append(i)
        return groups
    if len(names) < MANY:
        return {}
    degree = [0] * len(names)
    for a, b in arcs:
        degree[a] += 1
        degree[b] += 1
    for members in communities(len(names), arcs):
        hub = max(members, key=lambda i: (degree[i], -i))
        if len(members) > 1:
            groups[names[hub]] = members
    return groups


def communities(n: int, arcs: Sequence[Arc]) -> list[list[int]]:
    r"""Return a partition of the nodes of high modularity, the same for the same graph.

    .. math:: Q = \sum_g \frac{m_g}{m} - \left(\frac{d_g}{2m}\right)^2

    with m arcs, of which :math:`m_g` lie inside group g, whose nodes have :math:`d_g` ends of arcs. Nodes move to the
    neighbouring group that raises Q most until none does; then each group is one node of a smaller graph (the Louvain
    method, Blondel et al. 2008, J. Stat. Mech. P10008).

    Examples
    --------
    >>> communities(6, [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)])
    [[0, 1, 2], [3, 4, 5]]
    """
    weights: list[dict[int, float]] = [{} for _ in range(n)]
    for a, b in arcs:
        for u, v in ((a, b), (b, a)):
            weights[u][v] = weights[u].get(v, 0.0) + 1.0
    group_of, inside = list(range(n)), [0.0] * n  # weight of arcs inside a node of the smaller graphs, both ends
    while True:
        moved = _move(weights, inside)
        labels = {label: k for k, label in enumerate(dict.fromkeys(moved))}
        group_of = [labels[moved[each]] for each in group_of]
        if len(labels) == len(weights):
            break
        smaller: list[dict[int, float]] = [{} for _ in labels]
        loops = [0.0] * len(labels)
        for u, near in enumerate(weights):
            a = labels[moved[u]]
            loops[a] += inside[u]
            for v, weight in near.items():
                b = labels[moved[v]]
                if a == b:
                    loops[a] += weight
                else:
                    smaller[a][b] = smaller[a].get(b, 0.0) + weight
        weights, inside = smaller, loops
    groups: list[list[int]] = [[] for _ in set(group_of)]
    for i, label in enumerate(group_of):
        groups[label].append(i)
    return groups


def _move(weights: list[dict[int, float]], inside: list[float]) -> list[int]:
    """Move nodes between groups while the modularity rises; return the group of each."""
    degree = [sum(near.values()) + loop for near, loop in zip(weights, inside, strict=True)]
    twice = sum(degree) or 1.0
    group, total = list(range(len(weights))), degree[:]
    for _ in range(SWEEPS):
        changed = False
        for u, near in enumerate(weights):
            old, joined = group[u], {group[u]: 0.0}
            for v, weight in near.items():
                joined[group[v]] = joined.get(group[v], 0.0) + weight
            total[old] -= degree[u]
            best = max(joined, key=lambda g: (joined[g] - degree[u] * total[g] / twice, g == old, -g))
            total[best] += degree[u]
            group[u] = best
            changed |= best != old
        if not changed:
            break
    return group
