"""The posterior of a real variable: a mixture of normals with its mean, quantiles and density."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.answer_tables import SHOWN, FrameOf, frame_of, text_table
from bayeskit.network.cpd.gaussian import is_number
from bayeskit.network.infer.answers import EXACT, MostProbable, Posterior
from bayeskit.result import Result

Floats = NDArray[np.float64]
# Ends of the pieces of an integral over a normal, in standard deviations from its mean.
_TURNS = np.concatenate([np.arange(-10.0, 10.5, 0.5), [-38.0, -28.0, -20.0, -14.0, 14.0, 20.0, 28.0, 38.0]])
_MOST_INTEGRATED = 500


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
    quality : Quality
        How it was computed.

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
        self.quality = EXACT

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

    @property
    def entropy(self) -> float:
        """The differential entropy in nats: exact for one normal, integrated to about ten digits for a mixture."""
        if (self.sds == 0).any():
            raise NetworkError(f"{self.name!r} is known, so it has no differential entropy.")
        if len(self.weights) == 1:
            return float(0.5 * np.log(2.0 * np.pi * math.e) + np.log(self.sds[0]))
        return self._integrated()

    def _integrated(self) -> float:
        """Return −∫ f ln f by Gauss-Legendre pieces that end where some component turns."""
        from scipy.special import logsumexp

        if len(self.weights) > _MOST_INTEGRATED:
            raise NetworkError(
                f"{self.name!r} is a mixture of {len(self.weights)} normals; the entropy of at most {_MOST_INTEGRATED} "
                "is integrated. Give some of the discrete variables as evidence."
            )
        ends = np.unique((self.means[:, None] + self.sds[:, None] * _TURNS).ravel())
        unit, share = np.polynomial.legendre.leggauss(20)
        log_weights, total = np.log(self.weights) - np.log(self.sds) - 0.5 * np.log(2.0 * np.pi), 0.0
        for at in range(0, len(ends) - 1, 256):
            left, right = ends[:-1][at : at + 256], ends[1:][at : at + 256]
            half = 0.5 * (right - left)[:, None]
            x = (left[:, None] + half * (unit + 1.0)).ravel()
            away = (x[:, None] - self.means) / self.sds
            log_density = logsumexp(log_weights - 0.5 * away * away, axis=1)
            total -= float(((half * share).ravel() * np.exp(log_density) * log_density).sum())
        return total

    def plot(self, ax: Any = None, *, level: float = 0.9) -> Any:
        """Draw the density, with the interval that holds this much probability shaded; return the Axes."""
        from bayeskit.plot.density_curve import density_curve

        if (self.sds == 0).all() and len(self.means) == 1:
            raise NetworkError(f"{self.name!r} is known, so it has no density to draw.")
        low, high = self.quantile(0.0005), self.quantile(0.9995)
        x = np.linspace(low, high, 401)
        return density_curve(x, self.density(x), self.name, shaded=self.interval(level), ax=ax)

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per component: weight, mean and standard deviation."""
        return frame_of({"weight": self.weights, "mean": self.means, "sd": self.sds}, output)

    def __repr__(self) -> str:
        several = f"; mixture of {len(self.weights)} normals" if len(self.weights) > 1 else ""
        return f"{self.name}: mean {self.mean:.6g}, sd {self.sd:.6g}{several}"


class MostProbableMixed(MostProbable):
    """The states and numbers at which the joint density is highest: a mapping of name to state or number.

    Attributes
    ----------
    log_joint : float
        log of the density of these states and numbers together with the evidence.
    log_density : float
        log of the density of these states and numbers given the evidence; it may be above 0.
    """

    def __init__(self, answer: dict[str, Any], log_joint: float, log_evidence: float) -> None:
        super().__init__(answer, log_joint, log_evidence)
        self.log_density, self.probability = log_joint - log_evidence, float("nan")

    def __repr__(self) -> str:
        values: dict[str, Any] = dict(self)
        rows = [(name, value if isinstance(value, str) else f"{value:.6g}") for name, value in values.items()]
        return text_table(("variable", "value"), rows[:SHOWN], len(rows)) + f"\nlog density {self.log_density:.6g}"


