"""How a check lists itself, and words that several checks need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from bayeskit.table.problem import Problem

if TYPE_CHECKING:
    from bayeskit.table.problems.examined import Examined

Check = Callable[["Examined"], Iterable[Problem]]

# Code of a problem → its check; a file of this folder lists its own.
CHECKS: dict[str, Check] = {}


def check(code: str) -> Callable[[Check], Check]:
    """List a function as the check for problems of this code."""

    def listed(function: Check) -> Check:
        CHECKS[code] = function
        return function

    return listed


def ignoring(columns: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the options that leave columns out."""
    return tuple(("ignore", name) for name in columns)
