"""Context trees: random tests, structure from a part of the rows, counts from all, shrinkage towards the parent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import ContextTrees, grow_context_trees, n_threads
from bayeskit.classify.auto.levels import Levels
from bayeskit.classify.auto.training_rows import TrainingRows

# The strengths m of the shrinkage that are tried.
GRID = np.array([0.02, 0.06, 0.2, 0.6, 2.0, 6.0, 20.0])
# The strength is chosen on this many rows, and the structure of a tree comes from this many at the most.
ROWS_TO_CHOOSE, MOST_STRUCTURE_ROWS = 500, 20_000
MOST_TESTS = 100
TREES_AT_ONCE = 14  # between two looks at the clock


# log P(c | x) of rows by the trees that were not grown on them: of the rows, and where the first stands among all.
LeftOutTrees = Callable[[TrainingRows, int], NDArray[np.float64]]


@dataclass(frozen=True)
class PlannedTests:
    """The tests of some trees, one node after the other; what a leaf holds belongs to those who use them."""

    level_at: NDArray[np.int64]
    tree_at: NDArray[np.int64]  # (n_trees + 1,)
    feature: NDArray[np.int32]  # (n_nodes,): -1 in a leaf
    test: NDArray[np.uint8]
    value: NDArray[np.uint32]
    next: NDArray[np.int32]  # the first child, or the number of the leaf

    @cached_property
    def kernel(self) -> ContextTrees:
        """The compiled trees."""
        return ContextTrees(self.level_at, self.tree_at, self.feature, self.test, self.value, self.next)

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled cannot be pickled, and follows from the rest.
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return len(self.tree_at) - 1


@dataclass(frozen=True)
class TreePlan(PlannedTests):
    """What later rows do not change: the tests of the trees, and the strength of the shrinkage."""

    m: float


def learn_trees(
    rows: TrainingRows,
    sample: TrainingRows,
    levels: Levels,
    n_trees: int,
    n_tests: int,
    most_leaves: int,
    seed: int,
    out_of_time: Callable[[], bool],
) -> tuple[TreePlan, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], LeftOutTrees] | None:
    """Grow trees and choose their shrinkage; None if the time limit was reached before the first.

    Returns the trees, their counts, and log P(c | x) of the sample's rows by the trees that were not grown on them,
    without the row itself; the same by the first half of the trees; and what gives it of other rows.
    """
    share = min(0.5, MOST_STRUCTURE_ROWS / rows.n_rows)
    most_each = max(2, most_leaves // n_trees)
    parts: list[tuple[NDArray[Any], ...]] = []
    for first in range(0, n_trees, TREES_AT_ONCE):
        if out_of_time():
            break
        now = min(TREES_AT_ONCE, n_trees - first)
        parts.append(
            grow_context_trees(
                rows.codes,
                rows.y,
                rows.weight,
                rows.n_classes,
                levels.level_at,
                levels.ordered.view(np.uint8),
                seed,
                first,
                now,
                share,
                n_tests,
                most_each,
                rows.threads,
            )
        )
    if not parts:
        return None
    plan = _joined(levels, parts)
    kernel = plan.kernel
    cells = kernel.count(rows.codes, rows.y, rows.weight, rows.n_classes, rows.threads)

    def left_out(of: TrainingRows, m: NDArray[np.float64], *ends: int, first: int = 0) -> NDArray[np.float64]:
        trees, ids = np.array(ends), np.arange(first, first + of.n_rows)
        threads = n_threads(of.n_rows * plan.n_trees * len(m) * of.n_classes * 8)
        return kernel.leave_one_out(cells, m, trees, of.codes, of.y, of.left_out_weight, ids, seed, 0, share, threads)

    few = sample.first(ROWS_TO_CHOOSE)
    posterior = left_out(few, GRID, plan.n_trees)[0, :, np.arange(few.n_rows), few.y]  # (n_rows, n_grid)
    best = int((few.weight @ np.log(np.maximum(posterior, 1e-6))).argmax())
    both = left_out(sample, GRID[best : best + 1], (plan.n_trees + 2) // 4 * 2, plan.n_trees)[:, 0]
    by_half, by_all = np.log(np.maximum(both, 1e-7))
    chosen = replace(plan, m=float(GRID[best]))
    chosen.__dict__["kernel"] = kernel  # it does not depend on m

    def of_others(of: TrainingRows, first: int) -> NDArray[np.float64]:
        posterior = left_out(of, GRID[best : best + 1], plan.n_trees, first=first)[0, 0]
        return np.asarray(np.log(np.maximum(posterior, 1e-7)))

    return chosen, cells, by_all, by_half, of_others


def _joined(levels: Levels, parts: list[tuple[NDArray[Any], ...]]) -> TreePlan:
    """Return the trees of several calls as one list; leaves are renumbered."""
    tree_at, feature, test, value, next_ = (list(each) for each in zip(*parts, strict=True))
    nodes = leaves = 0
    for k in range(len(parts)):
        is_leaf = feature[k] < 0
        tree_at[k] = tree_at[k][0 if k == 0 else 1 :] + nodes
        next_[k] = np.where(is_leaf, next_[k] + leaves, next_[k]).astype(np.int32)
        nodes += len(is_leaf)
        leaves += int(is_leaf.sum())
    nodes_of = [np.concatenate(each) for each in (tree_at, feature, test, value, next_)]
    return TreePlan(levels.level_at, nodes_of[0], nodes_of[1], nodes_of[2], nodes_of[3], nodes_of[4], 1.0)
