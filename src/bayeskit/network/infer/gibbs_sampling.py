"""Gibbs sampling: several chains, the standard error of their mean, and whether they agree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Sampler, n_threads
from bayeskit.errors import NetworkError
from bayeskit.network.cpd.table import TableCPD
from bayeskit.network.infer.answers import Quality
from bayeskit.network.infer.chain_errors import error_of_mean, split_r_hat
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.sampling_effort import (
    SampledMarginals,
    SamplingEffort,
    good_enough,
    warn_if_apart,
    warn_if_short,
)

if TYPE_CHECKING:
    from bayeskit.network.infer.exact import ExactEngine

CHAINS = 8
# Sweeps of a chain are averaged in this many batches; fewer where the means would take more than MOST_NUMBERS.
BATCHES, FEWEST_BATCHES, MOST_NUMBERS = 64, 8, 1 << 23
FIRST_SWEEPS = 1 << 12


def gibbs(
    sampler: Sampler, engine: ExactEngine, cells: NDArray[np.bool_], evidence: Evidence, effort: SamplingEffort
) -> SampledMarginals:
    """Estimate the marginals in ``cells`` by Gibbs sampling, until the samples are used up or the error is reached."""
    sweeps = effort.most if effort.error is None else min(effort.most, FIRST_SWEEPS)
    first = 0
    while True:
        sampled = _run(sampler, engine, cells, evidence, effort, sweeps, first)
        done = effort.error is not None and good_enough(sampled, cells, effort.error)
        if done or effort.error is None or sweeps >= effort.most:
            # Chains that stay apart are worth few samples, too; the first warning says why.
            apart = warn_if_apart(sampled, effort)
            if not done and (effort.error is not None or not apart):
                warn_if_short(sampled, cells, effort)
            return sampled
        first += CHAINS
        sweeps = min(2 * sweeps, effort.most)


def _run(
    sampler: Sampler,
    engine: ExactEngine,
    cells: NDArray[np.bool_],
    evidence: Evidence,
    effort: SamplingEffort,
    sweeps: int,
    first: int,
) -> SampledMarginals:
    # A chain shorter than a few batches would say nothing about itself.
    n_chains = max(1, min(CHAINS, sweeps // FEWEST_BATCHES))
    lengths = [sweeps // n_chains + (c < sweeps % n_chains) for c in range(n_chains)]
    room = MOST_NUMBERS // (n_chains * len(cells))
    n_batches = min(max(min(BATCHES, room), FEWEST_BATCHES), lengths[-1])
    burn_in = max(50, lengths[0] // 10)
    threads = n_threads((sweeps + n_chains * burn_in) * len(engine.net.names) * 8)
    means = sampler.gibbs(
        *evidence.arguments(), first, lengths, burn_in, n_batches, effort.random_state, threads
    ).reshape(n_chains, n_batches, -1)
    sizes = np.concatenate([np.bincount(np.arange(n) * n_batches // n) for n in lengths]).reshape(n_chains, n_batches)
    p = np.tensordot(sizes, means, axes=2) / sweeps
    series = means[:, :, cells]
    inside = p[cells]
    if n_batches < 4:  # too few for a variance: what one sample is worth
        error, r_hat = np.sqrt(inside * (1.0 - inside)), float("nan")
    else:
        error, r_hat = error_of_mean(series), float(split_r_hat(series).max(initial=1.0))
    variance, square = inside * (1.0 - inside), error**2
    spread = np.divide(variance, square, out=np.full_like(error, np.inf), where=(square > 0) & (variance > 0))
    effective = float(min(spread.min(initial=sweeps), sweeps))
    # Where all sweeps agree the estimate is 0, though a state of probability 1/n may just not have come up.
    error = np.maximum(error, 1.0 / sweeps)
    values, errors = np.full(len(cells), np.nan), np.full(len(cells), np.nan)
    values[cells], errors[cells] = inside, error
    return SampledMarginals(values, errors, Quality("gibbs", sweeps, max(effective, 1.0), r_hat))


def refuse_zeros(engine: ExactEngine) -> None:
    """Raise an error where a table has a zero: the chain may never reach some possible states."""
    for name, cpd in zip(engine.net.names, engine.net.cpds, strict=True):
        if not cpd.positive:
            unless = "" if isinstance(cpd, TableCPD) else ", or is too large to look at"
            raise NetworkError(
                f"Gibbs sampling needs tables without zeros, or it may never leave a part of the states; the table of "
                f"{name!r} has one{unless}. Pass method='weighting'."
            )
