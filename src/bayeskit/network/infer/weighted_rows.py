"""Likelihood weighting where an observed variable has a form in place of a table.

The chain of a noisy-OR is nearly deterministic, so weights along it would mostly be 0. Here the observed variables are
set, the others are sampled, and each sample is weighed by P(observed | its parents) of the form itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Sampler, n_threads
from bayeskit.network import dag
from bayeskit.network.cpd.distribution import Distribution
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.factored import Factored
from bayeskit.table.schema import Schema

if TYPE_CHECKING:
    from bayeskit.network.infer.exact import ExactEngine
    from bayeskit.network.network import BayesianNetwork

# Cells that are sampled at once.
MOST_CELLS = 1 << 25


@dataclass(frozen=True, eq=False)
class GivenSampler:
    """Samples of what matters, with the observed variables set: the variables, and what samples them."""

    kept: list[int]
    sampler: Sampler
    width: int  # columns that are sampled, hidden ones too


def sampler_given(net: BayesianNetwork, free: list[int], evidence: Evidence) -> GivenSampler:
    """Return a sampler of the network in which evidence is set, without the variables that do not matter."""
    cut = [() if v in evidence.states else above for v, above in enumerate(net.parents)]
    asked = {*free, *evidence.states, *evidence.likelihoods, *(p for v in evidence.states for p in net.parents[v])}
    kept = sorted(dag.ancestors(cut, asked))
    place = {v: k for k, v in enumerate(kept)}
    cpds: list[Distribution] = [
        TableCPD(np.eye(net.cards[v])[evidence.states[v]]) if v in evidence.states else net.cpds[v] for v in kept
    ]
    part = net._like(
        [net.names[v] for v in kept],
        [net.states[v] for v in kept],
        [[place[p] for p in cut[v]] for v in kept],
        cpds,
        Schema(tuple(net.schema[v] for v in kept), net.schema.named),
        None,
    )
    form = Factored.to_sample(part)
    return GivenSampler(kept, Sampler(form.native()), len(form.names))


def weigh_rows(
    given: GivenSampler, engine: ExactEngine, evidence: Evidence, free: list[int], done: int, step: int, seed: int
) -> tuple[Any, ...]:
    """Return the sums of ``step`` weighted samples after ``done`` others: unit, Σw and Σw², and both by state."""
    n_cells = engine.offsets[-1]
    parts = []
    size = max(1, min(step, MOST_CELLS // given.width))
    for at in range(0, step, size):
        n = min(size, step - at)
        # A stream of its own for each part, so that any split of the samples gives other samples, never the same.
        stream = int(np.random.SeedSequence([seed, done + at]).generate_state(1, np.uint64)[0])
        columns = given.sampler.forward(n, stream, n_threads(n * given.width))
        codes = {v: columns[k] for k, v in enumerate(given.kept)}
        parts.append((_log_weights(engine.net, evidence, codes, n), {v: codes[v] for v in free}))
    top = max(float(log.max()) for log, _ in parts)
    unit = int(np.floor(top / np.log(2.0))) if np.isfinite(top) else 0
    total, by_state, squares = np.zeros(2), np.zeros(n_cells), np.zeros(n_cells)
    for log, codes in parts:
        w = np.exp(log - unit * np.log(2.0))
        total += [w.sum(), (w * w).sum()]
        for v, column in codes.items():
            cells = slice(engine.offsets[v], engine.offsets[v + 1])
            by_state[cells] += np.bincount(column, weights=w, minlength=engine.net.cards[v])
            squares[cells] += np.bincount(column, weights=w * w, minlength=engine.net.cards[v])
    return unit, total, by_state, squares


def _log_weights(
    net: BayesianNetwork, evidence: Evidence, codes: dict[int, NDArray[Any]], n: int
) -> NDArray[np.float64]:
    log = np.zeros(n)
    with np.errstate(divide="ignore"):
        for v, state in evidence.states.items():
            above = [codes[p].astype(np.int64) for p in net.parents[v]]
            rows = net.cpds[v].rows(np.stack(above, axis=1) if above else np.zeros((n, 0), dtype=np.int64))
            log += np.log(rows[:, state])
        for v, values in evidence.likelihoods.items():
            log += np.log(values[codes[v]])
    return log
