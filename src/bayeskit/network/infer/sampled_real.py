"""The posterior of a real variable as weighted samples, where it has no exact form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.answer_tables import FrameOf, frame_of
from bayeskit.network.cpd.gaussian import is_number
from bayeskit.network.infer.answers import Quality
from bayeskit.network.infer.real_answers import RealPosterior

Floats = NDArray[np.float64]
# Bins of the density, which is smoothed over them.
_BINS = 512


class SampledReal(RealPosterior):
    """The distribution of a real variable given evidence, by sampling.

    Attributes
    ----------
    name : str
        The variable.
    weights, means : float64 arrays of shape (n_samples,)
        The samples, and the share that each has.
    standard_error : float
        Of the mean.
    quality : Quality
        How it was computed.

    Examples
    --------
    >>> p = SampledReal("x", np.ones(4), np.array([1.0, 2.0, 3.0, 4.0]), Quality("weighting", 4, 4.0))
    >>> p.mean, p.quantile(0.5), round(p.standard_error, 3)
    (2.5, 2.0, 0.559)
    """

    def __init__(self, name: str, weights: Floats, numbers: Floats, quality: Quality) -> None:
        super().__init__(name, weights, numbers, np.zeros(len(numbers)))
        order = np.argsort(self.means, kind="stable")
        self.weights, self.means, self.sds = self.weights[order], self.means[order], self.sds[order]
        self._below = np.cumsum(self.weights)
        self.quality = quality

    @property
    def standard_error(self) -> float:
        """The standard error of the mean."""
        return float(np.sqrt((self.weights**2 * (self.means - self.mean) ** 2).sum()))

    def cdf(self, x: Any) -> Floats:
        """Return the share of at most each number."""
        at = np.searchsorted(self.means, np.asarray(x, dtype=np.float64), side="right")
        return np.asarray(np.concatenate([[0.0], self._below])[at])

    def quantile(self, p: float) -> float:
        """Return the number below which the variable lies with probability p."""
        if not is_number(p) or not 0.0 < p < 1.0:
            raise NetworkError(f"a quantile is asked for one probability between 0 and 1; got {p!r}.")
        return float(self.means[min(int(np.searchsorted(self._below, p - 1e-12)), len(self.means) - 1)])

    def density(self, x: Any) -> Floats:
        """Return the density at each number, smoothed by a normal kernel of Silverman's width."""
        low, high = self.quantile(0.25), self.quantile(0.75)
        spread = min(self.sd, (high - low) / 1.349) if high > low else self.sd
        width = 0.9 * spread * self.quality.effective_samples**-0.2
        edges = np.linspace(self.means[0] - 4 * width, self.means[-1] + 4 * width, _BINS + 1)
        share, _ = np.histogram(self.means, bins=edges, weights=self.weights)
        width = max(width, float(edges[1] - edges[0]))
        at, middle = np.asarray(x, dtype=np.float64)[..., None], 0.5 * (edges[1:] + edges[:-1])
        z = (at - middle) / width
        return np.asarray((share * np.exp(-0.5 * z * z)).sum(axis=-1) / (width * np.sqrt(2.0 * np.pi)))

    @property
    def entropy(self) -> float:
        """Refuse: samples have no density."""
        raise NetworkError(f"{self.name!r} was sampled, so its entropy is not known exactly.")

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per sample: weight and number."""
        return frame_of({"weight": self.weights, self.name: self.means}, output)

    def __repr__(self) -> str:
        return f"{self.name}: mean {self.mean:.6g} ± {self.standard_error:.2g}, sd {self.sd:.6g} ({self.quality})"
