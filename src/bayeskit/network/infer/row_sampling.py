"""Forward sampling row by row, for distributions that have neither a table that fits nor a chain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.network import dag
from bayeskit.network.cpd.distribution import table_fits

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork

# Rows whose probabilities are computed at once.
_BLOCK = 1 << 16


def needs_rows(net: BayesianNetwork) -> bool:
    """Return whether some distribution can be asked row by row only: a logistic one with many parents."""
    return any(not table_fits(cpd.shape) and cpd.steps() is None for cpd in net.cpds)


def sample_by_rows(net: BayesianNetwork, n: int, seed: int) -> list[NDArray[Any]]:
    """Return a column of codes for each variable, parents sampled before children.

    Each variable has a stream of its own, so more cases begin with the same ones.
    """
    columns: list[NDArray[Any]] = [np.zeros(0)] * len(net.names)
    for v in dag.topological_order(net.parents):
        above, cpd = net.parents[v], net.cpds[v]
        codes = np.zeros(n, dtype=np.uint8 if net.cards[v] < 255 else np.uint32)
        draw = np.random.default_rng([seed, v]).random(n)
        for at in range(0, n, _BLOCK):
            here = slice(at, min(at + _BLOCK, n))
            given = [columns[p][here].astype(np.int64) for p in above]
            rows = cpd.rows(np.stack(given, axis=1) if given else np.zeros((len(draw[here]), 0), dtype=np.int64))
            # The last state takes what rounding leaves, and a state of probability 0 is never taken.
            ends = np.cumsum(rows, axis=1)
            ends /= ends[:, -1:]
            codes[here] = (draw[here][:, None] >= ends).sum(axis=1)
        columns[v] = codes
    return columns
