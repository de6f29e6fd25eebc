"""Tests of independence with real variables: partial correlation, and the likelihood ratio of conditional Gaussians."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import inf, isfinite, sqrt

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.mixed_rows import MixedRows
from bayeskit.network.learn.tests_of_independence import DataTests, Separated

Floats = NDArray[np.float64]
# Added to variances in units of the column: what is smaller is rounding.
_RIDGE = 1e-12


class MixedTests:
    r"""Tests on rows without missing cells, of discrete and real variables.

    Real variables given real ones: Student's t of the partial correlation, exact for normals. States given states:
    G². Otherwise the likelihood ratio of conditional Gaussian distributions,

    .. math:: G^2 = 2 \left(\ell(x, y, z) + \ell(z) - \ell(x, z) - \ell(y, z)\right)

    in which ℓ(S) is the largest log-likelihood of a multinomial of the discrete variables of S, and a normal of the
    real ones in each of its cells. Where x is real, that is the ratio of its regressions on y, z and on z. Cells
    with too few rows for their covariance are left out.

    References
    ----------
    Andrews, Ramsey & Cooper (2018), Scoring Bayesian networks of mixed variables, section 3.
    """

    def __init__(self, rows: MixedRows, alpha: float = 0.01) -> None:
        self.alpha, self.rows = alpha, rows
        self.weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
        self.column = {j: k for k, j in enumerate(rows.numbers)}
        self.place = {j: k for k, j in enumerate(rows.codes)}
        discrete = rows.discrete()
        self._states = None if discrete is None else DataTests(discrete, "g2", alpha)
        numbers = np.stack(list(rows.numbers.values()), axis=1)
        away = numbers - np.average(numbers, axis=0, weights=self.weight)
        self.z = away / np.sqrt(np.average(away * away, axis=0, weights=self.weight))
        self.correlation = (self.z * self.weight[:, None]).T @ self.z / self.weight.sum()

    def test(self, x: int, y: int, given: Sequence[int]) -> tuple[float, float, float]:
        """Return the statistic, the degrees of freedom and p."""
        family = [x, y, *given]
        if all(j in self.column for j in family):
            return self._partial_correlation([self.column[j] for j in family])
        if self._states is not None and all(j in self.place for j in family):
            return self._states.test(self.place[x], self.place[y], [self.place[j] for j in given])
        return self._likelihood_ratio(x, y, list(given))

    def p_value(self, x: int, y: int, given: Sequence[int]) -> float:
        """Return p."""
        return self.test(x, y, given)[2]

    def level(
        self, pairs: list[tuple[int, int]], left: list[list[int]], right: list[list[int]], size: int
    ) -> list[Separated]:
        """Search, for each pair, a set of this size that separates it, among ``left`` and then among ``right``."""
        return [self._separated(x, y, sides, size) for (x, y), *sides in zip(pairs, left, right, strict=True)]

    def _separated(self, x: int, y: int, sides: Sequence[list[int]], size: int) -> Separated:
        best, tried = Separated(False, [], 0.0), set()
        for side in sides:
            for given in combinations(side, size):
                if given in tried:
                    continue
                tried.add(given)
                p = self.p_value(x, y, given)
                if p > self.alpha:
                    return Separated(True, list(given), p)
                if p > best.p:
                    best = Separated(False, list(given), p)
        return best

    def _partial_correlation(self, places: list[int]) -> tuple[float, float, float]:
        from scipy.stats import t as student

        df = float(self.weight.sum()) - len(places)
        if df < 1:
            return 0.0, 0.0, 1.0
        part = self.correlation[np.ix_(places, places)] + _RIDGE * np.eye(len(places))
        inverse = np.linalg.inv(part)
        r = float(np.clip(-inverse[0, 1] / sqrt(inverse[0, 0] * inverse[1, 1]), -1.0, 1.0))
        statistic = inf if abs(r) == 1.0 else r * sqrt(df / (1.0 - r * r))
        return statistic, df, float(2.0 * student.sf(abs(statistic), df))

    def _likelihood_ratio(self, x: int, y: int, given: list[int]) -> tuple[float, float, float]:
        from scipy.special import gammaincc

        family = [x, y, *given]
        cell = self._cells([j for j in family if j in self.place], np.arange(len(self.z)))
        enough = np.bincount(cell) > sum(j in self.column for j in family) + 1
        kept = np.flatnonzero(enough[cell])
        if not len(kept):
            return 0.0, 0.0, 1.0
        statistic = df = 0.0
        for sign, variables in ((1, family), (1, given), (-1, [x, *given]), (-1, [y, *given])):
            log_likelihood, n_numbers = self._largest_likelihood(variables, kept)
            statistic += 2.0 * sign * log_likelihood
            df += sign * n_numbers
        if df <= 0 or not isfinite(statistic):
            return 0.0, 0.0, 1.0
        statistic = max(statistic, 0.0)
        return statistic, float(df), float(gammaincc(0.5 * df, 0.5 * statistic))

    def _cells(self, discrete: list[int], kept: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the configuration of these discrete variables in each row, numbered by those that occur."""
        cell = np.zeros(len(kept), dtype=np.int64)
        for j in discrete:
            cell = cell * self.rows.schema[j].n_values + self.rows.codes[j][kept]
            cell = np.unique(cell, return_inverse=True)[1].reshape(-1)
        return cell

    def _largest_likelihood(self, variables: list[int], kept: NDArray[np.int64]) -> tuple[float, int]:
        """Return ℓ of some variables, and how many free numbers it has."""
        real = [self.column[j] for j in variables if j in self.column]
        cell = self._cells([j for j in variables if j in self.place], kept)
        w, k = self.weight[kept], len(real)
        n = np.bincount(cell, weights=w)
        log = float((n * np.log(n / n.sum())).sum())
        if real:
            z = self.z[kept][:, real]
            mean = np.stack([np.bincount(cell, weights=w * column) for column in z.T], axis=1) / n[:, None]
            away = z - mean[cell]
            scatter = np.zeros((len(n), k, k))
            for a in range(k):
                for b in range(a, k):
                    scatter[:, a, b] = scatter[:, b, a] = np.bincount(cell, weights=w * away[:, a] * away[:, b])
            _, log_det = np.linalg.slogdet(scatter / n[:, None, None] + _RIDGE * np.eye(k))
            log -= 0.5 * float((n * (k * (np.log(2.0 * np.pi) + 1.0) + log_det)).sum())
        return log, len(n) - 1 + len(n) * (k + k * (k + 1) // 2)
