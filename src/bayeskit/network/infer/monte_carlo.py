"""Answers by sampling: rejection, likelihood weighting and Gibbs, each with its standard error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import SAMPLE_CHUNK, Sampler, n_threads
from bayeskit.errors import ImpossibleEvidenceError, NetworkError
from bayeskit.network.infer.answers import Quality
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.factored import Factored
from bayeskit.network.infer.gibbs_sampling import gibbs, refuse_zeros
from bayeskit.network.infer.sampling_effort import SampledMarginals, SamplingEffort, good_enough, warn_if_short
from bayeskit.network.infer.weighted_rows import sampler_given, weigh_rows

if TYPE_CHECKING:
    from bayeskit.network.infer.exact import ExactEngine

SAMPLERS = ("rejection", "weighting", "gibbs")
FIRST_SAMPLES = 16 * SAMPLE_CHUNK
# Samples drawn before, samples to draw, seed → unit, sums of weights, and of weights by state and their squares.
Draw = Callable[[int, int, int], tuple[Any, ...]]


def sample_marginals(
    engine: ExactEngine, wanted: list[int], evidence: Evidence, method: str, effort: SamplingEffort
) -> SampledMarginals:
    """Estimate marginals by sampling, until the samples are used up or the standard error is small enough."""
    if evidence.marginals:
        raise NetworkError(
            "soft evidence (Marginal) needs the exact engine; pass method='exact', or give a likelihood instead."
        )
    effort = replace(effort, positive=all(cpd.positive for cpd in engine.net.cpds))
    cells = _wanted_cells(engine, wanted, evidence)
    if method == "gibbs":
        if not effort.positive:
            refuse_zeros(engine)
        # A chain has zeros, which would hold the sampler fast; the full tables have none.
        sampled = gibbs(Sampler(Factored.full(engine.net).native()), engine, cells[: engine.n_cells], evidence, effort)
    else:
        free = [v for v in wanted if v not in evidence.states]
        if method == "weighting" and any(v in engine.factored.chained for v in evidence.states):
            draw: Draw = partial(weigh_rows, sampler_given(engine.net, free, evidence), engine, evidence, free)
        else:
            draw = partial(_native_sums, Sampler(engine.native), engine, evidence, free, method)
        sampled = _weighted(draw, cells, method, effort)
    for v, state in evidence.states.items():
        part = slice(engine.offsets[v], engine.offsets[v + 1])
        sampled.values[part] = np.eye(engine.net.cards[v])[state]
        sampled.standard_error[part] = 0.0
    return sampled


def _wanted_cells(engine: ExactEngine, wanted: list[int], evidence: Evidence) -> NDArray[np.bool_]:
    mask = np.zeros(engine.offsets[-1], dtype=bool)
    for v in wanted:
        if v not in evidence.states:
            mask[engine.offsets[v] : engine.offsets[v + 1]] = True
    return mask


@dataclass(frozen=True)
class _Sums:
    """Sums over weighted samples, with weights in units of 2^unit."""

    unit: int
    total: NDArray[np.float64]  # Σw, Σw²
    by_state: NDArray[np.float64]  # Σw [x = k]
    squares: NDArray[np.float64]  # Σw² [x = k]

    def __add__(self, other: _Sums) -> _Sums:
        if not other.total[0] > 0:
            return self
        if not self.total[0] > 0:
            return other
        unit = max(self.unit, other.unit)
        a, b = self._in(unit), other._in(unit)
        return _Sums(unit, a.total + b.total, a.by_state + b.by_state, a.squares + b.squares)

    def _in(self, unit: int) -> _Sums:
        once, twice = np.ldexp(1.0, max(self.unit - unit, -2000)), np.ldexp(1.0, max(2 * (self.unit - unit), -2000))
        return _Sums(unit, self.total * [once, twice], self.by_state * once, self.squares * twice)

    def marginals(self, cells: NDArray[np.bool_], method: str, n: int) -> SampledMarginals | None:
        """Return the estimates, or None where all weights are 0."""
        weight, weight_squared = self.total
        if not weight > 0:
            return None
        effective = weight * weight / weight_squared
        p = self.by_state / weight
        # Ratio of two means: Var ≈ Σ w² ([x = k] − p)² / (Σ w)² (Owen, Monte Carlo theory, section 9.2). Where all
        # samples agree the formula gives 0, though a state of probability 1/n may just not have come up.
        variance = np.maximum(self.squares * (1.0 - 2.0 * p) + p * p * weight_squared, 0.0) / (weight * weight)
        error = np.maximum(np.sqrt(variance), 1.0 / effective)
        values = np.where(cells, p, np.nan)
        return SampledMarginals(values, np.where(cells, error, np.nan), Quality(method, n, float(effective)))


def _native_sums(
    sampler: Sampler,
    engine: ExactEngine,
    evidence: Evidence,
    free: list[int],
    method: str,
    done: int,
    step: int,
    seed: int,
) -> tuple[Any, ...]:
    seen, threads = engine.factored.evidence(evidence).arguments(), n_threads(step * len(engine.net.names))
    return sampler.weighted(*seen, free, method == "rejection", done // SAMPLE_CHUNK, step, seed, threads)


def _weighted(draw: Draw, cells: NDArray[np.bool_], method: str, effort: SamplingEffort) -> SampledMarginals:
    sums = _Sums(0, np.zeros(2), np.zeros(len(cells)), np.zeros(len(cells)))
    # Memory is bounded: a round keeps one line of sums a chunk.
    largest = SAMPLE_CHUNK * max(1, (1 << 24) // (len(cells) + 1))
    done, step = 0, effort.most if effort.error is None else FIRST_SAMPLES
    while done < effort.most:
        step = min(step, effort.most - done, largest)
        sums += _Sums(*draw(done, step, effort.random_state))
        done += step
        if effort.error is not None:
            sampled = sums.marginals(cells, method, done)
            if sampled is not None and good_enough(sampled, cells, effort.error):
                return sampled
            step = done
    sampled = sums.marginals(cells, method, done)
    if sampled is None:
        raise ImpossibleEvidenceError(
            f"none of {done} samples agrees with the evidence: it is impossible or very rare; {effort.advice(method)}."
        )
    warn_if_short(sampled, cells, effort)
    return sampled
