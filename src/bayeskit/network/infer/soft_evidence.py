"""Soft evidence: Jeffrey's rule for one marginal, iterative proportional fitting for several."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, isinf, log

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.infer.evidence import Evidence
from bayeskit.network.infer.exact import ExactEngine

# The fit ends when every marginal is met within this.
MARGINAL_GAP = 1e-12
MOST_ROUNDS = 2000
# The largest number of a likelihood is about 2^TOP: the others may be 600 decades smaller and are doubles still.
TOP = 1000
# A probability below this may have lost digits.
SMALLEST = 1e-290


@dataclass(frozen=True)
class _Wide:
    """Numbers mantissa · 2^exponent with 1/2 <= mantissa < 1, or 0: quotients of any magnitude."""

    mantissa: NDArray[np.float64]
    exponent: NDArray[np.int64]

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> _Wide:
        mantissa, exponent = np.frexp(values)
        return cls(mantissa, exponent.astype(np.int64))

    @classmethod
    def exp(cls, logs: list[float]) -> _Wide:
        """Return the numbers with these logarithms."""
        whole = [0 if isinf(x) else floor(x / log(2.0)) for x in logs]
        rest = _Wide.of(np.exp([x - k * log(2.0) for x, k in zip(logs, whole, strict=True)]))
        return cls(rest.mantissa, rest.exponent + np.array(whole))

    def times(self, up: _Wide, down: _Wide) -> _Wide:
        """Return self · up / down, 0 where up is."""
        quotient = up.mantissa / np.where(down.mantissa > 0, down.mantissa, 1.0)
        product = _Wide.of(self.mantissa * quotient)
        return _Wide(product.mantissa, product.exponent + self.exponent + up.exponent - down.exponent)

    def likelihood(self) -> NDArray[np.float64]:
        """Return the numbers up to a common factor, as doubles; 0 where that is too small for one."""
        top = self.exponent[self.mantissa > 0].max()
        return np.asarray(np.ldexp(self.mantissa, np.maximum(self.exponent - top + TOP, -2000)))


def apply_soft_evidence(engine: ExactEngine, evidence: Evidence, limit: float) -> Evidence:
    r"""Turn soft evidence into the likelihoods that give the variables their marginals.

    One marginal :math:`q` of :math:`X` is Jeffrey's rule, :math:`Q(y) = \sum_x q(x)\,P(y \mid x, e)`: the likelihood
    is :math:`q(x) / P(x \mid e)`. Several are fitted in turn until all hold, which leads to the distribution nearest to
    :math:`P(\cdot \mid e)` in the sense of Kullback and Leibler (Csiszár 1975, theorem 3.2).
    """
    if not evidence.marginals:
        return evidence
    ratios = {v: _Wide.of(np.ones(len(q))) for v, q in evidence.marginals.items()}
    fitted = evidence.with_likelihoods({})
    gap = np.inf
    for turn in range(MOST_ROUNDS):
        gap = 0.0
        for v, marginal in evidence.marginals.items():
            now = engine.single(v, fitted, limit)[0]
            gap = max(gap, float(abs(now - marginal).max()))
            wide = _Wide.of(now)
            if (now[marginal > 0] < SMALLEST).any():
                wide = _by_state(engine, v, fitted, limit)
            if turn == 0:
                _refuse_unreachable(engine, v, marginal, wide.mantissa)
            ratios[v] = ratios[v].times(_Wide.of(marginal), wide)
            values = ratios[v].likelihood()
            # Marginals that exclude each other drive the ratios apart from round to round.
            if not (values[marginal > 0] > 0).all():
                raise _contradiction(engine, ratios, gap)
            fitted.likelihoods[v] = values
        if gap <= MARGINAL_GAP or len(ratios) == 1:
            return fitted
    raise _contradiction(engine, ratios, gap)


def _by_state(engine: ExactEngine, v: int, evidence: Evidence, limit: float) -> _Wide:
    """Return the probabilities of the states of a variable up to a common factor, however small they are."""
    logs = [
        engine.log_probability(Evidence({**evidence.states, v: k}, evidence.likelihoods), limit)
        for k in range(engine.net.cards[v])
    ]
    top = max(logs)
    return _Wide.exp([x - top for x in logs])


def _contradiction(engine: ExactEngine, variables: Iterable[int], gap: float) -> ImpossibleEvidenceError:
    names = ", ".join(engine.net.names[v] for v in variables)
    return ImpossibleEvidenceError(
        f"the marginals of {names} cannot all hold: fitting them in turn leaves a gap of {gap:.2g}. Give fewer of "
        "them, or values that the network allows together."
    )


def _refuse_unreachable(engine: ExactEngine, v: int, marginal: NDArray[np.float64], now: NDArray[np.float64]) -> None:
    out_of_reach = np.flatnonzero((marginal > 0) & ~(now > 0))
    if len(out_of_reach):
        name, state = engine.net.names[v], engine.net.states[v][out_of_reach[0]]
        raise ImpossibleEvidenceError(
            f"the marginal gives {name}={state} probability {marginal[out_of_reach[0]]:g}, but it has probability 0 "
            "given the rest of the evidence; give it 0."
        )
