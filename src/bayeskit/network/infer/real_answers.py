"""The posterior of a real variable: a mixture of normals with its mean, quantiles and density."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.answer_tables import FrameOf, frame_of
from bayeskit.network.cpd.gaussian import is_number
from bayeskit.network.infer.answers import Posterior
from bayeskit.result import Result

Floats = NDArray[np.float64]


class RealPosterior(Result):
    r"""The distribution of a real variable given evidence, exact: :math:`\sum_d w_d\, N(m_d, s_d^2)`.

    Attributes
    ----------
    name : str
        The variable.
    weights, means, sds : float64 arrays of shape (n_components,)
        The mixture; one component where no unknown discrete variable matters.
    log_evidence : float
        log of the density of the evidence; NaN with soft evidence.

    Examples
    --------
    >>> p = RealPosterior("height", np.array([0.5, 0.5]), np.array([166.0, 179.0]), np.array([6.0, 7.0]))
    >>> p.mean, round(p.sd, 3), round(p.quantile(0.9), 3)
    (172.5, 9.206, 184.912)
    """

    def __init__(
        self, name: str, weights: Floats, means: Floats, sds: Floats, log_evidence: float = float("nan")
    ) -> None:
        used = weights > 0
        self.name, self.log_evidence = name, log_evidence
        self.weights = weights[used] / weights[used].sum()
        self.means, self.sds = means[used], sds[used]

    @property
    def mean(self) -> float:
        """The expected value."""
        return float((self.weights * self.means).sum())

    @property
    def variance(self) -> float:
        """The variance: within the components, and between them."""
        return float((self.weights * (self.sds**2 + (self.means - self.mean) ** 2)).sum())

    @property
    def sd(self) -> float:
        """The standard deviation."""
        away = self.means - self.mean
        scale = float(max(self.sds.max(), abs(away).max())) or 1.0  # squares of very large or small ones leave floats
        return scale * float(np.sqrt((self.weights * ((self.sds / scale) ** 2 + (away / scale) ** 2)).sum()))

    def density(self, x: Any) -> Floats:
        """Return the density at each number."""
        at = np.asarray(x, dtype=np.float64)
        if (self.sds == 0).any():
            raise NetworkError(f"{self.name!r} is known, so it has no density.")
        z = (at[..., None] - self.means) / self.sds
        return np.asarray((self.weights * np.exp(-0.5 * z * z) / (self.sds * np.sqrt(2.0 * np.pi))).sum(axis=-1))

    def cdf(self, x: Any) -> Floats:
        """Return the probability of at most each number."""
        from scipy.special import ndtr

        at = np.asarray(x, dtype=np.float64)[..., None]
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(self.sds > 0, (at - self.means) / self.sds, np.where(at >= self.means, np.inf, -np.inf))
        return np.asarray((self.weights * ndtr(z)).sum(axis=-1))

    def quantile(self, p: float) -> float:
        """Return the number below which the variable lies with probability p."""
        from scipy.optimize import brentq
        from scipy.special import ndtri

        if not is_number(p) or not 0.0 < p < 1.0:
            raise NetworkError(f"a quantile is asked for one probability between 0 and 1; got {p!r}.")
        each = self.means + self.sds * ndtri(p)
        low, high = float(each.min()), float(each.max())
        if high - low <= 1e-13 * max(abs(low), abs(high)):
            return low
        return float(brentq(lambda x: float(self.cdf(x)) - p, low, high, xtol=1e-300, rtol=1e-14))

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the interval between the two outer quantiles that holds this much probability."""
        return self.quantile((1.0 - level) / 2.0), self.quantile((1.0 + level) / 2.0)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per component: weight, mean and standard deviation."""
        return frame_of({"weight": self.weights, "mean": self.means, "sd": self.sds}, output)

    def __repr__(self) -> str:
        several = f"; mixture of {len(self.weights)} normals" if len(self.weights) > 1 else ""
        return f"{self.name}: mean {self.mean:.6g}, sd {self.sd:.6g}{several}"


class MixedPosteriors(Mapping[str, Posterior | RealPosterior], Result):
    """The distributions of discrete and real variables: a mapping of name to `Posterior` or `RealPosterior`.

    Attributes
    ----------
    log_evidence : float
        The logarithm of the probability (density) of the evidence; NaN with soft evidence.
    """

    def __init__(self, parts: dict[str, Posterior | RealPosterior], log_evidence: float) -> None:
        self._parts, self.log_evidence = parts, log_evidence

    def __getitem__(self, name: str) -> Posterior | RealPosterior:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __repr__(self) -> str:
        lines = []
        for name, part in self._parts.items():
            shown = "  ".join(f"{s} {p:.4g}" for s, p in part.items()) if isinstance(part, Posterior) else ""
            lines.append(f"{name}: {shown}" if shown else repr(part))
        return "\n".join(lines)
