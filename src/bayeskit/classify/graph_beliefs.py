"""The tables of a network with a class, ready to score rows with missing cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import FamilyScorer, Score, n_threads
from bayeskit.counts.families import sizes_of
from bayeskit.counts.graph_counts import GraphCounts, Parents
from bayeskit.counts.left_out import LeftOut
from bayeskit.estimate.families import without_too_large
from bayeskit.network import dag
from bayeskit.network.learn.pseudo_counts import as_prior, estimate

Table = NDArray[np.float64]


def counts_of(counts: GraphCounts, v: int) -> NDArray[Any]:
    """Return how many rows have each case of a variable's parents and value: one axis per parent, own values last.

    Variables are the columns and, last, the class.
    """
    n, parents = len(counts.schema), counts.parents[v]
    columns = tuple(p for p in parents if p < n)
    if v == n:
        return counts.table(columns) if columns else counts.n_class
    table = counts.table((*columns, v))  # (parents' values …, own values, classes)
    return np.moveaxis(table, -1, parents.index(n)) if n in parents else np.asarray(table.sum(axis=-1))


def tables_of(counts: GraphCounts, smoothing: Any) -> tuple[Table, ...]:
    """Return P(variable | parents) of each column and, last, of the class: one axis per parent, own values last."""
    return tuple(estimated(counts_of(counts, v), smoothing) for v in range(len(counts.parents)))


def estimated(table: NDArray[Any], smoothing: Any) -> Table:
    """Return P(variable | parents) from the counts of its cells."""
    return estimate(table, as_prior(smoothing).pseudo_counts("", table.shape))


@dataclass(frozen=True, eq=False)
class GraphBeliefs:
    r"""P(x, c) = P(c | pa(c)) ∏ P(x_j | pa(x_j)), for the kernel that scores classifiers with a structure.

    That kernel knows P(c) and tables P(x_j | parents, c). A table without the class is the same for all classes. A
    class with parents U has :math:`P(c \mid U)`: it is the likelihood of one more column of two values, which always
    has the first of them.
    """

    sizes: Sequence[int]
    n_classes: int
    parents: Parents
    tables: tuple[Table, ...]
    log_prior: Table = field(init=False)  # (n_classes,)
    in_place: bool = field(init=False, default=False)

    @classmethod
    def of(cls, counts: GraphCounts, smoothing: Any) -> GraphBeliefs:
        """Estimate the tables."""
        return cls(sizes_of(counts.schema), counts.n_classes, counts.parents, tables_of(counts, smoothing))

    def __post_init__(self) -> None:
        n, tables = len(self.sizes), [self._by_class(v) for v in range(len(self.sizes) + 1)]
        order = [v for v in dag.topological_order(self.parents) if v < n and self.sizes[v]]
        families = [(*(p for p in self.parents[v] if p < n), v) for v in order]
        parts, sizes, weight = [tables[v] for v in order], list(self.sizes), np.zeros(self.n_classes)
        above = self.parents[n]
        if above:
            families.append((*above, n))
            parts.append(np.stack([tables[n], 1.0 - tables[n]], axis=-2))
            sizes.append(2)
        with np.errstate(divide="ignore"):
            if not above:
                weight = np.log(self.tables[n])
            flat = np.log(np.concatenate([*(part.ravel() for part in parts), np.empty(0)]))
        scorer = FamilyScorer(weight, flat, sizes, families, False, -1)
        object.__setattr__(self, "_scorer", scorer)
        object.__setattr__(self, "log_prior", weight)
        if above:
            nothing = [np.full(1, 2**32 - 1, dtype=np.uint32) for _ in self.sizes]  # missing
            object.__setattr__(self, "log_prior", self.score(nothing, Score.LOG_POSTERIOR)[0][0])

    def __reduce__(self) -> tuple[Any, ...]:
        return GraphBeliefs, (self.sizes, self.n_classes, self.parents, self.tables)

    def _by_class(self, v: int) -> Table:
        """Return a table with the classes on its last axis."""
        n, table = len(self.sizes), self.tables[v]
        if v == n:
            return table
        if n in self.parents[v]:
            return np.moveaxis(table, self.parents[v].index(n), -1)
        return np.repeat(table[..., None], self.n_classes, axis=-1)

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first row with probability 0 under every class, and −1: codes are always finite."""
        columns = list(table)
        if self.parents[len(self.sizes)]:
            columns.append(np.zeros(len(columns[0]), dtype=np.uint8))
        scores, impossible, left = self._scorer.score(  # type: ignore[attr-defined]
            columns, result, fallback, n_threads(len(columns) * len(columns[0]) * 4)
        )
        return without_too_large(scores, result, left), impossible, -1


