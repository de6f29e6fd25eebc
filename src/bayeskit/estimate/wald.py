"""Inference for coefficients: standard errors, Wald tests, odds ratios with intervals, as a printable table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from bayeskit.result import Result

Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class ChiSquared(Result):
    """A test: its statistic, its degrees of freedom, and the probability of a statistic as large by chance."""

    statistic: float
    df: int

    @property
    def p_value(self) -> float:
        """P(χ² ≥ statistic) under the null hypothesis."""
        return float(stats.chi2.sf(self.statistic, self.df)) if self.df else 1.0

    def __repr__(self) -> str:
        return f"χ² = {self.statistic:.6g}, df {self.df}, p = {self.p_value:.4g}"


@dataclass(frozen=True, repr=False)
class CoefficientTable(Result):
    """Log-odds of each class against the reference, with standard errors; prints as text.

    All arrays have one row per input, the intercept first, and one column per class other than the reference.
    """

    inputs: tuple[str, ...]
    classes: tuple[Any, ...]
    reference: Any
    log_odds: Matrix
    standard_error: Matrix
    level: float

    @property
    def z(self) -> Matrix:
        """Log-odds over standard error: Wald's statistic."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.log_odds / self.standard_error)

    @property
    def p_value(self) -> Matrix:
        """The two-sided probability of a z as large by chance."""
        return np.asarray(2.0 * stats.norm.sf(np.abs(self.z)))

    @property
    def odds_ratio(self) -> Matrix:
        """The factor by which the odds of the class against the reference grow when the input increases by 1."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_odds)

    @property
    def interval(self) -> Matrix:
        """Lower and upper end of each odds ratio, (2, n_inputs, n_classes): exp(b ∓ z se)."""
        half = stats.norm.ppf(0.5 + self.level / 2) * self.standard_error
        with np.errstate(over="ignore"):
            return np.exp(np.stack([self.log_odds - half, self.log_odds + half]))

    def to_json(self) -> dict[str, Any]:
        """Return the table as plain values; what is not finite is None."""
        names = ("log_odds", "standard_error", "z", "p_value", "odds_ratio")
        columns = {name: np.asarray(getattr(self, name)) for name in names}
        columns |= {"low": self.interval[0], "high": self.interval[1]}

        def plain(number: float) -> float | None:
            return float(number) if np.isfinite(number) else None

        return {
            "reference": self.reference,
            "level": self.level,
            "classes": {
                str(label): {
                    name: {key: plain(column[j, k]) for key, column in columns.items()}
                    for j, name in enumerate(self.inputs)
                }
                for k, label in enumerate(self.classes)
            },
        }

    def __repr__(self) -> str:
        heads = ("log-odds", "std. error", "z", "p", "odds ratio", f"{self.level:.0%} from", "to")
        width = max(len(name) for name in (*self.inputs, ""))
        low, high = self.interval
        lines = []
        for k, label in enumerate(self.classes):
            lines.append(f"{label} against {self.reference}")
            lines.append("  " + " " * width + "".join(f"{head:>12}" for head in heads))
            for j, name in enumerate(self.inputs):
                columns = (self.log_odds, self.standard_error, self.z, self.p_value, self.odds_ratio, low, high)
                lines.append(f"  {name:<{width}}" + "".join(f"{column[j, k]:>12.5g}" for column in columns))
        return "\n".join(lines)

    __str__ = __repr__


def wald_test(log_odds: Matrix, covariance: Matrix, places: Sequence[int]) -> ChiSquared:
    """Test that some coefficients are all 0: b' V⁻¹ b, with as many degrees of freedom as V has rank."""
    b, part = log_odds.ravel()[list(places)], covariance[np.ix_(places, places)]
    rank = int(np.linalg.matrix_rank(part, hermitian=True)) if len(b) else 0
    return ChiSquared(float(b @ np.linalg.pinv(part, hermitian=True) @ b) if len(b) else 0.0, rank)
