"""Leave-one-out of a network with a class: each row by the counts of the others."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.classify.graph_beliefs import GraphBeliefs, counts_of, estimated
from bayeskit.counts.families import sizes_of
from bayeskit.counts.graph_counts import GraphCounts
from bayeskit.network.learn.pseudo_counts import as_prior

Numbers = NDArray[np.float64]


def log_joint_left_out(
    counts: GraphCounts, smoothing: Any, columns: list[NDArray[Any]], y: NDArray[np.int64], own: Numbers
) -> Numbers:
    """Return log P(x, c) of counted rows, (n_rows, n_classes), each by the counts without it.

    Of a whole row each factor is one cell of a table, from which the row is taken where it is in it. A row with a
    missing cell is summed out of tables of its own.
    """
    sizes = sizes_of(counts.schema)
    known = np.array(
        [column < size if size else np.ones(len(y), bool) for column, size in zip(columns, sizes, strict=True)]
    )
    whole = known.all(axis=0)
    log_joint = np.empty((len(y), counts.n_classes))
    log_joint[whole] = _whole_rows(counts, smoothing, [column[whole] for column in columns], y[whole], own[whole])
    found = [counts_of(counts, v).astype(np.float64) for v in range(len(counts.parents))]
    tables = tuple(estimated(table, smoothing) for table in found)
    for i in np.flatnonzero(~whole).tolist():
        row = [column[i : i + 1] for column in columns]
        values = [int(column[0]) for column in row] + [int(y[i])]
        mine = list(tables)
        for v, parents in enumerate(counts.parents):
            family = (*parents, v)
            if all(u == len(sizes) or (sizes[u] and known[u, i]) for u in family):
                less = found[v].copy()
                less[tuple(values[u] for u in family)] -= own[i]
                mine[v] = estimated(np.maximum(less, 0.0), smoothing)
        beliefs = GraphBeliefs(sizes, counts.n_classes, counts.parents, tuple(mine))
        log_joint[i] = beliefs.score(row, Score.LOG_JOINT)[0][0]
    return log_joint


def _whole_rows(
    counts: GraphCounts, smoothing: Any, columns: list[NDArray[Any]], y: NDArray[np.int64], own: Numbers
) -> Numbers:
    n, log_joint = len(columns), np.zeros((len(y), counts.n_classes))
    value: dict[int, Any] = {j: column.astype(np.int64) for j, column in enumerate(columns)}
    for v, parents in enumerate(counts.parents):
        if v < n and not counts.schema[v].n_values:
            continue
        found = counts_of(counts, v).astype(np.float64)
        pseudo = np.broadcast_to(as_prior(smoothing).pseudo_counts("", found.shape), found.shape)
        for c in range(counts.n_classes):
            here = {**value, n: np.full(len(y), c)}
            above = tuple(here[p] for p in parents)
            # The row is in the cells of its own class, and in those that do not depend on the class.
            mine = np.where(y == c, own, 0.0)
            rows = found[(*above, here[v])] - (mine if n in (*parents, v) else own)
            total = found.sum(axis=-1)[above] - (mine if n in parents else own)
            norm = np.maximum(total, 0.0) + pseudo.sum(axis=-1)[above]
            cell = np.maximum(rows, 0.0) + pseudo[(*above, here[v])]
            with np.errstate(divide="ignore", invalid="ignore"):
                log_joint[:, c] += np.log(np.where(norm > 0, cell / norm, 1.0 / found.shape[-1]))
    return log_joint
