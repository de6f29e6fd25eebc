"""Evidence that is possible but surprising together: the conflict measure of Jensen et al. (1991)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bayeskit.errors import NetworkError
from bayeskit.network.infer.evidence import Evidence, describe, read_evidence
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit.network.network import BayesianNetwork


@dataclass(frozen=True)
class Conflict(Result):
    r"""How far the pieces of evidence contradict each other.

    Attributes
    ----------
    value : float
        :math:`\log (\prod_i P(e_i) / P(e))`. Above 0 the pieces are rarer together than if they were independent: they
        come from an unusual case, or one of them is wrong.
    pieces : dict of variable to float
        :math:`\log (P(e_i) / P(e_i \mid \text{the others}))` of each piece, the largest first.
    words : dict of variable to str
        Each piece as text.
    log_evidence : float
        log P(e).
    """

    value: float
    pieces: dict[str, float]
    words: dict[str, str]
    log_evidence: float

    def __bool__(self) -> bool:
        return self.value > 0

    def __repr__(self) -> str:
        verdict = "the evidence is in conflict" if self else "no conflict"
        return f"{verdict}: log(∏ P(e_i) / P(e)) = {self.value:.6g}"


def evidence_conflict(net: BayesianNetwork, given: Mapping[str, Any], limit: float) -> Conflict:
    """Return the conflict of the evidence, as a whole and piece by piece."""
    evidence = read_evidence(net, given)
    if evidence.marginals:
        raise NetworkError("conflict takes states, sets of states and likelihoods as evidence, not a Marginal.")
    pieces = [*evidence.states, *evidence.likelihoods]
    if not pieces:
        return Conflict(0.0, {}, {}, 0.0)
    engine = net._engine
    whole = engine.log_evidence(evidence, limit)
    alone = {v: engine.log_evidence(_with(evidence, {v}), limit) for v in pieces}
    words = {net.names[v]: describe(net, evidence, v) for v in pieces}
    if len(pieces) == 1:
        return Conflict(0.0, dict.fromkeys(words, 0.0), words, whole)
    rest = {v: engine.log_evidence(_with(evidence, set(pieces) - {v}), limit) for v in pieces}
    by_piece = {net.names[v]: alone[v] - (whole - rest[v]) for v in pieces}
    ordered = dict(sorted(by_piece.items(), key=lambda item: -item[1]))
    return Conflict(sum(alone.values()) - whole, ordered, words, whole)


def _with(evidence: Evidence, pieces: set[int]) -> Evidence:
    return Evidence(
        {v: state for v, state in evidence.states.items() if v in pieces},
        {v: values for v, values in evidence.likelihoods.items() if v in pieces},
    )
