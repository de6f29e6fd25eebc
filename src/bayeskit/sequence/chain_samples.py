"""Random sequences of a chain: states one after the other, and the cells of each row given its state."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.learn.naive_beliefs import kinds_of
from bayeskit.sequence.beliefs import ChainBeliefs
from bayeskit.sequence.counts import gaussian_columns


def sample_chain(
    chain: ChainBeliefs, n_rows: int, rng: np.random.Generator
) -> tuple[dict[str, Any], NDArray[np.int64]]:
    """Return the columns of a sequence, and its states."""
    start, step = np.cumsum(np.exp(chain.log_start)), np.cumsum(np.exp(chain.log_step), axis=1)
    states, u = np.empty(n_rows, dtype=np.int64), rng.random(n_rows)
    last = chain.n_states - 1
    for t in range(n_rows):
        ends = start if t == 0 else step[states[t - 1]]
        # Rounding may leave the last end a bit below 1; what has no probability has no stretch of its own to fall into.
        states[t] = min(int(np.searchsorted(ends, u[t] * ends[-1], side="right")), last)
    table: dict[str, Any] = {}
    together = gaussian_columns(chain.schema) if chain.joint is not None else ()
    for j, (variable, kind) in enumerate(zip(chain.schema, kinds_of(chain.schema), strict=True)):
        if variable.kind == "unknown" or j in together:
            continue
        column: NDArray[Any] | None = None
        for c in np.unique(states).tolist():
            rows = np.flatnonzero(states == c)
            drawn = np.asarray(kind.sample(variable, chain.cells.parameters[j], c, len(rows), rng))
            if column is None:
                column = np.empty(n_rows, dtype=drawn.dtype)
            column[rows] = drawn
        table[variable.name] = column
    if chain.joint is not None:
        normal = rng.normal(size=(n_rows, len(together)))
        roots = np.linalg.cholesky(chain.joint.covariance)  # (n_states, d, d)
        x = chain.joint.mean[states] + np.einsum("tij,tj->ti", roots[states], normal)
        table |= {chain.schema[j].name: x[:, d] for d, j in enumerate(together)}
    return {name: table[name] for name in chain.schema.names if name in table}, states
