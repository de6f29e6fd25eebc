"""Chow–Liu: the tree of greatest likelihood, a maximum spanning tree by mutual information."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from bayeskit.counts.families import FamilyCounts
from bayeskit.counts.memory import MemoryLimit
from bayeskit.errors import NetworkError
from bayeskit.estimate.information import maximum_spanning_tree, pair_gain
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.network.learn.hill_climb import Arcs
from bayeskit.network.learn.history import LearningHistory
from bayeskit.network.learn.table_fitting import count_columns


def chow_liu(rows: DiscreteRows, limits: Constraints, root: str | None, limit: float) -> tuple[Arcs, LearningHistory]:
    """Return the tree, all arcs pointing away from the root.

    References
    ----------
    Chow & Liu (1968), Approximating discrete probability distributions with dependence trees.
    """
    n = len(rows.names)
    if limits.required.any() or not (limits.allowed | np.eye(n, dtype=bool)).all() or limits.max_parents < 1:
        raise NetworkError("method 'chow-liu' finds the best of all trees, so it takes no lists, tiers or max_parents.")
    if root is not None and root not in rows.names:
        raise NetworkError(f"root must be a column; got {root!r}.")
    alone = count_columns(rows.schema, rows.columns, rows.weight, (), limit).alone
    counts = FamilyCounts.of(alone, rows.columns, None, "pairs", rows.weight, MemoryLimit(limit))
    weight = pair_gain(counts) if n > 1 else np.zeros((1, 1))
    parent = maximum_spanning_tree(weight, 0 if root is None else rows.names.index(root))
    arcs = np.zeros((n, n), dtype=bool)
    for child, above in enumerate(parent.tolist()):
        if above >= 0:
            arcs[above, child] = True
    total = float(counts.n_class.sum())
    gained = np.cumsum([0.0, *(total * weight[a, b] for b, a in enumerate(parent.tolist()) if a >= 0)])
    assert all(a <= b + 1e-9 for a, b in pairwise(gained))
    return arcs, LearningHistory("chow-liu", tuple(gained.tolist()), "the spanning tree is complete", True)
