"""Why a conjunction does or does not cover a row, attribute by attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeskit.concept.attributes import Codes
from bayeskit.concept.conjunctions import Conjunction
from bayeskit.result import Result, pad, short, text_width


@dataclass(frozen=True, repr=False)
class ConstraintCheck(Result):
    """One attribute of a row: the constraint, the value, and whether the value satisfies the constraint."""

    name: str
    asks: str
    value: Any
    holds: bool


@dataclass(frozen=True, repr=False)
class CoverageExplanation(Result):
    """The label that a hypothesis gives a row, with the constraint of every attribute; prints as text.

    Attributes
    ----------
    label
        The predicted label.
    hypothesis : Conjunction
        The hypothesis that was applied.
    checks : tuple of ConstraintCheck
        One for each attribute.
    note : str
        Further information, such as the result of a vote.
    """

    label: Any
    hypothesis: Conjunction
    checks: tuple[ConstraintCheck, ...]
    note: str = ""

    @property
    def broken(self) -> tuple[str, ...]:
        """The attributes whose constraint the row does not satisfy."""
        return tuple(check.name for check in self.checks if not check.holds)

    def __repr__(self) -> str:
        names = max(text_width(check.name) for check in self.checks)
        values = max(text_width(short(check.value)) for check in self.checks)
        asks = max(text_width(check.asks) for check in self.checks)
        head = f"{self.label}: {self.hypothesis} {'does not cover' if self.broken else 'covers'} the row"
        lines = [
            f"  {pad(check.name, names)}  {pad(short(check.value), values)}  asks {pad(check.asks, asks)}  "
            f"{'met' if check.holds else 'NOT met'}"
            for check in self.checks
        ]
        return "\n".join([head, *lines, *([self.note] if self.note else [])])

    __str__ = __repr__


def explain_coverage(
    label: Any, hypothesis: Conjunction, cells: Codes, row: dict[str, Any], note: str = ""
) -> CoverageExplanation:
    """Explain whether a hypothesis covers one row, given as codes and as plain values."""
    parts = zip(
        hypothesis.space.names, hypothesis.space.parts, hypothesis.constraints, hypothesis.labels, cells, strict=True
    )
    checks = tuple(
        ConstraintCheck(
            name,
            asks,
            "missing" if row[name] is None else row[name],
            not hypothesis.is_empty and bool(part.covers(np.int64(constraint), code)),
        )
        for name, part, constraint, asks, code in parts
    )
    return CoverageExplanation(label, hypothesis, checks, note)
