"""Bins of numeric columns that see their neighbours in the network; cut and searched in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import lgamma, log, prod

import numpy as np
from numpy.typing import NDArray

from bayeskit.network.learn.discrete_rows import DiscreteRows
from bayeskit.table.schema import Variable

# Cuts are chosen among the borders of so many bins of equal frequency.
FINE_BINS = 48
# Rounds of search and cutting at most; the structure mostly stays after two or three.
_MOST_ROUNDS = 8
_MOST_SWEEPS = 10
# A gain below this is rounding.
_LEAST_GAIN = 1e-7

Parents = Sequence[Sequence[int]]
Counts = NDArray[np.float64]


class NeighborBins:
    r"""The cuts of the numeric columns, and the rows that they make.

    A column is cut where the bins say most about its parents and children for what they cost. With the structure given,

    .. math:: N \, I(X; Pa_X) + \sum_{c \in \text{children}} N \, I(c; Pa_c) - \tfrac12 \ln N \, (\text{free numbers})
              - \ln \binom{m - 1}{k - 1}

    for k bins made of m fine ones is a sum over the bins, so the best cuts are found exactly, by dynamic programming.
    Each column in turn is cut anew while others stay, until no column changes; then the structure is searched again.

    Parameters
    ----------
    fine : DiscreteRows
        The rows with each numeric column in many bins.
    most : int
        The largest number of bins of a column.

    References
    ----------
    Friedman & Goldszmidt (1996), Discretizing continuous attributes while learning Bayesian networks, ICML.
    """

    def __init__(self, fine: DiscreteRows, most: int) -> None:
        self.fine, self.most = fine, max(most, 2)
        binned = [j for j, variable in enumerate(fine.schema) if variable.is_binned and variable.n_values > 1]
        # cuts[j]: the first fine bin of each bin but the first; to begin with, bins of nearly equal frequency.
        self.cuts = {j: self._even_cuts(j) for j in binned}
        self.rows = fine
        for j in binned:
            self._set(j, self.cuts[j])

    def _even_cuts(self, j: int) -> tuple[int, ...]:
        n = self._count(self.fine.columns[j].astype(np.int64), self.fine.cards[j])
        reached = np.cumsum(n) / n.sum()
        wanted = np.searchsorted(reached, np.arange(1, self.most) / self.most - 1e-12) + 1
        return tuple(sorted({int(cut) for cut in wanted if 0 < cut < self.fine.cards[j]}))

    def _set(self, j: int, cuts: tuple[int, ...]) -> None:
        """Cut a column."""
        fine, known = self.fine.columns[j], self.fine.columns[j] < self.fine.cards[j]
        codes = fine.copy()
        codes[known] = np.searchsorted(cuts, fine[known], side="right")
        old = self.fine.schema.variables[j]
        edges = tuple(old.edges[cut - 1] for cut in cuts)
        variable = Variable(old.name, "binned", edges=edges, declared=True, numeric=old.numeric)
        variables = [*self.rows.schema.variables]
        variables[j] = variable
        columns = [*self.rows.columns]
        columns[j] = codes
        self.cuts[j] = cuts
        self.rows = replace(self.rows, schema=self.rows.schema.with_variables(tuple(variables)), columns=columns)

    def learn(self, search: Callable[[DiscreteRows], Parents]) -> DiscreteRows:
        """Search and cut in turn while the objective rises; return the rows of the best bins."""
        best, kept = -np.inf, self.rows
        for _ in range(_MOST_ROUNDS):
            parents = search(self.rows)
            before = dict(self.cuts)
            self.cut_all(parents)
            now = self.objective(parents)
            if now <= best + _LEAST_GAIN:
                break
            best, kept = now, self.rows
            if self.cuts == before:
                break
        return kept

    def cut_all(self, parents: Parents) -> None:
        """Cut each column that has a neighbour, until none changes."""
        for _ in range(_MOST_SWEEPS):
            before = dict(self.cuts)
            for j in self.cuts:
                if parents[j] or any(j in above for above in parents):
                    self._set(j, self.best_cuts(j, parents))
            if self.cuts == before:
                return

    def best_cuts(self, j: int, parents: Parents) -> tuple[int, ...]:
        """Return the best cuts of a column with two bins at least, given the structure and the cuts of the others."""
        m = self.fine.cards[j]
        value, most = self._interval_values(j, parents), min(self.most, m)
        # total[k][b]: the best of the fine bins before b in k bins; first[k][b]: where the last of these begins.
        total, first = np.full((most + 1, m + 1), -np.inf), np.zeros((most + 1, m + 1), dtype=int)
        total[0, 0] = 0.0
        for k in range(1, most + 1):
            sums = total[k - 1][:, None] + value
            first[k], total[k] = sums.argmax(axis=0), sums.max(axis=0)
        k = max(range(2, most + 1), key=lambda n: total[n, m] - _log_sets(m - 1, n - 1))
        cuts, end = [], m
        for n in range(k, 1, -1):
            end = int(first[n, end])
            cuts.append(end)
        return tuple(reversed(cuts))

    def _interval_values(self, j: int, parents: Parents) -> Counts:
        """Return what a bin of the fine bins a … b − 1 is worth, (m + 1, m + 1); −∞ unless a < b."""
        m, rows = self.fine.cards[j], self.rows
        half = 0.5 * log(max(self._total, 2.0))
        value = np.zeros((m + 1, m + 1))
        above = [p for p in parents[j] if p != j]
        value += self._fit(self._tables(j, above, None)) - half * np.prod([rows.cards[p] for p in above])
        for child in (c for c in range(len(parents)) if j in parents[c]):
            others = [p for p in parents[child] if p != j]
            free = (rows.cards[child] - 1) * np.prod([rows.cards[p] for p in others])
            value += self._fit(self._tables(j, others, child)) - half * free
        value[np.tril_indices(m + 1)] = -np.inf
        return value

    def _tables(self, j: int, others: list[int], child: int | None) -> Counts:
        """Return counts of (fine bin, group, cell): one group of configurations, or a child's states in each."""
        rows, m = self.rows, self.fine.cards[j]
        known = self.fine.columns[j] < m
        for v in (*others, *([] if child is None else [child])):
            known = known & (rows.columns[v] < rows.cards[v])
        place, n = np.zeros(int(known.sum()), dtype=np.int64), 1
        for p in others:  # only configurations that occur are numbered, so that no product overflows
            place = np.unique(place * rows.cards[p] + rows.columns[p][known], return_inverse=True)[1].reshape(-1)
            n = int(place.max(initial=0)) + 1
        fine = self.fine.columns[j][known].astype(np.int64)
        weight = None if rows.weight is None else rows.weight[known]
        if child is None:
            shape, flat = (m, 1, n), fine * n + place
        else:
            states = rows.cards[child]
            shape, flat = (m, n, states), (fine * n + place) * states + rows.columns[child][known]
        return np.bincount(flat, weight, minlength=prod(shape)).astype(np.float64).reshape(shape)

    @staticmethod
    def _fit(counts: Counts) -> Counts:
        """Return Σ n ln n − Σ n_group ln n_group of each run of fine bins a … b − 1, (m + 1, m + 1)."""
        m = len(counts)
        reached = np.concatenate([np.zeros((1, *counts.shape[1:])), counts.cumsum(axis=0)])
        fit = np.zeros((m + 1, m + 1))
        for a in range(m):
            runs = reached[a + 1 :] - reached[a]
            fit[a, a + 1 :] = _n_log_n(runs).sum(axis=(1, 2)) - _n_log_n(runs.sum(axis=2)).sum(axis=1)
        return fit

    @property
    def _total(self) -> float:
        return float(self.rows.n_rows if self.rows.weight is None else self.rows.weight.sum())

    def _count(self, codes: NDArray[np.int64], n: int) -> Counts:
        known = codes < n
        weight = None if self.fine.weight is None else self.fine.weight[known]
        return np.bincount(codes[known], weight, minlength=n).astype(np.float64)

    def objective(self, parents: Parents) -> float:
        """Return BIC without the entropy of the bins themselves, minus what it costs to describe the cuts.

        Bins are a code for numbers: what fewer of them save, the numbers within a bin cost again.
        """
        from bayeskit.network.learn.scored_families import ScoredFamilies

        total = ScoredFamilies(self.rows, "bic").total(parents)
        for j, cuts in self.cuts.items():
            n = self._count(self.rows.columns[j].astype(np.int64), self.rows.cards[j])
            total -= float(_n_log_n(n).sum() - _n_log_n(n.sum()))
            total -= _log_sets(self.fine.cards[j] - 1, len(cuts))
        return total


def _n_log_n(n: Counts) -> Counts:
    return np.where(n > 0, n * np.log(np.maximum(n, 1e-300)), 0.0)


def _log_sets(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
