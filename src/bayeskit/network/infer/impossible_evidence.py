"""Impossible evidence: which pieces of it cannot be true together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from bayeskit.errors import ImpossibleEvidenceError
from bayeskit.network.infer.evidence import Evidence, describe
from bayeskit.network.infer.tree_size import fits

if TYPE_CHECKING:
    from bayeskit.network.infer.exact import ExactEngine

# Estimated nanoseconds that the search for the conflict may take. Where it needs more, all of the evidence is named.
CONFLICT_BUDGET = 2e9
# A plan costs about this many nanoseconds a variable, and a little more for each cell, up to the most that is searched.
PLAN_PER_VARIABLE = 5e3
PLAN_PER_CELL, MOST_PLANNED_CELLS = 3.0, 1e8
# Pieces in an error message; the rest is counted.
SHOWN = 20


class _OverBudgetError(Exception):
    """The conflict needs more work than its search may take."""


def refuse_impossible(engine: ExactEngine, evidence: Evidence, limit: float) -> NoReturn:
    """Raise the error that names a smallest impossible part of the evidence: without any one piece it is possible."""
    pieces = [*evidence.states, *evidence.likelihoods]
    try:
        needed = _Search(engine, evidence, limit).conflict(pieces)
        advice = "leave one of them out"
    except _OverBudgetError:
        needed = pieces
        advice = "which of them exclude each other was not searched, since that would take long"
    words = [describe(engine.net, evidence, v) for v in needed[:SHOWN]]
    if len(needed) > SHOWN:
        words.append(f"{len(needed) - SHOWN} more")
    if len(words) == 1:
        raise ImpossibleEvidenceError(f"the evidence is impossible: {words[0]} has probability 0 under this network.")
    raise ImpossibleEvidenceError(
        f"the evidence is impossible: {', '.join(words[:-1])} and {words[-1]} cannot hold together under this network; "
        f"{advice}."
    )


class _Search:
    """A smallest conflict by halves: about 2 k log2(n / k) questions for k of n pieces (Junker 2004, QuickXplain)."""

    def __init__(self, engine: ExactEngine, evidence: Evidence, limit: float) -> None:
        self.engine, self.evidence, self.limit = engine, evidence, limit
        self.left = CONFLICT_BUDGET

    def conflict(self, pieces: list[int]) -> list[int]:
        """Return the pieces of one smallest conflict, in their order; later pieces are kept before earlier ones."""
        needed = set(self._among([], pieces[::-1], fresh=False))
        return [piece for piece in pieces if piece in needed]

    def _among(self, kept: list[int], pieces: list[int], *, fresh: bool) -> list[int]:
        """Return the part of ``pieces`` that a conflict needs besides ``kept``; ``fresh``: ``kept`` has grown."""
        if fresh and not self.is_possible(kept):
            return []
        if len(pieces) == 1:
            return pieces
        half = len(pieces) // 2
        first, second = pieces[:half], pieces[half:]
        of_second = self._among(kept + first, second, fresh=True)
        of_first = self._among(kept + of_second, first, fresh=bool(of_second))
        return of_first + of_second

    def is_possible(self, pieces: list[int]) -> bool:
        """Return whether some pieces of the evidence can hold together, within the memory and the remaining budget."""
        engine, part = self.engine, self.evidence.only(pieces)
        self._spend(PLAN_PER_VARIABLE * len(engine.net.names))
        hard, _, soft, _ = engine.factored.evidence(part).arguments()
        plan = engine.native.joint([], hard, soft, True)
        if not fits(plan, self.limit, n_bytes=16):
            raise _OverBudgetError
        self._spend(plan.cost + PLAN_PER_CELL * min(plan.entries, MOST_PLANNED_CELLS))
        return engine.run(plan, plan.joint, part, self.limit)[0] is not None

    def _spend(self, cost: float) -> None:
        self.left -= cost
        if self.left < 0:
            raise _OverBudgetError
