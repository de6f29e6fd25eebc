"""How an AutoBayes chooses: bins, networks, Gaussians, trees, and the weights of the pool, all on held-out rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.boosting import FEWEST_ROWS as FEWEST_ROWS_TO_BOOST
from bayeskit.classify.auto.boosting import MOST_BOOSTED_LEAVES, BoostPlan, learn_boosting
from bayeskit.classify.auto.boosting import MOST_ROWS as MOST_ROWS_TO_BOOST
from bayeskit.classify.auto.canonical import CanonicalOrder, canonical_order, in_schema_order
from bayeskit.classify.auto.counts import AutoCounts, PoolPlan, class_counts
from bayeskit.classify.auto.evidence_networks import (
    NetworkPlan,
    count_cells,
    learn_networks,
    left_out_scores,
    plain_network,
)
from bayeskit.classify.auto.gaussian_columns import columns_beside, learn_gaussian_columns
from bayeskit.classify.auto.gaussians import GaussianPlan, MemberGaussians, learn_gaussians
from bayeskit.classify.auto.levels import Levels, learn_levels
from bayeskit.classify.auto.linear import LinearPlan, learn_linear, wide_columns
from bayeskit.classify.auto.member_weights import MemberWeights, weigh_members
from bayeskit.classify.auto.pool import LEAST_LOG, pool_of_members, pooled, weigh_columns
from bayeskit.classify.auto.rare_values import learn_rare_values
from bayeskit.classify.auto.texts import MOST_ROWS as MOST_ROWS_OF_TEXTS
from bayeskit.classify.auto.texts import TextMember, learn_texts
from bayeskit.classify.auto.training_rows import (
    TrainingRows,
    coded_rows,
    log_prior_left_out,
    log_softmax,
)
from bayeskit.classify.auto.trees import MOST_STRUCTURE_ROWS, MOST_TESTS, TreePlan, learn_trees
from bayeskit.counts.tokens import TokenCounts
from bayeskit.progress import Progress, report_step
from bayeskit.table.schema import Schema

# Rows that are left out to weigh members, and the most numbers that they may have together.
MOST_ROWS_LEFT_OUT, MOST_SCORES, FEWEST_ROWS_LEFT_OUT = 5000, 1 << 24, 500
MOST_POSTERIORS = 1 << 20  # rows left out times classes
# So many columns have a weight of their own.
MOST_WEIGHTS = 500
# Of fewer rows there are more trees, which cost little there: so many times as many at the most.
ROWS_OF_MORE_TREES, MOST_TIMES_TREES = 1000, 4.0
# Boosted trees are of use where the pool is sure to know something.
LEAST_BELIEVED_TO_BOOST = 0.999
# The most counts that all nodes may have together, which bounds the model at some 256 MB, whatever ``max_nodes`` says.
MOST_CELLS = 1 << 25


@dataclass(frozen=True)
class Effort:
    """How many networks and trees, and whether boosted trees learn what the pool leaves."""

    n_networks: int
    n_trees: int
    boosts: bool = False


EFFORTS = {"fast": Effort(4, 0), "balanced": Effort(8, 28), "thorough": Effort(8, 28, boosts=True)}
# log P(c | x) of rows behind the sample, each left out: of the rows, and where the first stands among all.
LeftOut = Callable[[TrainingRows, int], NDArray[np.float64]]


class Clock:
    """Tells when the time limit is reached and which members were left out, and reports how far the work has come."""

    def __init__(self, seconds: float | None, progress: Progress | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.left_out: list[str] = []
        self._progress, self._n_done = progress, 0

    def is_over(self) -> bool:
        """Whether the time limit is reached."""
        return self._end is not None and time.monotonic() > self._end

    def report(self, what: str) -> None:
        """Say that a part of the work is done: networks, Gaussians, trees, pool."""
        self._n_done += 1
        report_step(self._progress, f"AutoBayes: {what}", self._n_done, 4)


@dataclass(frozen=True)
class _Members:
    """The members as they are learned, with log P(c | x) of each on the held-out rows."""

    gaussians: list[GaussianPlan]
    sums: list[NDArray[np.float64]]
    trees: list[TreePlan]
    leaves: list[NDArray[np.float64]]
    linear: list[LinearPlan]
    texts: list[tuple[TextMember, TokenCounts]]
    log_posteriors: list[NDArray[np.float64]]
    by_half: list[NDArray[np.float64]]  # the same by half of the trees
    left_out: list[LeftOut]


def learn_plan(
    schema: Schema,
    columns: list[NDArray[Any]],
    y: NDArray[Any],
    classes: NDArray[Any],
    weight: NDArray[np.float64] | None,
    effort: Effort,
    seed: int,
    max_nodes: int,
    clock: Clock,
) -> AutoCounts:
    """Choose a plan on a table whose columns were read by the schema, and return it with its counts."""
    k = len(classes)
    order, levels, rows = _in_canonical_order(schema, columns, y, weight, k)
    sample = rows.first(min(MOST_ROWS_LEFT_OUT, max(FEWEST_ROWS_LEFT_OUT, MOST_POSTERIORS // k)))
    rng = np.random.default_rng(seed)
    most_nodes, most_boosted = _shares_of_nodes(max(1, min(max_nodes, MOST_CELLS // k)), effort)
    plain = plain_network(levels.level_at)
    n_level = plain.kernel.count(rows.codes, rows.y, rows.weight, k, rows.threads)
    smallest = int(np.minimum(np.diff(levels.level_at), 14).sum())  # one network without parents
    n_networks = max(1, min(effort.n_networks, most_nodes // max(1, smallest)))
    networks, cells = learn_networks(rows, sample, levels, n_level, n_networks, most_nodes, rng)
    n_class = class_counts(levels, n_level)
    spread = _spread(plain, n_level)
    rare, n_rare = learn_rare_values(rows, levels)
    column_weight, column_bias, by_networks, left_out = _weigh_networks(
        networks, cells, lambda some: rare.left_out(n_rare, some), n_class, rows, sample, spread
    )
    clock.report("networks")
    n = len(levels.ordered)
    members = _Members([], [], [], [], [], [], [by_networks], [by_networks], [left_out])
    if k > 1:
        _learn_gaussians(members, rows, sample, levels, plain, n_level, n_class, clock)
        clock.report("Gaussians")
        _learn_trees(members, rows, sample, levels, effort, most_nodes, int(rng.integers(1 << 62)), clock)
        clock.report("trees")
        _learn_linear(members, rows, sample, levels, n_level, clock)
        _learn_texts(members, schema, columns, rows, sample, order, classes, clock)
    weighed = weigh_members(members.log_posteriors, members.by_half, sample, n_class)
    clock.report("pool")
    boosting, weighed = _learn_boosting(members, weighed, rows, sample, levels, most_boosted, seed, clock)
    plan = PoolPlan(
        schema,
        levels,
        networks,
        replace(rare, weight=column_weight[n:-1]),
        tuple(members.gaussians),
        tuple(members.trees),
        tuple(members.linear),
        tuple(member for member, _ in members.texts),
        tuple(boosting),
        classes,
        np.append(column_weight[:n], column_weight[-1]),
        column_bias,
        weighed.weight,
        weighed.bias,
        weighed.class_matrix,
        weighed.losses,
        weighed.believed,
        float(order.weight.sum()),
    )
    texts = tuple(words for _, words in members.texts)
    leaves, sums = tuple(members.leaves), tuple(members.sums)
    counts = AutoCounts(plan, classes, n_class, n_level, cells, n_rare, leaves, sums, texts)
    counts = in_schema_order(counts if weight is not None else counts.as_integers(), order, schema, classes)
    return replace(counts, holds_first=True)


def _shares_of_nodes(most: int, effort: Effort) -> tuple[int, int]:
    """Return how many nodes networks, and as many trees, may have, and how many leaves boosted trees."""
    boosted = min(most // 3, MOST_BOOSTED_LEAVES) if effort.boosts else 0
    return (most - boosted) // 2, boosted


def _in_canonical_order(
    schema: Schema, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None, n_classes: int
) -> tuple[CanonicalOrder, Levels, TrainingRows]:
    """Return the canonical order of a table, with the levels of its columns and its rows in that order."""
    given = None if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
    order = canonical_order(schema, columns, y, given, n_classes)
    columns = [columns[j] for j in order.columns]
    variables = [schema[int(j)] for j in order.columns]
    levels = learn_levels(variables, columns, order.rows, order.weight, order.value_ranks)
    return order, levels, coded_rows(levels, columns, order.rows, order.class_codes(y), order.weight, n_classes)


def _weigh_networks(
    networks: NetworkPlan,
    cells: NDArray[np.float64],
    rare_evidence: Callable[[TrainingRows], NDArray[np.float64]],
    n_class: NDArray[np.float64],
    rows: TrainingRows,
    sample: TrainingRows,
    spread: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], LeftOut]:
    """Return the weights of columns, rare values and the prior, biases, and log P(c | x) of the held-out rows.

    ``rare_evidence`` gives what the rare values of some columns say of rows left out. The last result gives
    log P(c | x) of rows behind the sample.
    """
    n, k = networks.sizes.shape[1], sample.n_classes
    n_groups = int(min(n, MOST_WEIGHTS, max(1, MOST_SCORES // (sample.n_rows * k))))
    # Where there are too many columns for a weight each, all but the best share the last one.
    group = np.empty(n, dtype=np.int32)
    group[np.argsort(-spread, kind="stable")] = np.minimum(np.arange(n), n_groups - 1)

    by_rare = rare_evidence(sample)  # (n_columns, n_rows, n_classes)

    def scores_by(counts: NDArray[np.float64]) -> NDArray[np.float32]:
        scores = _room_for_scores(n_groups, by_rare, log_prior_left_out(n_class, sample))
        left_out_scores(networks, counts, rows, sample, group, scores[:n_groups])
        return scores

    def scores_without(places: NDArray[np.int64]) -> NDArray[np.float32]:
        return scores_by(cells - count_cells(networks, sample.take(places)))

    w, b, log_posterior = weigh_columns(scores_by(cells), sample.y, sample.weight, scores_without)

    def left_out(behind: TrainingRows, _first: int) -> NDArray[np.float64]:
        parts = []
        for begin in range(0, behind.n_rows, sample.n_rows):  # a part has as many scores as the sample
            some = behind.part(begin, min(begin + sample.n_rows, behind.n_rows))
            scores = _room_for_scores(n_groups, rare_evidence(some), log_prior_left_out(n_class, some))
            scores[:n_groups] = networks.kernel.leave_one_out(
                cells, networks.m, some.codes, some.y, some.left_out_weight, group, n_groups, some.threads
            )
            parts.append(pooled(scores, np.concatenate([w, b])))
        return np.concatenate(parts)

    return np.append(w[group], w[n_groups:]), b, log_posterior, left_out


def _room_for_scores(n_groups: int, by_rare: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float32]:
    """Return scores (n_groups + n_columns + 1, n_classes, n_rows), in which those of the groups are still to be set."""
    scores = np.empty((n_groups + len(by_rare) + 1, *prior.shape[::-1]), dtype=np.float32)
    scores[n_groups:-1] = by_rare.transpose(0, 2, 1)
    scores[-1] = prior.T
    return scores


def _learn_gaussians(
    members: _Members,
    rows: TrainingRows,
    sample: TrainingRows,
    levels: Levels,
    plain: NetworkPlan,
    n_level: NDArray[np.float64],
    n_class: NDArray[np.float64],
    clock: Clock,
) -> None:
    scaled = learn_gaussian_columns(rows, levels, n_level)
    if scaled and clock.is_over():
        clock.left_out.append("Gaussians")
        return

    def beside(some: TrainingRows, group: NDArray[np.int32]) -> NDArray[np.float64]:
        scores = plain.kernel.leave_one_out(
            n_level, plain.m, some.codes, some.y, some.left_out_weight, group, 2, some.threads
        )
        return log_softmax(scores[1].T + log_prior_left_out(n_class, some))

    for each in scaled:
        group = columns_beside(each, levels).astype(np.int32)
        offset = beside(sample, group)
        plan, sums, left_out = learn_gaussians(rows, each, sample, offset)

        def behind(
            some: TrainingRows,
            _first: int,
            plan: GaussianPlan = plan,
            sums: NDArray[np.float64] = sums,
            group: NDArray[np.int32] = group,
        ) -> NDArray[np.float64]:
            densities = MemberGaussians.of(sums, plan.shrinkage)
            return log_softmax(
                densities.log_densities(plan.of_rows(some), some.threads, rows=some) + beside(some, group)
            )

        members.gaussians.append(plan)
        members.sums.append(sums)
        members.log_posteriors.append(log_softmax(left_out + offset))
        members.by_half.append(members.log_posteriors[-1])
        members.left_out.append(behind)


def _spread(plain: NetworkPlan, n_level: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much the levels of each column differ between the classes: Σ n² / (n_level n_class)."""
    at = plain.level_at
    n_class = np.maximum(n_level[at[0] : at[1]].sum(axis=0), 1e-300)
    each = (n_level**2 / n_class).sum(axis=1) / np.maximum(n_level.sum(axis=1), 1e-300)
    spread: NDArray[np.float64] = np.add.reduceat(each, at[:-1])
    return spread


