"""Structural EM: hidden cells completed by the network so far, a better network for the completed rows, and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.defaults import SMOOTHING
from bayeskit.estimate.history import History
from bayeskit.network.learn.climber import parents_of
from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.network.learn.flat_tables import FlatTables
from bayeskit.network.learn.hidden_rows import HiddenRows
from bayeskit.network.learn.pseudo_counts import as_prior
from bayeskit.network.learn.search_method import Marks, SearchResult, SearchTask
from bayeskit.network.learn.table_em import learn_by_em

# A search over complete rows: rows, where to start → graph, or None when its time is over.
Search = Callable[[DiscreteRows, Marks], "Marks | None"]

# Each row stands for this many completions of its hidden cells, each with a share of its weight.
COMPLETIONS = 10


def structural_em(
    task: SearchTask, search: Search, *, smoothing: Any = SMOOTHING, max_rounds: int = 10
) -> SearchResult:
    """Return a graph for rows with hidden cells.

    A round estimates the tables of the graph by EM, samples the hidden cells of each row ten times from their posterior
    given its known cells, and searches with the completed rows, each with a tenth of the weight. What is compared
    between rounds is the log-likelihood of the *known* cells minus the BIC penalty; a round that does not improve
    it ends the search. The same random numbers are used in each round.

    References
    ----------
    Friedman (1998), The Bayesian structural EM algorithm, UAI; the expected counts of the families that the search
    asks for are those of the sampled completions.
    """
    rows, best, limit = task.rows, task.start, task.max_bytes
    reason, converged = f"the limit of {max_rounds} rounds was reached", False
    tables, score = _fitted(rows, best, smoothing, limit)
    path = [score]
    try:
        for step in range(1, max_rounds + 1):
            completed = _completed(rows, best, tables, task.random_state, limit, smoothing)
            arcs = search(completed, best)
            if arcs is None:
                reason, converged = "the time is over", True
                break
            if (arcs == best).all():
                reason, converged = "the graph did not change", True
                break
            tables_new, score = _fitted(rows, arcs, smoothing, limit)
            if score <= path[-1] + 1e-6:
                reason, converged = "a round did not improve the score of the known cells", True
                break
            best, tables = arcs, tables_new
            path.append(score)
            task.report(step, score, best)
    except KeyboardInterrupt:
        reason = "interrupted; the best network so far is kept"
    return SearchResult(best, History("structural-em", tuple(path), reason, converged))


def _hidden(rows: DiscreteRows, arcs: Marks, smoothing: Any, limit: float) -> HiddenRows:
    flat = FlatTables(rows.names, tuple(rows.cards), tuple(tuple(above) for above in parents_of(arcs)))
    return HiddenRows(flat, rows.columns, rows.weight, as_prior(smoothing), limit)


def _fitted(rows: DiscreteRows, arcs: Marks, smoothing: Any, limit: float) -> tuple[NDArray[np.float64], float]:
    """Return the tables by EM, and log-likelihood of the known cells − ½ ln N · free parameters."""
    hidden = _hidden(rows, arcs, smoothing, limit)
    starts = hidden.starts(1, None, np.random.default_rng(0))
    tables, _ = learn_by_em(hidden, starts, tol=1e-5, max_iter=1000)
    log = hidden.kernel.expect(tables, 1)[1]
    free = sum(np.prod(shape) // shape[-1] * (shape[-1] - 1) for shape in hidden.flat.shapes)
    return tables, float(log - 0.5 * np.log(hidden.total) * free)


def _completed(
    rows: DiscreteRows, arcs: Marks, tables: NDArray[np.float64], seed: int, limit: float, smoothing: Any
) -> DiscreteRows:
    hidden = _hidden(rows, arcs, smoothing, limit)
    sampled = [hidden.kernel.complete_rows(tables, seed + k) for k in range(COMPLETIONS)]
    columns: list[NDArray[Any]] = [np.concatenate([each[j] for each in sampled]) for j in range(len(rows.names))]
    row_weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
    return replace(rows, columns=columns, weight=np.tile(row_weight / COMPLETIONS, COMPLETIONS))
