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
from bayeskit.estimate.families import without_too_large
from bayeskit.network import dag
from bayeskit.network.learn.pseudo_counts import as_prior, estimate

Table = NDArray[np.float64]


def counts_of(counts: GraphCounts, v: int) -> NDArray[Any]:
    """Return how many rows have each case of a variable's parents and value: one axis per parent, own values last.

    Variables are the columns and, last, the class.
    """
    n, own = len(counts.schema), counts.parents[v]
    columns = tuple(p for p in own if p < n)
    if v == n:
        return counts.table(columns) if columns else counts.n_class
    found = counts.table((*columns, v))  # (parents' values …, own values, classes)
    return np.moveaxis(found, -1, own.index(n)) if n in own else np.asarray(found.sum(axis=-1))


def tables_of(counts: GraphCounts, smoothing: Any) -> tuple[Table, ...]:
    """Return P(variable | parents) of each column and, last, of the class: one axis per parent, own values last."""
    return tuple(estimated(counts_of(counts, v), smoothing) for v in range(len(counts.parents)))


def estimated(found: NDArray[Any], smoothing: Any) -> Table:
    """Return P(variable | parents) from the counts of its cells."""
    return estimate(found, as_prior(smoothing).pseudo_counts("", found.shape))


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
