"""Evidence that is possible but surprising together: the conflict measure of Jensen et al. (1991)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from bayeskit.counts.memory import Memory
from bayeskit.defaults import MAX_MEMORY
from bayeskit.network.infer.evidence import describe, read_hard_evidence
from bayeskit.network.infer.exact import memory_in_bytes
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


class ConflictQueries:
    """Whether evidence is surprising together; mixed into `BayesianNetwork`."""

    def conflict(self, given: Mapping[str, Any] | None = None, *, max_memory: Memory = MAX_MEMORY) -> Conflict:
        r"""Return whether pieces of evidence are rarer together than apart: :math:`\log (\prod_i P(e_i) / P(e)) > 0`.

        Examples
        --------
        >>> from bayeskit import BayesianNetwork
        >>> net = BayesianNetwork("rain->wet", tables={"rain": [0.8, 0.2], "wet": [[0.9, 0.1], [0.1, 0.9]]})
        >>> net.conflict({"rain": "yes", "wet": "no"})
        the evidence is in conflict: log(∏ P(e_i) / P(e)) = 2.00148
        """
        net, limit = cast("BayesianNetwork", self), memory_in_bytes(max_memory)
        evidence, engine = read_hard_evidence(net, given, "conflict"), net._engine
        pieces = [*evidence.states, *evidence.likelihoods]
        if not pieces:
            return Conflict(0.0, {}, {}, 0.0)
        whole = engine.log_evidence(evidence, limit)
        alone = {v: engine.log_evidence(evidence.only({v}), limit) for v in pieces}
        words = {net.names[v]: describe(net, evidence, v) for v in pieces}
        if len(pieces) == 1:
            return Conflict(0.0, dict.fromkeys(words, 0.0), words, whole)
        rest = {v: engine.log_evidence(evidence.only({*pieces} - {v}), limit) for v in pieces}
        by_piece = {net.names[v]: alone[v] - (whole - rest[v]) for v in pieces}
        ordered = dict(sorted(by_piece.items(), key=lambda item: -item[1]))
        return Conflict(sum(alone.values()) - whole, ordered, words, whole)
