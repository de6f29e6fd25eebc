"""Answers by sampling: rejection, likelihood weighting and Gibbs, each with its standard error."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import SAMPLE_CHUNK, Sampler, n_threads
from bayeskit.errors import BayeskitWarning, ImpossibleEvidenceError, NetworkError
from bayeskit.network.infer.answers import Quality
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.forward import check_seed, is_whole

if TYPE_CHECKING:
    from bayeskit.network.infer.exact import ExactEngine

SAMPLES = 100_000
# With a wished error sampling goes on up to this many samples.
MOST_SAMPLES = 50_000_000
# A standard error is trusted when at least this many effective samples stand behind it.
FEWEST_EFFECTIVE = 100.0
GIBBS_CHAINS = 8
GIBBS_BATCHES = 16
METHODS = ("rejection", "weighting", "gibbs")


@dataclass(frozen=True)
class Effort:
    """How much to sample.

    Attributes
    ----------
    n_samples : int or None
        Samples to draw, or the most to draw when ``error`` is given.
    error : float or None
        Stop when no standard error is above this.
    seed : int
        The same seed gives the same answer, whatever the number of threads.
    """

    n_samples: int | None = None
    error: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.n_samples is not None and not is_whole(self.n_samples, 1):
            raise NetworkError(f"n_samples must be a whole number of at least 1; got {self.n_samples!r}.")
        if self.error is not None and not _is_error(self.error):
            raise NetworkError(f"error is the wished standard error, between 0 and 1; got {self.error!r}.")
        check_seed(self.seed)

    @property
    def most(self) -> int:
        """The most samples to draw."""
        return int(self.n_samples or (SAMPLES if self.error is None else MOST_SAMPLES))


def _is_error(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 < value < 1


@dataclass(frozen=True)
class Estimate:
    """Estimated marginals of all variables, one after another; NaN for those that were not asked for."""

    values: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    quality: Quality


def estimate(engine: ExactEngine, wanted: list[int], evidence: Evidence, method: str, effort: Effort) -> Estimate:
    """Estimate marginals by sampling, until the samples are used up or the wished error is reached."""
    if evidence.wished:
        raise NetworkError(
            "a wished marginal needs the exact engine; pass method='exact', or give a likelihood instead."
        )
    sampler = Sampler(engine.native)
    if method == "gibbs":
        refuse_zeros(engine)
        found = _gibbs(sampler, engine, wanted, evidence, effort)
    else:
        found = _weighted(sampler, engine, wanted, evidence, method, effort)
    for v, state in evidence.states.items():
        cells = slice(engine.offsets[v], engine.offsets[v + 1])
        found.values[cells] = np.eye(engine.net.cards[v])[state]
        found.standard_error[cells] = 0.0
    return found


def _wanted_cells(engine: ExactEngine, wanted: list[int], evidence: Evidence) -> NDArray[np.bool_]:
    mask = np.zeros(engine.offsets[-1], dtype=bool)
    for v in wanted:
        if v not in evidence.states:
            mask[engine.offsets[v] : engine.offsets[v + 1]] = True
    return mask


def _weighted(
    sampler: Sampler, engine: ExactEngine, wanted: list[int], evidence: Evidence, method: str, effort: Effort
) -> Estimate:
    hard, states, soft, likelihoods = evidence.arguments()
    cells = _wanted_cells(engine, wanted, evidence)
    free = [v for v in wanted if v not in evidence.states]
    total, by_state, squares = np.zeros(2), np.zeros(len(cells)), np.zeros(len(cells))
    most = -(-effort.most // SAMPLE_CHUNK)
    done, step = 0, most if effort.error is None else 16
    while done < most:
        step = min(step, most - done)
        # Memory is bounded: a round keeps one line of sums a chunk.
        step = min(step, max(1, (1 << 24) // (len(cells) + 1)))
        threads = n_threads(step * SAMPLE_CHUNK * len(engine.net.names))
        part = sampler.weighted(
            hard, states, soft, likelihoods, free, method == "rejection", done, step, effort.seed, threads
        )
        total, by_state, squares = total + part[0], by_state + part[1], squares + part[2]
        done += step
        if effort.error is not None:
            found = _from_sums(total, by_state, squares, cells, method, done * SAMPLE_CHUNK)
            if found is not None and _good_enough(found, cells, effort.error):
                return found
            step = done
    found = _from_sums(total, by_state, squares, cells, method, done * SAMPLE_CHUNK)
    if found is None:
        raise ImpossibleEvidenceError(
            f"none of {done * SAMPLE_CHUNK} samples agrees with the evidence: it is impossible or very rare. "
            "Pass method='exact', method='weighting' or more n_samples."
        )
    _warn_if_short(found, cells, effort)
    return found


def _from_sums(
    total: NDArray[np.float64],
    by_state: NDArray[np.float64],
    squares: NDArray[np.float64],
    cells: NDArray[np.bool_],
    method: str,
    n: int,
) -> Estimate | None:
    weight, weight_squared = total
    if not weight > 0:
        return None
    effective = weight * weight / weight_squared
    p = by_state / weight
    # Ratio of two means: Var ≈ Σ w² ([x = k] − p)² / (Σ w)² (Owen, Monte Carlo theory, section 9.2). Where all samples
    # agree the formula gives 0, though a state of probability 1/n may just not have come up.
    variance = np.maximum(squares * (1.0 - 2.0 * p) + p * p * weight_squared, 0.0) / (weight * weight)
    error = np.maximum(np.sqrt(variance), 1.0 / effective)
    values = np.where(cells, p, np.nan)
    return Estimate(values, np.where(cells, error, np.nan), Quality(method, n, float(effective)))


def _gibbs(sampler: Sampler, engine: ExactEngine, wanted: list[int], evidence: Evidence, effort: Effort) -> Estimate:
    cells = _wanted_cells(engine, wanted, evidence)
    sweeps = effort.most if effort.error is None else min(effort.most, 1 << 11)
    first = 0
    while True:
        batch = max(1, -(-sweeps // (GIBBS_CHAINS * GIBBS_BATCHES)))
        burn_in = max(50, batch * GIBBS_BATCHES // 10)
        threads = n_threads(sweeps * len(engine.net.names) * 8)
        means = sampler.gibbs(
            *evidence.arguments(), first, GIBBS_CHAINS, burn_in, GIBBS_BATCHES, batch, effort.seed, threads
        )
        n_batches = len(means)
        p = means.mean(axis=0)
        n = batch * n_batches
        error = np.maximum(means.std(axis=0, ddof=1) / np.sqrt(n_batches), 1.0 / n)
        with np.errstate(invalid="ignore"):
            spread = (p * (1.0 - p))[cells] / error[cells] ** 2
        effective = float(min(spread[spread > 0].min(initial=n), n))
        found = Estimate(
            np.where(cells, p, np.nan), np.where(cells, error, np.nan), Quality("gibbs", n, max(effective, 1.0))
        )
        if effort.error is None or _good_enough(found, cells, effort.error):
            return found
        if sweeps >= effort.most:
            _warn_if_short(found, cells, effort)
            return found
        first += GIBBS_CHAINS
        sweeps = min(2 * sweeps, effort.most)


def _good_enough(found: Estimate, cells: NDArray[np.bool_], error: float) -> bool:
    if found.quality.effective_samples < FEWEST_EFFECTIVE:
        return False
    return bool((found.standard_error[cells] <= error).all())


def _warn_if_short(found: Estimate, cells: NDArray[np.bool_], effort: Effort) -> None:
    if effort.error is not None:
        warnings.warn(
            f"the wished error {effort.error:g} was not reached with {found.quality.n_samples} samples; the largest "
            f"standard error is {found.standard_error[cells].max():.2g}.",
            BayeskitWarning,
            stacklevel=5,
        )
    elif found.quality.effective_samples < FEWEST_EFFECTIVE:
        warnings.warn(
            f"{found.quality.n_samples} samples are worth only {found.quality.effective_samples:.0f} independent ones "
            "here, so the standard errors are themselves uncertain; draw more, or pass method='exact'.",
            BayeskitWarning,
            stacklevel=5,
        )


def refuse_zeros(engine: ExactEngine) -> None:
    """Refuse Gibbs sampling where a table has a zero: the chain may never reach a part of what is possible."""
    for name, table in zip(engine.net.names, engine.net.tables, strict=True):
        if not (table > 0).all():
            raise NetworkError(
                f"Gibbs sampling needs tables without zeros, or it may never leave a part of the states; the table of "
                f"{name!r} has one. Pass method='weighting'."
            )
