"""K2: the probability of the rows under flat tables (Cooper & Herskovits 1992)."""

from __future__ import annotations

from dataclasses import dataclass

from scipy.special import gammaln

from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class K2Score(StructureScore):
    r""":math:`\sum_j \ln \frac{(r_i - 1)!}{(n_{ij} + r_i - 1)!} + \sum_{jk} \ln n_{ijk}!`."""

    name = "k2"
    compiled = True

    def fit(self, family: FamilyTable) -> float:
        """Return the logarithm of the probability of the family's rows."""
        n, r = family.counts, family.n_states
        return float((gammaln(r) - gammaln(n.sum(axis=1) + r)).sum() + gammaln(n + 1.0).sum())
