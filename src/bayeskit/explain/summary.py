"""A fitted model in words: how much it saw, what it believes of the classes, and which values tell most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.explain.show import cell, pad, width


@dataclass(frozen=True)
class FeatureSummary:
    """What is known of one feature: its kind, its values with P(value | class), and how often it was missing."""

    name: str
    kind: str
    missing_rate: float
    values: tuple[Any, ...] = ()
    table: NDArray[np.float64] | None = None  # (n_values, n_classes)
    edges: tuple[float, ...] = ()
    # For a density: its parameters by name, each of shape (n_classes,).
    parameters: dict[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """What a model tells of itself; prints as text."""

    title: str
    classes: tuple[Any, ...]
    n_rows: float
    n_class: NDArray[Any]
    prior: NDArray[np.float64]
    features: tuple[FeatureSummary, ...]

    def telling(self, number: int, most: int = 5) -> list[tuple[str, Any, float]]:
        """Return the values that speak most for a class: feature, value and weight of evidence against the rest.

        The weight is log P(v | c) / P(v | not c); values are ranked by P(v | c) times it, which is what a row of the
        class gains from them on average.
        """
        others = np.delete(np.arange(len(self.classes)), number)
        if not len(others):
            return []
        share = self.prior[others] / self.prior[others].sum() if self.prior[others].sum() > 0 else None
        ranked = []
        for feature in self.features:
            if feature.table is None:
                continue
            rest = np.average(feature.table[:, others], axis=1, weights=share)
            for value, own, other in zip(feature.values, feature.table[:, number], rest, strict=True):
                if own > other:
                    weight = float(np.log(own / other)) if other > 0 else np.inf
                    ranked.append((own * min(weight, 50.0), feature.name, value, weight))
        ranked.sort(key=lambda item: -item[0])
        return [(name, value, weight) for _, name, value, weight in ranked[:most]]

    def __str__(self) -> str:
        return "\n".join([*self._head(), *self._classes(), *self._features()])

    __repr__ = __str__

    def _head(self) -> list[str]:
        return [f"{self.title}: {self.n_rows:g} rows, {len(self.features)} features, {len(self.classes)} classes"]

    def _classes(self) -> list[str]:
        lines = ["classes, and the values that speak most for each (weight of evidence)"]
        places = max(width(str(name)) for name in self.classes)
        binned = {feature.name for feature in self.features if feature.edges}
        for number, name in enumerate(self.classes):
            line = f"  {pad(str(name), places)}  P = {self.prior[number]:.4f}  rows {self.n_class[number]:g}"
            told = ", ".join(
                f"{f} {'in' if f in binned else '='} {cell(v)} {w:+.2f}" for f, v, w in self.telling(number)
            )
            lines.append(f"{line}  {told}".rstrip())
        return lines

    def _features(self) -> list[str]:
        lines = ["features"]
        places = max(width(feature.name) for feature in self.features)
        kinds = max(len(feature.kind) for feature in self.features)
        for feature in self.features:
            line = f"  {pad(feature.name, places)}  {feature.kind:<{kinds}}  missing {feature.missing_rate:.1%}"
            lines.append(f"{line}  {self._told(feature)}".rstrip())
        return lines

    def _told(self, feature: FeatureSummary) -> str:
        if feature.edges:
            return f"{len(feature.values)} bins, edges {', '.join(f'{edge:.6g}' for edge in feature.edges)}"
        if feature.values:
            shown = ", ".join(cell(value) for value in feature.values[:8])
            return f"{len(feature.values)} values: {shown}{', …' if len(feature.values) > 8 else ''}"
        return "; ".join(
            f"{name} {', '.join(f'{c} {x:.4g}' for c, x in zip(self.classes, numbers, strict=True))}"
            for name, numbers in feature.parameters.items()
        )
