"""Evidence networks: the bins, parents and back-off strengths of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import EvidenceNetworks, grow_contexts, pair_gains
from bayeskit.classify.auto.levels import Levels
from bayeskit.classify.auto.training_rows import TrainingRows
from bayeskit.estimate.smoothing import BACK_OFF_GRID

DEPTHS = 3
GRID = np.array(BACK_OFF_GRID)
PLAIN_STRENGTH = 10.0
# Bins of a numeric column where there are at most so many rows; of more rows as many times as their root says.
FEWEST_BINS, MOST_BINS, ROWS_OF_FEW_BINS, MOST_TIMES_BINS = 4, 12, 2000, 6.0
# A bin has so many rows on average. The only row of a bin says nothing when it is left out, but something of a new row.
ROWS_PER_BIN = 7
# The share of the columns before it from which a column may choose its parents.
OPEN = 0.6
# A context becomes a node where at least so many rows have it, and one row for so many cells.
FEWEST_ROWS, CELLS_PER_ROW = 4.0, 16.0
# Gains of parents are computed with the bins of every so many networks.
NETWORKS_PER_GAINS = 8
# So many times the rows of the sample are enough to choose parents on rows behind it.
ENOUGH_ROWS_BEHIND = 1.5
# Rows times pairs of columns that are looked at to choose parents.
MOST_PAIR_WORK = 4e8


@dataclass(frozen=True)
class NetworkPlan:
    """What later rows do not change: bins, parents, contexts and strengths of back-off."""

    bins: NDArray[np.uint8]  # (n_networks, n_levels)
    sizes: NDArray[np.int32]  # (n_networks, n_features)
    parents: NDArray[np.int32]  # (n_networks, n_features, DEPTHS): -1 after the last
    n_nodes: NDArray[np.int32]  # (n_networks, n_features, DEPTHS + 1)
    child: NDArray[np.int32]
    child_at: NDArray[np.int64]
    level_at: NDArray[np.int64]
    m: NDArray[np.float64]  # (n_networks, n_features, DEPTHS + 1)

    @cached_property
    def kernel(self) -> EvidenceNetworks:
        """The compiled networks."""
        return EvidenceNetworks(
            self.level_at, self.bins, self.sizes, self.parents, self.n_nodes, self.child, self.child_at
        )

    def __getstate__(self) -> dict[str, Any]:
        # What is compiled cannot be pickled, and follows from the rest.
        return {name: value for name, value in self.__dict__.items() if name != "kernel"}


def plain_network(level_at: NDArray[np.int64]) -> NetworkPlan:
    """Return one network without parents in which every level is a bin: its counts are those of the levels.

    The strength of its back-off is the same for all columns. Chosen for each by the classes of all rows, it tells which
    columns happen to suit these rows, and a row that is left out of the counts seems to be known.
    """
    sizes = np.diff(level_at).astype(np.int32)[None, :]
    n = sizes.shape[1]
    bins = np.concatenate([np.arange(size) for size in sizes[0]]).astype(np.uint8)[None, :]
    nodes = np.zeros((1, n, DEPTHS + 1), dtype=np.int32)
    nodes[:, :, 0] = 1
    parents = np.full((1, n, DEPTHS), -1, dtype=np.int32)
    none, starts = np.empty(0, np.int32), np.zeros(n + 1, dtype=np.int64)
    m = np.full((1, n, DEPTHS + 1), PLAIN_STRENGTH)
    return NetworkPlan(bins, sizes, parents, nodes, none, starts, level_at, m)


def choose_strengths(plan: NetworkPlan, cells: NDArray[Any], threads: int) -> NDArray[np.float64]:
    """Return the m of each depth by leave-one-out log-likelihood, which follows from the cells alone."""
    return plan.kernel.choose_back_off(np.ascontiguousarray(cells, dtype=np.float64), GRID, threads)


def learn_networks(
    rows: TrainingRows,
    sample: TrainingRows,
    levels: Levels,
    n_level: NDArray[np.float64],
    n_networks: int,
    most_values: int,
    rng: np.random.Generator,
) -> tuple[NetworkPlan, NDArray[np.float64]]:
    """Choose networks on the rows, and return them with their counts.

    Where there are many rows, parents are chosen on rows behind the sample. Otherwise networks with an even number
    choose on the first half of the sample, those with an odd number on the second. So each row of the sample can be
    left out of networks that have not seen its class when they chose.

    Parameters
    ----------
    rows, sample : TrainingRows
        All rows, and the first of them, which are left out in turn later.
    levels : Levels
        The levels of the columns.
    n_level : float64 array of shape (n_levels, n_classes)
        How often each level came with each class.
    n_networks : int
        The number of networks.
    most_values : int
        The largest total number of node values over all networks.
    rng : Generator
        Draws the bins, the orders, and the columns that may be parents.
    """
    parts = _rows_to_choose_on(rows, sample, n_networks)
    choosers = [_Chooser(part, levels, n_level if sample is not rows else _n_level(part, levels)) for part in parts]
    networks_per_gains = NETWORKS_PER_GAINS // len(parts)
    bins, sizes, parents = [], [], []
    redraw, often = bool(levels.ordered.any()), n_level.sum(axis=1)
    for t in range(n_networks):
        if t == 0 or redraw:
            new_bins, new_sizes = _sample_bins(levels, often, rng)
        bins.append(new_bins)
        sizes.append(new_sizes)
        parents.append(
            choosers[t % len(parts)].sample(new_bins, new_sizes, t // len(parts) % networks_per_gains == 0, rng)
        )
    shape = np.stack(sizes)
    least = np.maximum(FEWEST_ROWS, shape * rows.n_classes / CELLS_PER_ROW)
    most_nodes = max(1, int(most_values / shape.sum()))
    stacked = np.stack(bins), shape, np.stack(parents)
    n_nodes, child, child_at = grow_contexts(
        rows.codes, rows.weight, levels.level_at, *stacked, least, most_nodes, rows.threads
    )
    m = np.ones((n_networks, len(levels.ordered), DEPTHS + 1))
    plan = NetworkPlan(*stacked, n_nodes, child, child_at, levels.level_at, m)
    cells = count_cells(plan, rows)
    if sample is rows and len(parts) == 2:
        of_halves = count_cells(plan, parts[0], 0) + count_cells(plan, parts[1], 1)
        m[...] = choose_strengths(plan, of_halves, rows.threads)
    else:  # among so many rows those of the sample hardly matter
        m[...] = choose_strengths(plan, cells, rows.threads)
    return plan, cells


def _rows_to_choose_on(rows: TrainingRows, sample: TrainingRows, n_networks: int) -> tuple[TrainingRows, ...]:
    """Return the rows on which networks choose; where these are two parts, even networks have the first."""
    if rows.n_rows >= ENOUGH_ROWS_BEHIND * sample.n_rows:
        return (rows.part(sample.n_rows, min(rows.n_rows, 2 * sample.n_rows)),)
    return sample.halves() if n_networks > 1 else (sample,)


def left_out_scores(
    plan: NetworkPlan,
    cells: NDArray[np.float64],
    rows: TrainingRows,
    sample: TrainingRows,
    group: NDArray[np.int32],
    out: NDArray[np.float32],
) -> None:
    """Find log P(x | c, context) of the sample's rows, each left out of the networks that chose on other rows.

    ``out`` (n_groups, n_classes, n_rows) gets the terms, summed over the columns of a group.
    """
    parts, begin = _rows_to_choose_on(rows, sample, len(plan.sizes)), 0
    left_out = [(parts[0], 1), (parts[1], 0)] if len(parts) == 2 else [(sample, -1)]
    for part, parity in left_out:
        end = begin + part.n_rows
        out[:, :, begin:end] = plan.kernel.leave_one_out(
            cells, plan.m, part.codes, part.y, part.left_out_weight, group, len(out), part.threads, parity
        )
        begin = end


def count_cells(plan: NetworkPlan, rows: TrainingRows, parity: int = -1) -> NDArray[np.float64]:
    """Return how often each value of the networks' nodes came with each class, in networks of a parity (-1: all)."""
    return plan.kernel.count(rows.codes, rows.y, rows.weight, rows.n_classes, rows.threads, parity)


