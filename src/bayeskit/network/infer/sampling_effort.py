"""Shared by all samplers: how much to sample, the result, and when its error is not reliable."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitWarning, NetworkError
from bayeskit.network.infer.answers import Quality
from bayeskit.network.infer.sample_output import check_random_state, is_whole

SAMPLES = 100_000
# Where a standard error is to be reached, sampling goes on up to this many samples.
MOST_SAMPLES = 50_000_000
# A standard error is trusted when at least this many effective samples stand behind it.
FEWEST_EFFECTIVE = 100.0
# Chains that agree have a split-R̂ below this. It is taken over batch means, whose own spread moves it by about 0.02.
LARGEST_R_HAT = 1.05


@dataclass(frozen=True)
class SamplingEffort:
    """The amount of sampling.

    Attributes
    ----------
    n_samples : int or None
        The number of samples, or the largest number when ``error`` is given.
    error : float or None
        Stop when no standard error is above this.
    random_state : int
        Seed of the samples: the same one gives the same answer, whatever the number of threads.
    exact_fits : bool
        False where the exact engine is already ruled out, so that no advice names it.
    positive : bool
        False where a table has a zero, so that no advice names Gibbs sampling.
    """

    n_samples: int | None = None
    error: float | None = None
    random_state: int = 0
    exact_fits: bool = True
    positive: bool = True

    def __post_init__(self) -> None:
        if self.n_samples is not None and not is_whole(self.n_samples, 1):
            raise NetworkError(f"n_samples must be a whole number of at least 1; got {self.n_samples!r}.")
        if self.error is not None and not _is_error(self.error):
            raise NetworkError(f"error is the standard error to reach, between 0 and 1; got {self.error!r}.")
        check_random_state(self.random_state)

    @property
    def most(self) -> int:
        """The largest number of samples."""
        return int(self.n_samples or (SAMPLES if self.error is None else MOST_SAMPLES))

    def advice(self, method: str) -> str:
        """Return what else to try when this method does badly."""
        other = {"rejection": "weighting", "weighting": "gibbs" if self.positive else "", "gibbs": "weighting"}[method]
        words = ["take more samples (n_samples)", *([f"pass method='{other}'"] if other else [])]
        words += ["pass method='exact'"] if self.exact_fits else []
        return " or ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _is_error(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 < value < 1


@dataclass(frozen=True)
class SampledMarginals:
    """Estimated marginals of all variables, one after another; NaN for those that were not requested."""

    values: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    quality: Quality


def good_enough(sampled: SampledMarginals, cells: NDArray[np.bool_], error: float) -> bool:
    """Return whether the standard error is reached, with enough samples."""
    if sampled.quality.effective_samples < FEWEST_EFFECTIVE:
        return False
    return bool((sampled.standard_error[cells] <= error).all())


def warn_if_short(sampled: SampledMarginals, cells: NDArray[np.bool_], effort: SamplingEffort) -> None:
    """Warn where the standard error was not reached, or where it rests on too few effective samples."""
    quality = sampled.quality
    if effort.error is not None:
        _warn(
            f"the standard error {effort.error:g} was not reached with {quality.n_samples} samples; the largest "
            f"standard error is {sampled.standard_error[cells].max(initial=0.0):.2g}."
        )
    elif quality.effective_samples < FEWEST_EFFECTIVE:
        _warn(
            f"{quality.n_samples} samples are worth only {quality.effective_samples:.0f} independent ones here, so the "
            f"standard errors are themselves uncertain; {effort.advice(quality.method)}."
        )


def warn_if_apart(sampled: SampledMarginals, effort: SamplingEffort) -> bool:
    """Warn where the chains of a Gibbs sampler do not agree, and say whether it is so."""
    apart = sampled.quality.r_hat > LARGEST_R_HAT
    if apart:
        _warn(
            f"the Gibbs chains do not agree (split-R̂ {sampled.quality.r_hat:.3g}, above {LARGEST_R_HAT}): they have "
            f"not visited all probable states, and the standard errors may be too small; {effort.advice('gibbs')}."
        )
    return apart


def _warn(message: str) -> None:
    warnings.warn(message, BayeskitWarning, stacklevel=6)
