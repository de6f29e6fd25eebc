"""BIC: the log-likelihood minus ½ ln N for each free number (Schwarz 1978)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class BIC(StructureScore):
    r""":math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij}) - ½ \ln N (r_i - 1) q_i`; higher is better, as in bnlearn."""

    name = "bic"
    compiled = True

    def penalty(self, family: FamilyTable) -> float:
        """Return ½ ln N for each free number."""
        return 0.5 * log(family.n_rows) * family.free_parameters
