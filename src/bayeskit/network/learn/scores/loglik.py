"""The log-likelihood: more arcs never lower it."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class LogLikelihood(StructureScore):
    r""":math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij})`."""

    name = "loglik"
    compiled = True

    def fit(self, family: FamilyTable) -> float:
        """Return the log-likelihood."""
        return family.log_likelihood()
