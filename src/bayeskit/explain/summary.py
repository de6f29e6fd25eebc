"""A summary of a fitted model: rows, class priors, columns, and the values that support each class most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.language import label, translated
from bayeskit.result import Result, pad, short, text_width

# More features than this are counted instead of printed; the attribute `features` holds them all.
MOST_FEATURES = 40


@dataclass(frozen=True, repr=False)
class FeatureSummary(Result):
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
class Summary(Result):
    """A summary of a fitted model; prints as text."""

    title: str
    classes: tuple[Any, ...]
    n_rows: float
    n_class: NDArray[Any]
    prior: NDArray[np.float64]
    features: tuple[FeatureSummary, ...]
    notes: tuple[str, ...] = ()

    def top_values(self, number: int, most: int = 5) -> list[tuple[str, Any, float]]:
        """Return the values that support a class most: feature, value and weight of evidence against the rest.

        The weight is log P(v | c) / P(v | not c); values are ranked by P(v | c) times it, their average contribution
        in a row of the class.
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
            for value, p, other in zip(feature.values, feature.table[:, number], rest, strict=True):
                if p > other:
                    weight = float(np.log(p / other)) if other > 0 else np.inf
                    ranked.append((p * min(weight, 50.0), feature.name, value, weight))
        ranked.sort(key=lambda item: -item[0])
        return [(name, value, weight) for _, name, value, weight in ranked[:most]]

    def __str__(self) -> str:
        return "\n".join(
            [*map(translated, self._head()), *self._classes(), *self._features(), *map(translated, self.notes)]
        )

    __repr__ = __str__

    def _head(self) -> list[str]:
        sizes = ((self.n_rows, "row"), (len(self.features), "feature"), (len(self.classes), "class"))
        return [f"{self.title}: " + ", ".join(translated(_counted(n, noun)) for n, noun in sizes)]

    def _classes(self) -> list[str]:
        lines = [translated("classes, and the values that support each most (weight of evidence)")]
        places = max(text_width(str(name)) for name in self.classes)
        binned = {feature.name for feature in self.features if feature.edges}
        sign = dict.fromkeys(binned, "in") | {each.name: "has" for each in self.features if each.kind == "text"}
        for number, name in enumerate(self.classes):
            line = f"  {pad(str(name), places)}  P = {self.prior[number]:.4f}  {label('rows')} {self.n_class[number]:g}"
            told = ", ".join(f"{f} {sign.get(f, '=')} {short(v)} {w:+.2f}" for f, v, w in self.top_values(number))
            lines.append(f"{line}  {told}".rstrip())
        return lines

    def _features(self) -> list[str]:
        lines = [label("features")]
        shown = self.features[:MOST_FEATURES]
        places = max(text_width(feature.name) for feature in shown)
        kinds = max(text_width(label(feature.kind)) for feature in shown)
        for feature in shown:
            missing = f"{label('missing')} {feature.missing_rate:.1%}"
            line = f"  {pad(feature.name, places)}  {pad(label(feature.kind), kinds)}  {missing}"
            lines.append(f"{line}  {self._described(feature)}".rstrip())
        more = len(self.features) - len(shown)
        return [*lines, translated(f"  and {more} more")] if more else lines

    def _described(self, feature: FeatureSummary) -> str:
        if feature.edges:
            edges = ", ".join(f"{edge:.6g}" for edge in feature.edges)
            return f"{translated(_counted(len(feature.values), 'bin'))}, {label('edges')} {edges}"
        if feature.kind == "text":
            words = ", ".join(feature.values[:8]) + ", …" * (len(feature.values) > 8)
            return translated(f"telling words: {words}")
        if feature.values:
            shown = ", ".join(short(value) for value in feature.values[:8]) + ", …" * (len(feature.values) > 8)
            return f"{translated(_counted(len(feature.values), 'value'))}: {shown}"
        return "; ".join(
            f"{name} {', '.join(f'{c} {x:.4g}' for c, x in zip(self.classes, numbers, strict=True))}"
            for name, numbers in feature.parameters.items()
        )


def _counted(n: float, noun: str) -> str:
    return f"{n:g} {noun}" if n == 1 else f"{n:g} {noun}{'es' if noun.endswith('s') else 's'}"
