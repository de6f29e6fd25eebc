"""qNML: a quotient of two normalised maximum likelihoods, which equivalent networks share (Silander et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.network.learn.multinomial_regret import log_regret
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class QNML(StructureScore):
    r"""Log-likelihood :math:`- \ln C^{q_i r_i}_N + \ln C^{q_i}_N`.

    The family and its parents are each taken for one variable. It has no option, and equivalent networks have equal
    scores.

    References
    ----------
    Silander, Leppä-aho, Jääsaari & Roos (2018), Quotient normalized maximum likelihood criterion, AISTATS.
    """

    name = "qnml"

    def penalty(self, family: FamilyTable) -> float:
        """Return the regret of the family minus that of its parents."""
        n, q = family.n_rows, family.n_configurations
        return log_regret(n, q * family.n_states) - log_regret(n, q)
