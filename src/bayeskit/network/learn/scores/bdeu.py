"""BDeu: as K2, with the same number of pseudo-rows in every table (Heckerman, Geiger & Chickering 1995)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from bayeskit.errors import NetworkError
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class BDeuScore(StructureScore):
    r"""The K2 score with pseudo-counts :math:`N' / (q_i r_i)`; equivalent networks have equal scores.

    Parameters
    ----------
    equivalent_sample_size : float, default 1
        N', the number of pseudo-rows.
    """

    name = "bdeu"
    compiled = True

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.equivalent_sample_size) and self.equivalent_sample_size > 0):
            raise NetworkError(f"equivalent_sample_size must be above 0; got {self.equivalent_sample_size!r}.")

    @property
    def sample_size(self) -> float:
        """The number that the kernel takes."""
        return self.equivalent_sample_size

    def fit(self, family: FamilyTable) -> float:
        """Return the logarithm of the probability of the family's rows."""
        n, alpha = family.counts, self.equivalent_sample_size / family.n_configurations
        cell = alpha / family.n_states
        rows = gammaln(alpha) - gammaln(alpha + n.sum(axis=1))
        return float(rows.sum() + (gammaln(cell + n) - gammaln(cell)).sum())