def log_joint_left_out(counts: GraphCounts, smoothing: Any, columns: list[NDArray[Any]], left: LeftOut) -> Table:
    """Return log P(x, c) of counted rows, (n_rows, n_classes), each by the counts without it.

    Of a whole row each factor is one cell of a table, from which the row is taken where it is in it. A row with a
    missing cell is summed out of tables of its own.
    """
    sizes, y, row_weight = sizes_of(counts.schema), left.y, left.taken_out
    known = np.array(
        [column < size if size else np.ones(len(y), bool) for column, size in zip(columns, sizes, strict=True)]
    )
    whole = known.all(axis=0)
    log_joint = np.empty((len(y), counts.n_classes))
    whole_columns = [column[whole] for column in columns]
    log_joint[whole] = _whole_rows(counts, smoothing, whole_columns, y[whole], row_weight[whole])
    case_counts = [counts_of(counts, v).astype(np.float64) for v in range(len(counts.parents))]
    tables = tuple(estimated(table, smoothing) for table in case_counts)
    for i in np.flatnonzero(~whole).tolist():
        row = [column[i : i + 1] for column in columns]
        values = [int(column[0]) for column in row] + [int(y[i])]
        mine = list(tables)
        for v, parents in enumerate(counts.parents):
            family = (*parents, v)
            if all(u == len(sizes) or (sizes[u] and known[u, i]) for u in family):
                less = case_counts[v].copy()
                less[tuple(values[u] for u in family)] -= row_weight[i]
                mine[v] = estimated(np.maximum(less, 0.0), smoothing)
        beliefs = GraphBeliefs(sizes, counts.n_classes, counts.parents, tuple(mine))
        log_joint[i] = beliefs.score(row, Score.LOG_JOINT)[0][0]
    return log_joint


def _whole_rows(
    counts: GraphCounts, smoothing: Any, columns: list[NDArray[Any]], y: NDArray[np.int64], row_weight: Table
) -> Table:
    n, log_joint = len(columns), np.zeros((len(y), counts.n_classes))
    value: dict[int, Any] = {j: column.astype(np.int64) for j, column in enumerate(columns)}
    for v, parents in enumerate(counts.parents):
        if v < n and not counts.schema[v].n_values:
            continue
        table = counts_of(counts, v).astype(np.float64)
        pseudo = np.broadcast_to(as_prior(smoothing).pseudo_counts("", table.shape), table.shape)
        for c in range(counts.n_classes):
            here = {**value, n: np.full(len(y), c)}
            above = tuple(here[p] for p in parents)
            # The row is in the cells of its own class, and in those that do not depend on the class.
            mine = np.where(y == c, row_weight, 0.0)
            rows = table[(*above, here[v])] - (mine if n in (*parents, v) else row_weight)
            total = table.sum(axis=-1)[above] - (mine if n in parents else row_weight)
            norm = np.maximum(total, 0.0) + pseudo.sum(axis=-1)[above]
            cell = np.maximum(rows, 0.0) + pseudo[(*above, here[v])]
            with np.errstate(divide="ignore", invalid="ignore"):
                log_joint[:, c] += np.log(np.where(norm > 0, cell / norm, 1.0 / table.shape[-1]))
    return log_joint
