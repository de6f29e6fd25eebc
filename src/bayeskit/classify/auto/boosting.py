r"""Boosted trees that learn what the pool leaves: each round lowers the log-loss of rows left out of the pool.

.. math:: \log P(c \mid x) = \log P_{pool}(c \mid x) + G_c(x) - \log Z

G begins at 0 where the pool ends, on rows that the pool was not told of. Rows are dealt into parts, and there is an
ensemble for each, which learns from the rows of the others: so each row is left out of one, which says how many rounds
are worth while, and whether G takes part at all. G is the mean of the ensembles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import BoostedTrees, n_threads
from bayeskit.classify.auto.levels import HIDDEN, Levels
from bayeskit.classify.auto.training_rows import TrainingRows, log_softmax
from bayeskit.classify.auto.trees import PlannedTests

N_PARTS = 4
RATE, MOST_LEAVES, RIDGE, LEAST_CURVE, ROW_SHARE, COLUMN_SHARE = 0.12, 32, 3.0, 1.0, 0.6, 0.7
# Rounds between two looks at the loss and the clock; after so many without a lower loss it ends.
# More rounds than the last number would cost more than four times the rest.
ROUNDS_AT_ONCE, PATIENCE, MOST_ROUNDS = 8, 16, 96
# So do more rows times outputs times columns in all rounds than these; a row costs as much as so many columns besides.
MOST_WORK, COLUMNS_OF_A_ROW = 2.4e9, 80
MOST_BOOSTED_LEAVES = N_PARTS * MOST_ROUNDS * MOST_LEAVES
# Sums of slopes that a node may have: of more levels times outputs fewer columns are drawn.
MOST_SUMS = 1 << 19
# Rows to learn from: fewer tell nothing beyond the pool, and more are worth little.
FEWEST_ROWS, MOST_ROWS = 400, 100_000
# Rows left out gain at least so many nats in all, and more than so many times the standard error.
LEAST_NATS, LEAST_ERRORS = 4.0, 1.0


@dataclass(frozen=True)
class BoostPlan(PlannedTests):
    """The trees and the step of each leaf, which G adds up; later rows do not change it."""

    steps: NDArray[np.float32]  # (n_leaves, n_classes): what a leaf adds to the scores of the classes
    leaf_weight: NDArray[np.float64]  # (n_leaves,): of the rows in it, by which hidden cells are averaged
    gain: float  # nats by which a row left out is better off than by the pool alone

    @cached_property
    def _node_weight(self) -> NDArray[np.float64]:
        return self.kernel.node_weights(self.leaf_weight[:, None], n_threads(len(self.feature)))

    def score(self, codes: NDArray[np.uint8], steps: NDArray[np.float32], threads: int) -> NDArray[np.float64]:
        """Return G of rows, of shape (n_rows, n_classes); where a test needs a hidden cell, both ways are averaged.

        ``steps`` are those of the leaves, under the classes that are asked for.
        """
        weight = self._node_weight if codes.max(initial=0) == HIDDEN else np.empty(0)
        total: NDArray[np.float64] = self.kernel.score(steps, weight, codes, threads) * self.n_trees
        return total


def learn_boosting(
    rows: TrainingRows,
    log_pool: NDArray[np.float64],
    levels: Levels,
    most_leaves: int,
    seed: int,
    out_of_time: Callable[[], bool],
) -> tuple[BoostPlan, NDArray[np.float64]] | None:
    """Return the trees and G of the rows left out, or None where rows left out gain nothing.

    ``log_pool`` (n_rows, n_classes) is log P(c | x) by the pool, from which each row was left out. All trees together
    have ``most_leaves`` at the most.
    """
    part = _dealt(rows)
    kernel = BoostedTrees(
        rows.codes,
        rows.y,
        rows.weight,
        np.ascontiguousarray(log_pool),
        part,
        N_PARTS,
        levels.level_at,
        levels.ordered.view(np.uint8),
        seed,
        RATE,
        MOST_LEAVES,
        RIDGE,
        LEAST_CURVE,
        ROW_SHARE,
        _n_columns(levels, rows.n_classes),
    )
    threads = n_threads(rows.codes.size * 64)
    work = rows.n_rows * (len(levels.ordered) * _n_outputs(rows.n_classes) + COLUMNS_OF_A_ROW)
    most_rounds = min(MOST_ROUNDS, most_leaves // (N_PARTS * MOST_LEAVES), max(ROUNDS_AT_ONCE, int(MOST_WORK / work)))
    n_rounds = _best_round(kernel, rows, log_pool, most_rounds, threads, out_of_time)
    if not n_rounds:
        return None
    left_out = kernel.left_out(n_rounds, threads)
    gain = _gain(log_pool, left_out, rows)
    if not gain:
        return None
    tree_at, feature, test, value, next_, steps, weight = kernel.trees(n_rounds, threads)
    steps /= np.float32(N_PARTS)
    plan = BoostPlan(levels.level_at, tree_at, feature, test, value, next_, steps, weight, gain)
    return plan, left_out


def _dealt(rows: TrainingRows) -> NDArray[np.uint8]:
    """Return the part of each row: each class is dealt out evenly."""
    part = np.empty(rows.n_rows, dtype=np.uint8)
    part[np.argsort(rows.y, kind="stable")] = np.arange(rows.n_rows) % N_PARTS
    return part


def _n_outputs(n_classes: int) -> int:
    return 1 if n_classes == 2 else n_classes


def _n_columns(levels: Levels, n_classes: int) -> int:
    """Return how many columns a tree draws."""
    n = len(levels.ordered)
    fit = int(MOST_SUMS / (2 * _n_outputs(n_classes) * max(1.0, float(levels.level_at[-1]) / n)))
    return max(1, min(int(np.ceil(COLUMN_SHARE * n)), fit))


def _best_round(
    kernel: BoostedTrees,
    rows: TrainingRows,
    log_pool: NDArray[np.float64],
    most_rounds: int,
    threads: int,
    out_of_time: Callable[[], bool],
) -> int:
    """Grow until rows left out gain no more, and return after how many rounds their loss is least."""
    losses = [-float(rows.weight @ log_pool[np.arange(rows.n_rows), rows.y])]
    while len(losses) <= most_rounds and len(losses) - 1 - int(np.argmin(losses)) < PATIENCE and not out_of_time():
        losses += kernel.grow(min(ROUNDS_AT_ONCE, most_rounds + 1 - len(losses)), threads).tolist()
    return int(np.argmin(losses))


def _gain(log_pool: NDArray[np.float64], left_out: NDArray[np.float64], rows: TrainingRows) -> float:
    """Return what a row left out gains by G in nats, or 0 where chance may give as much.

    G is not scaled by what suits the rows left out: they have that of one ensemble, and new rows the mean of all.
    """
    of_true = np.arange(rows.n_rows), rows.y
    gain, total = log_softmax(log_pool + left_out)[of_true] - log_pool[of_true], float(rows.weight.sum())
    mean = float(rows.weight @ gain) / total
    error = float(np.sqrt(rows.weight @ (gain - mean) ** 2)) / total
    return mean if mean * total > LEAST_NATS and mean > LEAST_ERRORS * error else 0.0