def _learn_trees(
    members: _Members,
    rows: TrainingRows,
    sample: TrainingRows,
    levels: Levels,
    effort: Effort,
    most_leaves: int,
    seed: int,
    clock: Clock,
) -> None:
    # A tree of half of the rows has about so many leaves; where all would be too many, fewer trees are grown.
    largest = max(2.0, min(rows.n_rows, 2 * MOST_STRUCTURE_ROWS) / 4)
    more = min(max(ROWS_OF_MORE_TREES / rows.n_rows, 1.0), MOST_TIMES_TREES)
    n_trees = min(int(effort.n_trees * more) // 2 * 2, max(4, int(most_leaves / largest) // 2 * 2))
    if not n_trees:
        return
    n_tests = max(2, min(len(levels.ordered), MOST_TESTS))
    grown = learn_trees(rows, sample, levels, n_trees, n_tests, most_leaves, seed, clock.is_over)
    if grown is None or grown[0].n_trees < n_trees:
        clock.left_out.append("trees")
    if grown is not None:
        plan, cells, log_posterior, by_half, left_out = grown
        members.trees.append(plan)
        members.leaves.append(cells)
        members.log_posteriors.append(log_softmax(log_posterior))
        members.by_half.append(log_softmax(by_half))
        members.left_out.append(lambda some, first: log_softmax(left_out(some, first)))


def _learn_linear(
    members: _Members,
    rows: TrainingRows,
    sample: TrainingRows,
    levels: Levels,
    n_level: NDArray[np.float64],
    clock: Clock,
) -> None:
    scales = wide_columns(rows, levels, n_level)
    if scales is None:
        return
    if clock.is_over():
        clock.left_out.append("coefficients of the linear member")
        return
    plan, log_posterior = learn_linear(rows, scales)
    members.linear.append(plan)
    members.log_posteriors.append(log_posterior[: sample.n_rows])
    members.by_half.append(members.log_posteriors[-1])
    members.left_out.append(_looked_up(log_posterior))


def _learn_texts(
    members: _Members,
    schema: Schema,
    columns: list[NDArray[Any]],
    rows: TrainingRows,
    sample: TrainingRows,
    order: CanonicalOrder,
    classes: NDArray[Any],
    clock: Clock,
) -> None:
    if not schema.texts:
        return
    if clock.is_over():
        clock.left_out.append("words of texts")
        return
    # Words are counted under the classes as they are given, whose numbers the rows have lost in the canonical order.
    given = replace(rows, columns=columns, y=order.classes[rows.y].astype(np.uint32))
    for member, words, log_posterior in learn_texts(schema, given, sample.n_rows, classes):
        by_place = np.ascontiguousarray(log_posterior[:, order.classes])
        members.texts.append((member, words))
        members.log_posteriors.append(by_place[: sample.n_rows])
        members.by_half.append(members.log_posteriors[-1])
        members.left_out.append(_looked_up(by_place))


def _looked_up(log_posterior: NDArray[np.float64]) -> LeftOut:
    """Return what gives log P(c | x) of rows left out, where it is known of all of them."""
    return lambda some, first: log_posterior[first : first + some.n_rows]


def _learn_boosting(
    members: _Members,
    weighed: MemberWeights,
    rows: TrainingRows,
    sample: TrainingRows,
    levels: Levels,
    most_leaves: int,
    seed: int,
    clock: Clock,
) -> tuple[list[BoostPlan], MemberWeights]:
    """Return the boosted trees where rows left out gain by them, and the weights with the loss of the pool then."""
    some = rows.first(min(MOST_ROWS_TO_BOOST, MOST_ROWS_OF_TEXTS) if members.texts else MOST_ROWS_TO_BOOST)
    if (
        not most_leaves
        or rows.n_classes == 1
        or some.n_rows < FEWEST_ROWS_TO_BOOST
        or weighed.believed < LEAST_BELIEVED_TO_BOOST
    ):
        return [], weighed
    if clock.is_over():
        clock.left_out.append("boosted trees")
        return [], weighed
    each = [
        _with_rows_behind(first, left_out, some, sample.n_rows)
        for first, left_out in zip(members.log_posteriors, members.left_out, strict=True)
    ]
    w, b = np.split(weighed.left_out, [len(each)])
    log_pool = pool_of_members(each, w, b, weighed.class_matrix, np.ones(rows.n_classes, dtype=np.bool_))
    learned = learn_boosting(some, log_pool, levels, most_leaves, seed, clock.is_over)
    if learned is None:
        return [], weighed
    plan, steps = learned
    n = sample.n_rows
    after = log_softmax(log_pool[:n] + steps[:n])[np.arange(n), sample.y]
    losses = np.append(weighed.losses[:-1], -np.average(after, weights=sample.weight))
    return [plan], replace(weighed, losses=losses)


def _with_rows_behind(
    first: NDArray[np.float64], left_out: LeftOut, rows: TrainingRows, n_sample: int
) -> NDArray[np.float64]:
    """Return log P(c | x) of rows left out, of which the first are those of the sample."""
    if rows.n_rows > n_sample:
        first = np.concatenate([first, left_out(rows.part(n_sample, rows.n_rows), n_sample)])
    return np.maximum(first, LEAST_LOG)
