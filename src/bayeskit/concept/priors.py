"""Priors over conjunctions: uniform, by specificity, by code length, or given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.concept.conjunctions import Conjunction, ConjunctionSpace
from bayeskit.concept.probabilities import read_prior

NAMED = ("uniform", "specific", "simple")
Prior = str | Callable[[Conjunction], float] | Any


def log_weights(prior: str, space: ConjunctionSpace) -> tuple[list[NDArray[np.float64]], float]:
    r"""Return a named prior as a sum: log P(h) = log Z + Σ_j weight_j of its constraint; and log P(∅).

    * "uniform": P(h) = 1 / |H|.
    * "specific": P(h) ∝ 1 / (hypotheses that are at most as general as h, without ∅), so that of two hypotheses the
      more specific is more probable; ∅ has twice the weight of those that cover one instance.
    * "simple": P(h) = 2^(−L(h)), where L(h) is the length in bits of a code for h: one bit per attribute says whether
      it is constrained, and log₂(constraints − 1) bits say how. ∅ has no code.
    """
    if prior == "uniform":
        log_size = float(np.log(float(space.size))) if space.size < 1 << 1000 else space.size.bit_length() * np.log(2.0)
        return [np.zeros(n) - (log_size if j == 0 else 0.0) for j, n in enumerate(space.shape)], -float(log_size)
    if prior == "specific":
        weights = [-np.log(part.n_below().astype(np.float64)) for part in space.parts]
        # The sum of a product over all combinations is the product of the sums.
        log_total = float(np.logaddexp(sum(float(np.logaddexp.reduce(w)) for w in weights), np.log(2.0)))
        return [w - (log_total if j == 0 else 0.0) for j, w in enumerate(weights)], float(np.log(2.0)) - log_total
    return [-code_bits(n) * np.log(2.0) for n in space.shape], -np.inf


def code_bits(n_constraints: int) -> NDArray[np.float64]:
    """Return the bits of each constraint of one attribute: 1 for ?, and 1 + log₂(n − 1) for any other.

    An attribute whose only constraint is ? needs no bit.

    >>> code_bits(5)
    array([1., 3., 3., 3., 3.])
    """
    if n_constraints == 1:
        return np.zeros(1)
    return np.array([1.0] + [1.0 + np.log2(n_constraints - 1)] * (n_constraints - 1))


def conjunction_bits(hypothesis: Conjunction) -> float:
    """Return L(h), the length of a conjunction's code in bits; infinite for ∅, which has none."""
    if hypothesis.is_empty:
        return float("inf")
    shape = hypothesis.space.shape
    return float(sum(code_bits(n)[c] for n, c in zip(shape, hypothesis.constraints, strict=True)))


def log_prior(prior: Prior, space: ConjunctionSpace) -> NDArray[np.float64]:
    """Return log P(h) of every hypothesis of a space, in its order."""
    with np.errstate(divide="ignore"):
        if isinstance(prior, str):
            weights, empty = log_weights(prior, space)
            log_p = np.zeros(1)
            for w in weights:
                log_p = (log_p[:, None] + w[None, :]).ravel()
            return np.append(log_p, empty)
        if callable(prior):
            given = [prior(hypothesis) for hypothesis in space]
            return np.log(read_prior(given, range(space.size), normalize=True))
        return np.log(read_prior(prior, range(space.size)))


def is_prior(prior: Prior) -> bool:
    """Return whether a value could be a prior: a known name, a function or an array."""
    return not isinstance(prior, str) or prior in NAMED
