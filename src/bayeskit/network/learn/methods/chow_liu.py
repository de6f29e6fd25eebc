"""Chow–Liu: the tree of greatest likelihood, a maximum spanning tree by mutual information."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bayeskit.counts.families import FamilyCounts
from bayeskit.counts.memory import MemoryLimit
from bayeskit.errors import NetworkError
from bayeskit.estimate.history import History
from bayeskit.estimate.information import maximum_spanning_tree, pair_gain
from bayeskit.network.learn.constraints import Constraints
from bayeskit.network.learn.search_method import Marks, SearchMethod, SearchResult, SearchTask, refuse_constraints
from bayeskit.network.learn.table_fitting import count_columns
from bayeskit.network.variable_names import did_you_mean


@dataclass(frozen=True)
class ChowLiu(SearchMethod):
    """The tree of greatest likelihood, all arcs pointing away from the root.

    Parameters
    ----------
    root : str, optional
        The root of the tree; the first column unless given.

    References
    ----------
    Chow & Liu (1968), Approximating discrete probability distributions with dependence trees.
    """

    name = "chow-liu"

    root: str | None = None

    def begin(self, names: Sequence[str], limits: Constraints) -> Marks:
        """Return the empty graph; refuse constraints, and a root that is not a column."""
        refuse_constraints(self, limits, "finds the best of all trees")
        if limits.max_parents < 1 < len(names):
            raise NetworkError("method 'chow-liu' finds the best of all trees, so max_parents must be at least 1.")
        if self.root is not None and self.root not in names:
            raise NetworkError(f"root must be a column; got {self.root!r}; {did_you_mean(self.root, names)}")
        return super().begin(names, limits)

    def search(self, task: SearchTask) -> SearchResult:
        """Return the tree, and the counts of its families, which the counts of all pairs hold."""
        rows, n = task.rows, len(task.rows.names)
        alone = count_columns(rows.schema, rows.columns, rows.weight, (), task.max_bytes).alone
        counts = FamilyCounts.of(alone, rows.columns, None, "pairs", rows.weight, MemoryLimit(task.max_bytes))
        weight = pair_gain(counts) if n > 1 else np.zeros((1, 1))
        parent = maximum_spanning_tree(weight, 0 if self.root is None else rows.names.index(self.root)).tolist()
        families = tuple((above, child) for child, above in enumerate(parent) if above >= 0)
        arcs = np.zeros((n, n), dtype=bool)
        for above, child in families:
            arcs[above, child] = True
        total = float(counts.n_class.sum())
        gained = np.cumsum([0.0, *(total * weight[above, child] for above, child in families)])
        assert all(a <= b + 1e-9 for a, b in pairwise(gained))
        cells = [counts.table(family).ravel() for family in families]
        kept = FamilyCounts(alone, "given", families, np.concatenate([counts.cells[:0], *cells]))
        history = History(self.name, tuple(gained.tolist()), "the spanning tree is complete", True)
        return SearchResult(arcs, history, kept)