class RealJoint(Result):
    r"""The joint distribution of several real variables given evidence, exact: :math:`\sum_d w_d\, N(m_d, Σ_d)`.

    Attributes
    ----------
    names : tuple of str
        The variables.
    weights : float64 array of shape (n_components,)
    means : float64 array of shape (n_components, n_variables)
    roots : float64 array of shape (n_components, n_variables, n_variables)
        R with :math:`R^\top R = Σ`, upper triangular.
    log_evidence : float
        log of the density of the evidence; NaN with soft evidence.
    """

    def __init__(
        self, names: tuple[str, ...], weights: Floats, means: Floats, roots: Floats, log_evidence: float
    ) -> None:
        used = weights > 0
        self.names, self.log_evidence = names, log_evidence
        self.weights = weights[used] / weights[used].sum()
        self.means, self.roots = means[used], roots[used]

    @property
    def covariances(self) -> Floats:
        """The covariance matrix of each component."""
        return np.asarray(self.roots.transpose(0, 2, 1) @ self.roots)

    @property
    def mean(self) -> Floats:
        """The expected values."""
        return np.asarray(self.weights @ self.means)

    @property
    def covariance(self) -> Floats:
        """The covariance matrix: within the components, and between them."""
        away = self.means - self.mean
        between = np.einsum("d,di,dj->ij", self.weights, away, away)
        return np.asarray(np.einsum("d,dij->ij", self.weights, self.covariances) + between)

    @property
    def correlation(self) -> Floats:
        """The correlation matrix."""
        covariance = self.covariance
        sd = np.sqrt(np.diagonal(covariance))
        return np.asarray(covariance / np.outer(sd, sd))

    def density(self, x: Any) -> Floats:
        """Return the density at each point, an array of shape (…, n_variables)."""
        at = np.asarray(x, dtype=np.float64)
        if at.shape[-1:] != (len(self.names),):
            raise NetworkError(f"a point has {len(self.names)} numbers, one for each of {list(self.names)}.")
        away = at[..., None, :] - self.means
        z = np.zeros(away.shape)
        for k in range(len(self.names)):
            z[..., k] = (away[..., k] - (self.roots[:, :k, k] * z[..., :k]).sum(axis=-1)) / self.roots[:, k, k]
        scale = np.prod(abs(np.diagonal(self.roots, axis1=1, axis2=2)) * np.sqrt(2.0 * np.pi), axis=1)
        return np.asarray((self.weights * np.exp(-0.5 * (z * z).sum(axis=-1)) / scale).sum(axis=-1))

    @property
    def entropy(self) -> float:
        """The differential entropy in nats; refused for a mixture, which has no closed form."""
        if len(self.weights) > 1:
            raise NetworkError(
                f"the joint distribution of {list(self.names)} is a mixture of {len(self.weights)} normals, whose "
                "entropy has no closed form; give the discrete variables above as evidence, or ask for one variable."
            )
        logs = np.log(abs(np.diagonal(self.roots[0])))
        return float(logs.sum() + 0.5 * len(self.names) * np.log(2.0 * np.pi * math.e))

    def to_frame(self, output: FrameOf = "pandas") -> Any:
        """Return a frame with a row per variable: its mean, standard deviation and correlations."""
        sd = np.sqrt(np.diagonal(self.covariance))
        columns: dict[str, Any] = {"variable": list(self.names), "mean": self.mean, "sd": sd}
        return frame_of(columns | {name: self.correlation[:, k] for k, name in enumerate(self.names)}, output)

    def __repr__(self) -> str:
        sd = np.sqrt(np.diagonal(self.covariance))
        lines = [f"{name}: mean {m:.6g}, sd {s:.6g}" for name, m, s in zip(self.names, self.mean, sd, strict=True)]
        several = f"mixture of {len(self.weights)} normals" if len(self.weights) > 1 else "one normal"
        return "\n".join([*lines, several])


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
