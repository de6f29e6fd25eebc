"""The size of exact tables, known before any is made, and the error for those that do not fit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from math import isfinite, log2, log10
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from bayeskit.errors import TooLargeError
from bayeskit.result import Result

if TYPE_CHECKING:
    from bayeskit._kernels import InferencePlan

P = ParamSpec("P")
R = TypeVar("R")
# Names of the largest clique in an error; the rest is counted.
SHOWN = 12


@dataclass(frozen=True)
class TreeSize(Result):
    """How large the tables of an exact answer are.

    Attributes
    ----------
    cells, log2_cells : float
        Of all cliques together, and the logarithm: a count beyond 1e308 is infinite, its logarithm is not.
    largest_clique : tuple of str
        The variables of the largest one.
    largest_cells, log2_largest_cells : float
        Its cells.
    stored_bytes : float
        The bytes in memory at once, which ``max_memory`` bounds: the messages between cliques, and the cliques
        themselves where they are few enough to be kept.
    """

    cells: float
    log2_cells: float
    largest_clique: tuple[str, ...]
    largest_cells: float
    log2_largest_cells: float
    stored_bytes: float

    @classmethod
    def of(cls, names: Sequence[str], plan: InferencePlan) -> TreeSize:
        """Return the size of a plan's tables, over variables of these names."""
        largest = tuple(names[v] for v in plan.largest_vars)
        return cls(plan.entries, plan.log2_entries, largest, plan.largest, plan.log2_largest, 8.0 * plan.stored)

    @property
    def n_bytes(self) -> float:
        """Eight bytes per cell."""
        return 8.0 * self.cells

    def __repr__(self) -> str:
        return (
            f"{_count(self.cells, self.log2_cells, 6)} cells ({_bytes(self.n_bytes, 3.0 + self.log2_cells)}); the "
            f"largest clique has {_count(self.largest_cells, self.log2_largest_cells, 6)} cells over "
            f"{len(self.largest_clique)} variables"
        )


class LargeTablesError(TooLargeError):
    """Tables that do not fit; the question that needs them adds what would do in its place."""

    def __init__(self, needs: str, advice: str = "") -> None:
        super().__init__(f"{needs} {advice}".rstrip())
        self.needs = needs


def advise(advice: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Add to the refusal of a question what would do in its place: each question has other ways."""

    def advised(ask: Callable[P, R]) -> Callable[P, R]:
        @wraps(ask)
        def asked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                return ask(*args, **kwargs)
            except LargeTablesError as error:
                raise LargeTablesError(error.needs, advice) from None

        return asked

    return advised


def fits(plan: InferencePlan, limit: float, n_bytes: int = 8) -> bool:
    """Return whether what a plan stores takes at most ``limit`` bytes."""
    return n_bytes * plan.stored <= limit  # infinite for a tree that is too large to plan


def refuse_large(names: Sequence[str], plan: InferencePlan, limit: float, n_bytes: int = 8) -> None:
    """Refuse a plan whose tables do not fit, before any of them is made."""
    if fits(plan, limit, n_bytes):
        return
    size = TreeSize.of(names, plan)
    members = size.largest_clique
    shown = ", ".join(members[:SHOWN]) + (f" and {len(members) - SHOWN} more" if len(members) > SHOWN else "")
    stored = n_bytes * plan.stored
    if isfinite(stored):
        needs = f"needs {_bytes(stored, log2(stored))} of memory, over the limit of {_bytes(limit, 0.0)}"
    else:
        needs = (
            f"goes through {_count(size.cells, size.log2_cells, 3)} cells, more than 2^40 ("
            f"{_bytes(size.n_bytes, 3.0 + size.log2_cells)})"
        )
    largest = _count(size.largest_cells, size.log2_largest_cells, 3)
    # More memory helps only where there can be enough of it.
    advice = " Pass a larger max_memory." if isfinite(stored) else ""
    raise LargeTablesError(
        f"the exact answer {needs}; the largest clique has {largest} cells over {len(members)} variables: {shown}."
        f"{advice}"
    )


def _count(n: float, log2_n: float, digits: int) -> str:
    if isfinite(n):
        return f"{n:.{digits}g}"
    exponent, fraction = divmod(log2_n * log10(2.0), 1.0)
    return f"{10.0**fraction:.3g}e+{exponent:.0f}"


def _bytes(n: float, log2_n: float) -> str:
    if not isfinite(n):
        return f"{_count(n, log2_n, 3)} B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if n < 1024:
            return f"{n:.3g} {unit}"
        n /= 1024
    return f"{n:.3g} PiB"
