"""EBIC: as BIC, and γ times the logarithm of the number of sets of as many parents (Chen & Chen 2008)."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log

from bayeskit.errors import NetworkError
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore


@dataclass(frozen=True)
class EBIC(StructureScore):
    r"""BIC :math:`- γ \ln \binom{n - 1}{|Pa_i|}`: for many variables, where some parent fits by chance.

    Parameters
    ----------
    gamma : float, default 0.5
        γ; 0 is BIC.
    """

    name = "ebic"
    compiled = True

    gamma: float = 0.5

    def __post_init__(self) -> None:
        if not 0 <= self.gamma < float("inf"):
            raise NetworkError(f"gamma of EBIC must be at least 0; got {self.gamma!r}.")

    @property
    def sample_size(self) -> float:
        """γ, the number that the kernel takes."""
        return self.gamma

    def penalty(self, family: FamilyTable) -> float:
        """Return ½ ln N for each free number, and what it costs to name the parents."""
        others, k = family.n_variables - 1, family.n_parents
        sets = lgamma(others + 1) - lgamma(k + 1) - lgamma(others - k + 1)
        return 0.5 * log(family.n_rows) * family.free_parameters + self.gamma * sets
