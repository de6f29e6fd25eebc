"""One order of rows, columns, values and classes for every form of a table, so that no name, order or unit matters.

A plan is drawn and chosen in this order (random tests of trees, bins, ties), and then put back into that of the schema.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import content_hashes, group_rows, n_threads
from bayeskit.classify.auto.counts import AutoCounts, PoolPlan
from bayeskit.classify.auto.evidence_networks import NetworkPlan
from bayeskit.classify.auto.levels import Levels
from bayeskit.classify.auto.rare_values import RareValues
from bayeskit.classify.auto.text_columns import as_keys, as_levels
from bayeskit.classify.auto.trees import PlannedTests
from bayeskit.table.schema import Schema

# Rows and columns are told apart by each other so many times: values that are equally frequent, in columns that are
# alike, differ by the classes of their rows in the second round, and by the other cells of these in the third.
N_ROUNDS = 3
# Hashes that are compared with their neighbours at once.
_AT_ONCE = 1 << 17


@dataclass(frozen=True)
class CanonicalOrder:
    """Where the rows, columns, values and classes of a table stand when they are sorted by their content."""

    rows: NDArray[np.int32]  # (n_distinct,): the position of each distinct row in the table
    weight: NDArray[np.float64]  # (n_distinct,): the sum of the weights of its copies
    columns: NDArray[np.int64]  # (n_features,): the column of the schema at each place
    classes: NDArray[np.int64]  # (n_classes,): the class code at each place
    value_ranks: tuple[NDArray[np.int64], ...]  # by place: the rank of each value; empty for a column of numbers

    def class_codes(self, y: NDArray[Any]) -> NDArray[np.uint32]:
        """Return the classes of the distinct rows by their places."""
        return np.asarray(np.argsort(self.classes).astype(np.uint32)[y[self.rows]])


def canonical_order(
    schema: Schema, columns: list[NDArray[Any]], y: NDArray[Any], weight: Any, n_classes: int
) -> CanonicalOrder:
    """Sort a table whose columns were read by the schema; ``y`` are class codes, ``weight`` may be None.

    What a row needs at once is kept small here and there: tables may fill the memory.
    """
    threads = n_threads(len(y) * len(columns))
    codes = np.ascontiguousarray(y, dtype=np.uint32)
    keys = as_keys(columns)
    rows, weights, _ = group_rows(keys, codes, weight, False, threads)
    n_values = np.array([-1 if v.is_numeric else 1 if v.is_text else v.n_values for v in schema])
    of_rows, of_columns, of_values, of_classes = content_hashes(
        as_levels(columns), rows, codes, weights, n_values, n_classes, N_ROUNDS, threads
    )
    del codes
    order = np.argsort(of_columns, kind="stable")
    by_hash = _sorted_rows(of_rows, rows, [keys[j] for j in order])
    del of_rows
    rows = rows[by_hash]
    ends = np.cumsum(np.maximum(n_values, 0))[:-1]
    ranks = [np.argsort(np.argsort(each, kind="stable"), kind="stable") for each in np.split(of_values, ends)]
    return CanonicalOrder(
        rows, weights[by_hash], order, np.argsort(of_classes, kind="stable"), tuple(ranks[j] for j in order)
    )


def _sorted_rows(
    hashes: NDArray[np.uint64], rows: NDArray[np.int32], columns: list[NDArray[Any]]
) -> NDArray[np.uint32]:
    """Return the order of the hashes, in the memory of which it is sorted: 12 bytes per row in all.

    The last digits of a hash are the number of its row. Where the digits before them are equal, or the rows differ in
    digits behind those that are hashed, the cells decide.
    """
    bits = np.uint64(len(hashes).bit_length())
    last = (np.uint64(1) << bits) - np.uint64(1)
    hashes.sort()
    ties = [_ties(hashes, begin, last) for begin in range(0, len(hashes) - 1, _AT_ONCE)]
    equal = np.concatenate([np.empty(0, np.int64), *ties])
    order = np.empty(len(hashes), dtype=np.uint32)
    np.bitwise_and(hashes, last, out=order, casting="unsafe")
    if len(equal):
        places = np.union1d(equal, equal + 1)
        tied = order[places]
        keys = [column[rows[tied]] for column in reversed(columns)]
        order[places] = tied[np.lexsort([*keys, hashes[places] >> bits])]
    return order


def _ties(hashes: NDArray[np.uint64], begin: int, last: np.uint64) -> NDArray[np.int64]:
    """Return where, among some of the sorted hashes, the next one has the same digits but the last."""
    some = hashes[begin : begin + _AT_ONCE + 1]
    return np.asarray(begin + np.flatnonzero((some[1:] ^ some[:-1]) <= last), dtype=np.int64)


def in_schema_order(counts: AutoCounts, order: CanonicalOrder, schema: Schema, classes: NDArray[Any]) -> AutoCounts:
    """Return counts and plan, which were made in the canonical order, in that of the schema and the classes."""
    plan, column = counts.plan, order.columns
    place, class_place = np.argsort(column), np.argsort(order.classes)
    level_at = plan.levels.level_at
    of_levels = _runs(level_at, place)
    ordered_levels = Levels(
        tuple(plan.levels.edges[j] for j in place),
        tuple(plan.levels.places[j] for j in place),
        plan.levels.ordered[place],
    )
    networks, of_cells = _reordered_networks(plan.networks, place, column, of_levels, ordered_levels)
    by_feature = np.argsort(column[plan.rare.features])  # columns with rare values in the order of the schema
    rare = RareValues(
        column[plan.rare.features][by_feature],
        tuple(plan.rare.places[k] for k in by_feature),
        plan.rare.strength[by_feature],
        plan.rare.weight[by_feature],
    )
    changed: PoolPlan = replace(
        plan,
        schema=schema,
        levels=ordered_levels,
        networks=networks,
        rare=rare,
        gaussians=tuple(replace(each, features=column[each.features]) for each in plan.gaussians),
        trees=tuple(replace(each, **_reordered_tests(each, column, ordered_levels)) for each in plan.trees),
        linear=tuple(
            replace(
                each,
                scales=replace(each.scales, features=column[each.scales.features]),
                coefficients=each.coefficients[:, class_place],
                intercept=each.intercept[class_place],
            )
            for each in plan.linear
        ),
        boosting=tuple(
            replace(
                each,
                steps=np.ascontiguousarray(each.steps[:, class_place]),
                **_reordered_tests(each, column, ordered_levels),
            )
            for each in plan.boosting
        ),
        classes=classes,
        column_weight=plan.column_weight[np.append(place, len(place))],
        column_bias=plan.column_bias[class_place],
        member_bias=plan.member_bias[class_place],
        class_matrix=plan.class_matrix[np.ix_(class_place, np.append(class_place, len(class_place)))],
    )
    return AutoCounts(
        changed,
        classes,
        counts.n_class[class_place],
        counts.n_level[np.ix_(of_levels, class_place)],
        counts.networks[np.ix_(of_cells, class_place)],
        counts.rare[np.ix_(_runs(plan.rare.value_at, by_feature), class_place)],
        tuple(cells[:, class_place] for cells in counts.trees),
        tuple(sums[class_place] for sums in counts.sums),
        counts.texts,  # which were counted in the order of the classes
    )


def _reordered_tests(trees: PlannedTests, column: NDArray[np.int64], levels: Levels) -> dict[str, Any]:
    """Return the fields of trees that say which columns are tested, with these at other places."""
    feature = np.where(trees.feature < 0, -1, column[trees.feature]).astype(np.int32)
    return {"level_at": levels.level_at, "feature": feature}


def _reordered_networks(
    plan: NetworkPlan,
    place: NDArray[np.int64],
    column: NDArray[np.int64],
    of_levels: NDArray[np.int64],
    levels: Levels,
) -> tuple[NetworkPlan, NDArray[np.int64]]:
    """Return the networks with their columns at other places, and where each value of their nodes stood."""
    n_networks, n = plan.sizes.shape
    units = (np.arange(n_networks)[:, None] * n + place).ravel()
    value_at = np.concatenate([[0], np.cumsum(plan.n_nodes.sum(axis=2).ravel() * plan.sizes.ravel())])
    lengths = np.diff(plan.child_at)[units]
    parents = plan.parents[:, place]
    changed = NetworkPlan(
        np.ascontiguousarray(plan.bins[:, of_levels]),
        np.ascontiguousarray(plan.sizes[:, place]),
        np.where(parents < 0, -1, column[parents]).astype(np.int32),
        np.ascontiguousarray(plan.n_nodes[:, place]),
        plan.child[_runs(plan.child_at, units)],
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        levels.level_at,
        np.ascontiguousarray(plan.m[:, place]),
    )
    return changed, _runs(value_at, units)


def _runs(starts: NDArray[Any], chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions starts[k] to before starts[k + 1] of each chosen k, one run after the other."""
    lengths = np.diff(starts)[chosen]
    ends = np.cumsum(lengths)
    return np.asarray(np.repeat(starts[:-1][chosen] - (ends - lengths), lengths) + np.arange(int(lengths.sum())))
