"""AIC: the log-likelihood minus 1 for each free number (Akaike 1974)."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class AIC(StructureScore):
    r""":math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij}) - (r_i - 1) q_i`."""

    name = "aic"
    compiled = True

    def penalty(self, family: FamilyTable) -> float:
        """Return the number of free numbers."""
        return float(family.free_parameters)