def _n_level(rows: TrainingRows, levels: Levels) -> NDArray[np.float64]:
    """Return how often each level came with each class in some rows."""
    return count_cells(plain_network(levels.level_at), rows)


class _Chooser:
    """Samples parents by what some rows say of columns and classes."""

    def __init__(self, rows: TrainingRows, levels: Levels, n_level: NDArray[np.float64]) -> None:
        self._rows, self._levels, self._n_level = rows, levels, n_level
        self._gains: NDArray[np.float64] | None = None

    def sample(
        self, bins: NDArray[np.uint8], sizes: NDArray[np.int32], anew: bool, rng: np.random.Generator
    ) -> NDArray[np.int32]:
        """Return parents of each column of one network, of shape (n_features, DEPTHS); ``anew`` finds gains anew."""
        rows, levels = self._rows, self._levels
        first, bins_differ = self._gains is None, bool(levels.ordered.any())
        if first or bins_differ:
            self._information = _information(bins, sizes, levels, self._n_level)
        if first or (bins_differ and anew):
            self._candidates = _candidates(self._information, rows)
            self._gains = pair_gains(
                rows.codes,
                rows.y,
                rows.weight,
                rows.n_classes,
                levels.level_at,
                bins,
                sizes,
                self._candidates,
                rows.threads,
            )
        assert self._gains is not None
        return _sample_parents(self._information, self._gains, self._candidates, rng)


