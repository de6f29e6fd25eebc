"""A summary of a model: a title, a few facts, and the model as text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.language import translated
from bayeskit.result import Result, pad, text_width


@dataclass(frozen=True)
class ModelSummary(Result):
    """A summary of a fitted model; prints as text, and ``to_json`` gives the facts as plain values."""

    title: str
    facts: Mapping[str, Any]
    body: str

    def __str__(self) -> str:
        return translated(f"{self.title}\n{self.body}")

    __repr__ = __str__

    def to_json(self) -> dict[str, Any]:
        """Return title and facts for a JSON file."""
        return {"model": self.title.split(":")[0], **self.facts}


def listed(names: tuple[str, ...], numbers: NDArray[np.float64], heads: tuple[str, ...]) -> str:
    """Return a table of numbers, one line per name: (n_names, n_heads)."""
    places = max([text_width(name) for name in names] + [1])
    columns = [max(12, text_width(head)) for head in heads]
    lines = ["  ".join([" " * places, *(f"{head:>{n}}" for head, n in zip(heads, columns, strict=True))])]
    for name, row in zip(names, numbers, strict=True):
        lines.append("  ".join([pad(name, places), *(f"{x:>{n}.6g}" for x, n in zip(row, columns, strict=True))]))
    return "\n".join(f"  {line}".rstrip() for line in lines)
