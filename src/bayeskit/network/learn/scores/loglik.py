"""The log-likelihood: more arcs never lower it."""

from __future__ import annotations

from dataclasses import dataclass

from bayeskit.network.learn.structure_score import StructureScore


@dataclass(frozen=True)
class LogLikelihood(StructureScore):
    r""":math:`\sum n_{ijk} \ln (n_{ijk} / n_{ij})`."""

    name = "loglik"
    compiled = True
