"""BDs: as BDeu, with pseudo-rows only where the parents have rows (Scutari 2016)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bayeskit.errors import NetworkError
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class BDs(StructureScore):
    r"""The K2 score with pseudo-counts :math:`N' / (\tilde q_i r_i)`, :math:`\tilde q_i` the configurations that occur.

    With few rows BDeu spends most of its pseudo-rows on configurations that no row has. Equivalent networks may differ.

    Parameters
    ----------
    equivalent_sample_size : float, default 1
        N', the number of pseudo-rows.

    References
    ----------
    Scutari (2016), An empirical-Bayes score for discrete Bayesian networks, PGM.
    """

    name = "bds"

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.equivalent_sample_size) and self.equivalent_sample_size > 0):
            raise NetworkError(f"equivalent_sample_size must be above 0; got {self.equivalent_sample_size!r}.")

    def fit(self, family: FamilyTable) -> float:
        """Return the logarithm of the probability of the family's rows."""
        n = family.counts[family.counts.sum(axis=1) > 0]
        alpha = self.equivalent_sample_size / max(len(n), 1)
        cell = alpha / family.n_states
        rows = gammaln(alpha) - gammaln(alpha + n.sum(axis=1))
        return float(rows.sum() + (gammaln(cell + n) - gammaln(cell)).sum())
