"""What naive Bayes believes: class priors and one table or density per column, ready to score rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import NaiveScorer, n_threads
from bayeskit.counts.table import TableCounts
from bayeskit.errors import BayeskitError
from bayeskit.estimate.discrete import class_prior, dirichlet
from bayeskit.estimate.gaussian import VARIANCE_FLOOR, Variance, gaussian, poisson
from bayeskit.table.encode import contiguous_low
from bayeskit.table.schema import Schema

Unseen = Literal["ignore", "error", "smooth"]

# The families that the scoring kernel knows, by number.
_FAMILY = {"categorical": 0, "bernoulli": 0, "binned": 0, "gaussian": 1, "poisson": 2, "unknown": 3}


class Score(IntEnum):
    """What the scoring kernel returns for each row."""

    LOG_JOINT = 0
    LOG_POSTERIOR = 1
    POSTERIOR = 2
    CLASS = 3
    LOG_EVIDENCE = 4


@dataclass(frozen=True)
class NaiveBeliefs:
    """log P(c), and for each column log P(x_j | c): a table of its values, or the parameters of its density."""

    schema: Schema
    log_prior: NDArray[np.float64]  # (n_classes,)
    # One array a column, of shape (n_values + 2, n_classes) for a discrete one (values, then unseen, then missing),
    # (3, n_classes) for a Gaussian (−½ log 2πσ², μ, 1 / 2σ²), (2, n_classes) for a Poisson (log rate, rate).
    parameters: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        lows = [contiguous_low(variable) if variable.is_discrete else 0 for variable in self.schema]
        families = [_FAMILY[variable.kind] for variable in self.schema]
        sizes = [variable.n_values if variable.is_discrete else 0 for variable in self.schema]
        stacked = np.concatenate([*self.parameters, np.empty((0, len(self.log_prior)))])
        scorer = NaiveScorer(self.log_prior, stacked, families, [low or 0 for low in lows], sizes)
        object.__setattr__(self, "_scorer", scorer)
        # Arrays of numbers can be scored as they are when no value needs a code or a check that it is a count.
        plain = all(low is not None and v.kind != "poisson" for low, v in zip(lows, self.schema, strict=True))
        object.__setattr__(self, "in_place", plain)

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled scorer is made anew from the tables, wherever the beliefs are unpickled.
        return NaiveBeliefs, (self.schema, self.log_prior, self.parameters)

    @classmethod
    def of(
        cls,
        counts: TableCounts,
        *,
        smoothing: float = 1.0,
        prior: str | ArrayLike | dict[Any, float] = "smoothed",
        variance: Variance = "ml",
        variance_floor: float = VARIANCE_FLOOR,
        unseen: Unseen = "ignore",
        class_weight: Mapping[Any, float] | str | None = None,
    ) -> NaiveBeliefs:
        """Turn counts into beliefs.

        .. math:: P(c) = \\frac{|D_c| + λ}{N + Kλ} \\qquad
                  P(x_i \\mid c) = \\frac{|D_{c, x_i}| + λ}{|D_{c, x_i\\ known}| + S_i λ}
        """
        factor = class_factors(counts.n_class, counts.classes, class_weight)
        n_class = counts.n_class * factor
        log_prior = _log(class_prior(n_class, prior, smoothing, counts.classes))
        moments = counts.moments.scaled(factor)
        mean, var = gaussian(moments, variance, variance_floor)
        rate = poisson(moments, smoothing)
        parameters = []
        n_value, offsets = counts.values.n_value * factor, counts.values.offsets
        for j, variable in enumerate(counts.schema):
            if variable.is_discrete:
                k = counts.schema.discrete.index(j)
                parameters.append(_log_table(n_value[offsets[k] : offsets[k + 1]], smoothing, unseen))
            elif variable.kind == "gaussian":
                m, v = mean[counts.schema.numeric.index(j)], var[counts.schema.numeric.index(j)]
                parameters.append(np.stack([-0.5 * np.log(2 * np.pi * v), m, 0.5 / v]))
            elif variable.kind == "poisson":
                r = rate[counts.schema.numeric.index(j)]
                parameters.append(np.stack([_log(r), r]))
            else:
                parameters.append(np.empty((0, len(n_class))))
        return cls(counts.schema, log_prior, tuple(parameters))

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Score encoded columns, or a whole array of numbers as it is when :attr:`in_place` says so.

        Returns the scores, the first row that no class can give, and the first row with an infinite number (−1 where
        there is none). With ``fallback`` an impossible row gets the prior.
        """
        coded = not isinstance(table, np.ndarray)
        cells = table.size if isinstance(table, np.ndarray) else len(table[0]) * len(table)
        return self._scorer.score(table, coded, result, fallback, n_threads(cells))  # type: ignore[attr-defined, no-any-return]


def class_factors(
    n_class: NDArray[Any], classes: NDArray[Any], class_weight: Mapping[Any, float] | str | None
) -> NDArray[Any]:
    """Return how many times a row of each class counts; "balanced" makes the classes weigh the same."""
    if class_weight is None:
        return np.ones(len(n_class), dtype=np.int64)
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise BayeskitError(
                f"class_weight must be 'balanced', a dict of class to weight, or None; got {class_weight!r}."
            )
        even = n_class.sum() / len(n_class)
        return np.asarray(np.divide(even, n_class, out=np.ones(len(n_class)), where=n_class > 0))
    names = classes.tolist()
    strange = [name for name in class_weight if name not in names]
    if strange:
        raise BayeskitError(
            f"class_weight names the class {strange[0]!r}, which is not there; the classes are {names}."
        )
    factor = np.array([float(class_weight.get(name, 1.0)) for name in names])
    if (factor < 0).any() or not factor.any() or not np.isfinite(factor).all():
        raise BayeskitError(f"class weights must be finite, not negative and not all zero; got {dict(class_weight)}.")
    return factor


def _log(p: NDArray[np.float64]) -> NDArray[np.float64]:
    # log 0 = -inf is meant: what was never seen, without smoothing, is impossible.
    with np.errstate(divide="ignore"):
        return np.log(p)


def _log_table(n: NDArray[Any], smoothing: float, unseen: Unseen) -> NDArray[np.float64]:
    n_values, n_classes = n.shape
    table = np.zeros((n_values + 2, n_classes))
    if unseen == "smooth":
        table[:-1] = _log(dirichlet(np.vstack([n, np.zeros((1, n_classes))]), smoothing))
    else:
        table[:-2] = _log(dirichlet(n, smoothing))
    return table
