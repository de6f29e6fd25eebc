"""BGe: the marginal likelihood of Gaussian networks under a normal-Wishart prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.network.learn.structure_score import FamilyTable, StructureScore

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class BGe(StructureScore):
    r"""The logarithm of the probability of the rows given the graph, for real variables; equivalent graphs score alike.

    .. math:: \ln p(d^Y) = \frac{l}{2} \ln \frac{α_μ}{N + α_μ}
              + \ln \frac{Γ_l(\frac{N + α_w - n + l}{2})}{Γ_l(\frac{α_w - n + l}{2})}
              - \frac{lN}{2} \ln π + \frac{α_w - n + l}{2} \ln |T_Y| - \frac{N + α_w - n + l}{2} \ln |R_Y|

    for the l variables Y of a family, and the score of a family is that of it less that of its parents. The prior mean
    is the mean of the rows, as in bnlearn; :math:`T = t I` with :math:`t = α_μ (α_w - n - 1) / (α_μ + 1)`, and
    :math:`R = T + S_N`.

    Parameters
    ----------
    mean_weight : float, default 1
        :math:`α_μ`, how many rows the prior mean counts for.
    degrees_of_freedom : float, optional
        :math:`α_w`, above n + 1; by default n + 2 for n variables.

    References
    ----------
    Kuipers, Moffa & Heckerman (2014), Addendum on the scoring of Gaussian directed acyclic graphical models, Annals of
    Statistics 42, equations 2 to 5.
    """

    name = "bge"

    mean_weight: float = 1.0
    degrees_of_freedom: float | None = None

    def __post_init__(self) -> None:
        if not 0 < self.mean_weight < float("inf"):
            raise NetworkError(f"mean_weight of BGe must be above 0; got {self.mean_weight!r}.")

    def fit(self, family: FamilyTable) -> float:
        """Refuse counts: this score is for real variables."""
        raise NetworkError("BGe is for real variables: pass numeric='gaussian', or choose 'bdeu' for states.")

    def family(self, scatter: Floats, n_rows: float, parents: Sequence[int], child: int) -> float:
        """Return the score of a family from the scatter matrix of all variables around the mean of the rows."""
        return self.marginal(scatter, n_rows, [*parents, child]) - self.marginal(scatter, n_rows, parents)

    def marginal(self, scatter: Floats, n_rows: float, subset: Sequence[int]) -> float:
        """Return the log marginal likelihood of some of the variables."""
        n, size = len(scatter), len(subset)
        if not size:
            return 0.0
        a_mu = self.mean_weight
        a_w = n + 2.0 if self.degrees_of_freedom is None else self.degrees_of_freedom
        if not a_w > n + 1:
            raise NetworkError(f"degrees_of_freedom of BGe must be above {n + 1} for {n} variables; got {a_w!r}.")
        t = a_mu * (a_w - n - 1.0) / (a_mu + 1.0)
        before = a_w - n + size
        after = n_rows + before
        r = scatter[np.ix_(subset, subset)] + t * np.eye(size)
        gammas = sum(lgamma((after - j) / 2.0) - lgamma((before - j) / 2.0) for j in range(size))
        return float(
            0.5 * size * log(a_mu / (n_rows + a_mu))
            + gammas
            - 0.5 * size * n_rows * log(pi)
            + 0.5 * before * size * log(t)
            - 0.5 * after * np.linalg.slogdet(r)[1]
        )
