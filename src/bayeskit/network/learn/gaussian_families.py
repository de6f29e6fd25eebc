"""Scores of families with real variables: regressions from moments, one per configuration of the discrete parents."""

from __future__ import annotations

from collections.abc import Callable
from math import log, pi, prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.learn.mixed_rows import MixedRows
from bayeskit.network.learn.scored_families import PlainFamilyScores, ScoredFamilies
from bayeskit.network.learn.scores.bge import BGe
from bayeskit.network.learn.structure_score import StructureScore

Floats = NDArray[np.float64]
# What a free number costs, by the number of rows.
_PENALTY: dict[str, Callable[[float], float]] = {
    "bic": lambda n: 0.5 * log(n),
    "aic": lambda n: 1.0,
    "loglik": lambda n: 0.0,
}
# A residual variance below this share of the variance is rounding: the parents say the variable without error.
_LEAST_VARIANCE = 1e-12


class GaussianFamilies(ScoredFamilies):
    """The score of each family of rows without missing cells, with discrete and real variables.

    A real variable is regressed on its real parents in each configuration of its discrete ones; a discrete variable
    with a real parent is not a family here, and scores −inf.
    """

    def __init__(self, rows: MixedRows, score: StructureScore) -> None:
        if score.name not in _PENALTY and not isinstance(score, BGe):
            words = ", ".join(map(repr, (*_PENALTY, "bge")))
            raise NetworkError(f"with real variables the score must be one of {words}; got {score.name!r}.")
        if isinstance(score, BGe) and rows.codes:
            first = rows.names[next(iter(rows.codes))]
            raise NetworkError(f"BGe is for networks whose variables are all real; {first!r} is discrete. Use 'bic'.")
        self.rows, self.score = cast(Any, rows), cast(Any, _Named())
        self.kernel = _GaussianFamilyScores(rows, score)


class _Named:
    """A score under another name: the bound on parents that discrete BIC has does not hold for regressions."""

    name = "gaussian"


class _GaussianFamilyScores(PlainFamilyScores):
    def __init__(self, rows: MixedRows, score: StructureScore) -> None:
        self._known: dict[tuple[int, tuple[int, ...]], float] = {}
        self.mixed, self.score = rows, score
        self.weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        self.total = float(self.weight.sum())
        discrete = rows.discrete()
        self.place = {j: k for k, j in enumerate(rows.codes)}
        self.discrete = None if discrete is None else ScoredFamilies(discrete, score)
        self.column = {j: k for k, j in enumerate(rows.numbers)}
        numbers = np.stack(list(rows.numbers.values()), axis=1)
        centre = np.average(numbers, axis=0, weights=self.weight)
        self.scale = np.sqrt(np.average((numbers - centre) ** 2, axis=0, weights=self.weight))
        self.z = (numbers - centre) / self.scale
        self._moments: dict[tuple[int, ...], tuple[Floats, Floats]] = {}

    def moments(self, discrete: tuple[int, ...]) -> tuple[Floats, Floats]:
        """Return the weight of each configuration that occurs, and its scatter matrix over all real variables."""
        if discrete not in self._moments:
            place = np.zeros(len(self.z), dtype=np.int64)
            for p in discrete:
                place = place * self.mixed.schema[p].n_values + self.mixed.codes[p]
                place = np.unique(place, return_inverse=True)[1].reshape(-1)
            n, scatter = [], []
            for rows in np.split(np.argsort(place, kind="stable"), np.cumsum(np.bincount(place))[:-1]):
                w = self.weight[rows]
                away = self.z[rows] - np.average(self.z[rows], axis=0, weights=w)
                n.append(float(w.sum()))
                scatter.append(away.T @ (away * w[:, None]))
            self._moments[discrete] = np.array(n), np.array(scatter)
        return self._moments[discrete]

    def _scored(self, child: int, parents: tuple[int, ...]) -> float:
        if child in self.place:
            if any(p in self.column for p in parents):
                return -np.inf
            assert self.discrete is not None
            return self.discrete.local(self.place[child], [self.place[p] for p in parents])
        if isinstance(self.score, BGe):
            n, scatter = self.moments(())
            raw = scatter[0] * np.outer(self.scale, self.scale)
            return self.score.family(raw, n[0], [self.column[p] for p in parents], self.column[child])
        return self._regression(child, parents)

    def _regression(self, child: int, parents: tuple[int, ...]) -> float:
        discrete = tuple(p for p in parents if p in self.place)
        real = [self.column[p] for p in parents if p in self.column]
        n, scatter = self.moments(discrete)
        y = self.column[child]
        if (n <= len(real) + 1).any():  # as many numbers as rows: the likelihood has no bound
            return -np.inf
        within = scatter[:, [*real, y]][:, :, [*real, y]]
        rest = residual(within)
        variance = rest / n
        if not (variance > _LEAST_VARIANCE).all():
            return -np.inf
        fit = -0.5 * float((n * (np.log(2.0 * pi * variance) + 1.0)).sum()) - self.total * log(self.scale[y])
        configurations = prod(self.mixed.schema[p].n_values for p in discrete)
        return fit - _PENALTY[self.score.name](self.total) * configurations * (len(real) + 2)


def residual(scatter: Floats) -> Floats:
    """Return what the other variables leave of the last one's sum of squares, (…, k, k) → (…,).

    It is the square of the last pivot of the Cholesky factor; 0 where the others say it, or each other, without error.
    """
    if scatter.shape[-1] == 1:
        return np.asarray(scatter[..., 0, 0])
    try:
        return np.asarray(np.linalg.cholesky(scatter)[..., -1, -1] ** 2)
    except np.linalg.LinAlgError:
        return np.zeros(scatter.shape[:-2])
