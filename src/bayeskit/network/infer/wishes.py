"""Wished marginals: Jeffrey's rule for one, iterative proportional fitting for several."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.exact import ExactEngine

# The fit ends when every wished marginal is met within this.
WISH_TOLERANCE = 1e-12
WISH_ROUNDS = 2000


def fit_wishes(engine: ExactEngine, evidence: Evidence, memory_limit: float) -> Evidence:
    r"""Turn wished marginals into the likelihoods that bring them about.

    One wish :math:`q` on :math:`X` is Jeffrey's rule, :math:`Q(y) = \sum_x q(x)\,P(y \mid x, e)`: the likelihood is
    :math:`q(x) / P(x \mid e)`. Several wishes are met in turn until all hold, which leads to the distribution nearest
    to :math:`P(\cdot \mid e)` in the sense of Kullback and Leibler (Csiszár 1975, theorem 3.2).
    """
    if not evidence.wished:
        return evidence
    ratios: dict[int, NDArray[np.float64]] = {v: np.ones(len(q)) for v, q in evidence.wished.items()}
    gap = np.inf
    for _ in range(WISH_ROUNDS):
        gap = 0.0
        for v, wished in evidence.wished.items():
            now = engine.single(v, evidence.with_likelihoods(ratios), memory_limit)
            _refuse_unreachable(engine, v, wished, now)
            gap = max(gap, float(abs(now - wished).max()))
            ratio = np.divide(wished, now, out=np.zeros_like(wished), where=now > 0)
            ratios[v] = ratios[v] * ratio
            # Wishes that exclude each other drive the ratios to 0 from round to round.
            if not ratios[v].max() > 0:
                raise _contradiction(engine, ratios, gap)
            ratios[v] /= ratios[v].max()
        if gap <= WISH_TOLERANCE or len(ratios) == 1:
            return evidence.with_likelihoods(ratios)
    raise _contradiction(engine, ratios, gap)


def _contradiction(engine: ExactEngine, wished: Iterable[int], gap: float) -> ImpossibleEvidenceError:
    names = ", ".join(engine.net.names[v] for v in wished)
    return ImpossibleEvidenceError(
        f"the wished marginals of {names} cannot all hold: fitting them in turn leaves a gap of {gap:.2g}. Wish for "
        "fewer of them, or for values that the network allows together."
    )


def _refuse_unreachable(engine: ExactEngine, v: int, wished: NDArray[np.float64], now: NDArray[np.float64]) -> None:
    out_of_reach = np.flatnonzero((wished > 0) & ~(now > 0))
    if len(out_of_reach):
        name, state = engine.net.names[v], engine.net.states[v][out_of_reach[0]]
        raise ImpossibleEvidenceError(
            f"the wished marginal gives {name}={state} probability {wished[out_of_reach[0]]:g}, but it has "
            "probability 0 given the rest; wish 0 for it."
        )