def _sample_bins(
    levels: Levels, n_level: NDArray[np.float64], rng: np.random.Generator
) -> tuple[NDArray[np.uint8], NDArray[np.int32]]:
    """Return bins of equal frequency with a random number and offset for each numeric column."""
    bins = np.empty(int(levels.level_at[-1]), dtype=np.uint8)
    sizes = np.empty(len(levels.ordered), dtype=np.int32)
    total = n_level[: levels.level_at[1]].sum()
    more = float(np.clip(np.sqrt(total / ROWS_OF_FEW_BINS), 1.0, MOST_TIMES_BINS))
    enough = max(2, int(total / ROWS_PER_BIN))
    fewest, most = min(int(FEWEST_BINS * more), enough), min(int(MOST_BINS * more), enough)
    for j, ordered in enumerate(levels.ordered):
        begin, end = levels.level_at[j], levels.level_at[j + 1]
        if not ordered:
            bins[begin:end] = np.arange(end - begin)
            sizes[j] = end - begin
            continue
        n_bins, offset = int(rng.integers(fewest, most + 1)), rng.random()
        cuts = _cut_evenly(n_level[begin + 1 : end], n_bins, offset)  # without the missing cells
        bins[begin] = 0
        bins[begin + 1 : end] = 1 + np.searchsorted(cuts, np.arange(end - begin - 1), side="left")
        sizes[j] = len(cuts) + 2
    return bins, sizes


def _cut_evenly(n_level: NDArray[np.float64], n_bins: int, offset: float) -> NDArray[np.int64]:
    """Return the last level of each bin but the last; a level with more rows than a bin should have is a bin itself."""
    often = n_level > n_level.sum() / n_bins
    reached = np.cumsum(np.where(often, 0.0, n_level))
    shares = (np.arange(n_bins) + offset) / n_bins
    shares = shares[(shares > 0.02) & (shares < 0.98)]
    cuts = np.searchsorted(reached, shares * reached[-1]) if len(reached) and reached[-1] > 0 else np.empty(0, np.int64)
    is_cut = np.zeros(len(n_level) + 1, dtype=bool)  # behind the last level there is none
    is_cut[cuts] = True
    is_cut[:-1] |= often
    is_cut[:-2] |= often[1:]
    return np.flatnonzero(is_cut[: max(len(n_level) - 1, 0)])


def _information(
    bins: NDArray[np.uint8], sizes: NDArray[np.int32], levels: Levels, n_level: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mutual information of each column's bins and the class, minus its bias, in nats."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    counts = np.zeros((int(starts[-1]), n_level.shape[1]))
    np.add.at(counts, starts[levels.feature_of] + bins, n_level)
    total = n_level.sum() / len(sizes)
    if not total > 0:  # of one row, which is left out, nothing is left
        return np.zeros(len(sizes))
    n_class = n_level[: levels.level_at[1]].sum(axis=0)
    n_bin = counts.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(counts > 0, counts / total * np.log(counts * total / (n_bin * n_class)), 0.0)
    information = np.add.reduceat(each.sum(axis=1), starts[:-1])
    present = np.add.reduceat((n_bin[:, 0] > 0).astype(np.float64), starts[:-1])
    freedom = np.maximum(present - 1, 0) * (n_level.shape[1] - 1)
    return np.asarray(information - freedom / (2.0 * total))


def _candidates(information: NDArray[np.float64], sample: TrainingRows) -> NDArray[np.int32]:
    """Return the columns that may be parents: all, or the most informative where there are too many pairs."""
    n = len(information)
    most = max(8, int(MOST_PAIR_WORK / (n * max(sample.n_rows, 1000))))
    best = np.argsort(-information, kind="stable")[: min(n, most)]
    return np.sort(best).astype(np.int32)


def _sample_parents(
    information: NDArray[np.float64], gains: NDArray[np.float64], candidates: Any, rng: np.random.Generator
) -> NDArray[np.int32]:
    n = len(information)
    order = np.argsort(-(np.log(np.maximum(information, 1e-4)) + rng.gumbel(size=n)), kind="stable")
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    allowed = (rng.random(gains.shape) < OPEN) & (place[candidates][None, :] < place[:, None]) & (gains > 0.0)
    ranked = np.where(allowed, gains, -np.inf)
    parents = np.full((n, DEPTHS), -1, dtype=np.int32)
    best = np.argsort(-ranked, axis=1, kind="stable")[:, :DEPTHS]
    taken = np.take_along_axis(allowed, best, axis=1)
    parents[:, : best.shape[1]] = np.where(taken, candidates[best], -1)
    return parents
