"""MDL: as BIC, and ln n more for naming each parent (Lam & Bacchus 1994, with ½ ln N a number)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class MDL(StructureScore):
    r""":math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij}) - ½ \ln N (r_i - 1) q_i - |Pa_i| \ln n`."""

    name = "mdl"
    compiled = True

    def penalty(self, family: FamilyTable) -> float:
        """Return ½ ln N for each free number, and ln n for each parent."""
        return 0.5 * log(family.n_rows) * family.free_parameters + family.n_parents * log(family.n_variables)
