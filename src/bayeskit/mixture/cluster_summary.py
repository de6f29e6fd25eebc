"""Clusters in words: how large each is, and in which columns it differs most from all rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.result import short

# The number of columns described for each cluster.
MOST_TOLD = 4
# A column differs where a mean is at least this many deviations off, or a value is this many times as frequent.
LEAST_DEVIATIONS = 0.3
LEAST_RATIO = 1.3


@dataclass(frozen=True)
class Column:
    """What is known of a column in each cluster: mean and deviation of numbers, or the probability of each value."""

    name: str
    mean: NDArray[np.float64] | None = None  # (k,)
    deviation: NDArray[np.float64] | None = None  # (k,)
    values: tuple[Any, ...] = ()
    table: NDArray[np.float64] | None = None  # (n_values, k)

    def difference(self, c: int, weight: NDArray[np.float64]) -> tuple[float, str] | None:
        """Return how much cluster ``c`` differs from all rows in this column, and that in words."""
        if self.table is not None:
            return self._value_difference(c, self.table @ weight)
        assert self.mean is not None
        assert self.deviation is not None
        middle = float(weight @ self.mean)
        spread = float(np.sqrt(weight @ (self.deviation**2 + (self.mean - middle) ** 2)))
        off = (float(self.mean[c]) - middle) / spread if spread > 0 else 0.0
        if abs(off) < LEAST_DEVIATIONS:
            return None
        word = "high" if off > 0 else "low"
        return abs(off), f"{self.name} {word}: {self.mean[c]:.4g} ± {self.deviation[c]:.3g} (all rows {middle:.4g})"

    def _value_difference(self, c: int, whole: NDArray[np.float64]) -> tuple[float, str] | None:
        assert self.table is not None
        share = self.table[:, c]
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(share > 0, share * np.log(share / whole), 0.0)
        v = int(gain.argmax())
        if share[v] < LEAST_RATIO * whole[v]:
            return None
        # The square root of twice the divergence is a distance in deviations where both are near.
        distance = float(np.sqrt(2 * max(gain.sum(), 0.0)))
        return distance, f"{self.name} = {short(self.values[v])}: {share[v]:.0%} (all rows {whole[v]:.0%})"


def describe_clusters(weight: NDArray[np.float64], columns: list[Column]) -> tuple[dict[str, Any], str]:
    """Return facts for JSON and the text of a summary."""
    lines, clusters = [], []
    for c, share in enumerate(weight):
        differences = sorted((differs for column in columns if (differs := column.difference(c, weight))), reverse=True)
        said = [text for _, text in differences[:MOST_TOLD]]
        lines.append(f"  cluster {c}  {share:6.1%}  " + ("; ".join(said) or "like all rows"))
        clusters.append({"cluster": c, "weight": float(share), "differs": said})
    return {"clusters": clusters}, "clusters, and where each differs most from all rows\n" + "\n".join(lines)
