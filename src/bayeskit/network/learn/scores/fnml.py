"""fNML: the log-likelihood minus the regret of each distribution of the family (Silander et al. 2008)."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.network.learn.multinomial_regret import log_regret
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class FNML(StructureScore):
    r""":math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij}) - \sum_j \ln C^{r_i}_{n_{ij}}`: the normalised maximum likelihood of
    each distribution. It has no option.

    References
    ----------
    Silander, Roos, Kontkanen & Myllymäki (2008), Factorized normalized maximum likelihood criterion, PGM.
    """

    name = "fnml"

    def penalty(self, family: FamilyTable) -> float:
        """Return the regrets of the distributions of all configurations that have rows."""
        return sum(log_regret(float(n), family.n_states) for n in family.counts.sum(axis=1))
