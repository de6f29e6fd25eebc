"""Impossible evidence: which pieces of it cannot be true together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.infer.evidence import Evidence, describe

if TYPE_CHECKING:
    from bayeskit.network.infer.exact import ExactEngine

# Each piece costs one more propagation.
SEARCHED_PIECES = 200


def refuse_impossible(engine: ExactEngine, evidence: Evidence) -> NoReturn:
    """Raise the error that names an impossible part of the evidence; less any piece of it, it is possible."""
    pieces = [*evidence.states, *evidence.likelihoods]
    if len(pieces) > SEARCHED_PIECES:
        raise ImpossibleEvidenceError(f"the evidence on {len(pieces)} variables has probability 0 under this network.")
    needed = list(pieces)
    for piece in pieces:
        rest = [v for v in needed if v != piece]
        if not engine.is_possible(_only(evidence, rest)):
            needed = rest
    words = [describe(engine.net, evidence, v) for v in needed]
    if len(words) == 1:
        raise ImpossibleEvidenceError(f"the evidence is impossible: {words[0]} has probability 0 under this network.")
    raise ImpossibleEvidenceError(
        f"the evidence is impossible: {', '.join(words[:-1])} and {words[-1]} cannot hold together under this network; "
        "leave one of them out."
    )


def _only(evidence: Evidence, pieces: list[int]) -> Evidence:
    kept = set(pieces)
    return Evidence(
        {v: state for v, state in evidence.states.items() if v in kept},
        {v: values for v, values in evidence.likelihoods.items() if v in kept},
    )
