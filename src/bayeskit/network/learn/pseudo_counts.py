r"""Pseudo-counts for the tables of a network: λ, m-estimate, Dirichlet, BDeu.

A table of counts has one axis per parent and the variable's own states last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import NetworkError
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing
from bayeskit.learn.parameters import may_be_saved


class TablePrior(Protocol):
    """What is added to the counts of a table before it is normalised."""

    def pseudo_counts(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the pseudo-counts of the table of a variable, as a number or an array of this shape."""
        ...


@dataclass(frozen=True)
class BDeu:
    r"""The uniform Dirichlet prior that gives equivalent networks the same score.

    .. math:: α_{ijk} = \frac{N'}{q_i r_i}

    for a variable of :math:`r_i` states whose parents have :math:`q_i` configurations.

    References
    ----------
    Buntine (1991); Heckerman, Geiger & Chickering (1995), Learning Bayesian networks, Machine Learning 20.

    Examples
    --------
    >>> float(BDeu(8.0).pseudo_counts("x", (2, 2)))
    2.0
    """

    equivalent_sample_size: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.equivalent_sample_size) and self.equivalent_sample_size > 0):
            raise NetworkError(
                f"equivalent_sample_size must be a finite number above 0; got {self.equivalent_sample_size!r}."
            )

    def pseudo_counts(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return N' / (q r)."""
        return np.asarray(self.equivalent_sample_size / prod(shape))


@dataclass(frozen=True, eq=False)
class Dirichlet:
    """Pseudo-counts of your own for each table.

    Parameters
    ----------
    tables : mapping of name to array
        The pseudo-counts of each variable, of the shape of its table; one that is not named has ``otherwise``.
    otherwise : float, default 0
        The pseudo-count of each cell of all other tables.

    Examples
    --------
    >>> Dirichlet({"rain": [9.0, 1.0]}).pseudo_counts("rain", (2,))
    array([9., 1.])
    """

    tables: Mapping[str, Any]
    otherwise: float = 0.0

    def pseudo_counts(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        """Return the pseudo-counts of one table; another shape, or a negative number, is an error."""
        alpha = np.asarray(self.tables.get(name, self.otherwise), dtype=np.float64)
        if alpha.shape not in ((), shape) or not (alpha >= 0).all() or not np.isfinite(alpha).all():
            raise NetworkError(
                f"the pseudo-counts of {name!r} must be finite numbers of at least 0 of shape {shape}; got an array of "
                f"shape {alpha.shape}."
            )
        return alpha


@dataclass(frozen=True)
class _Symmetric:
    smoothing: SymmetricSmoothing

    def pseudo_counts(self, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
        return np.asarray(self.smoothing.pseudo_count(shape[-1]))


def as_prior(smoothing: Any) -> TablePrior:
    """Return a prior; a number is λ, and `Lidstone`, `MEstimate`, `BDeu` and `Dirichlet` are taken as they are.

    Examples
    --------
    >>> float(as_prior(1.0).pseudo_counts("x", (3, 2)))
    1.0
    """
    if isinstance(smoothing, int | float | np.number) and not isinstance(smoothing, bool):
        return _Symmetric(as_smoothing(float(smoothing)))
    if isinstance(smoothing, SymmetricSmoothing):
        return _Symmetric(smoothing)
    if hasattr(smoothing, "pseudo_counts"):
        prior: TablePrior = smoothing
        return prior
    raise NetworkError(
        f"smoothing must be a number (λ), or a Lidstone, MEstimate, BDeu or Dirichlet object; got {smoothing!r}."
    )


def _pseudo_counts_to_json(prior: Dirichlet) -> dict[str, Any]:
    tables = {name: np.asarray(table, dtype=np.float64).tolist() for name, table in prior.tables.items()}
    return {"tables": tables, "otherwise": float(prior.otherwise)}


may_be_saved("BDeu", BDeu, lambda prior: float(prior.equivalent_sample_size), lambda size: BDeu(float(size)))
may_be_saved(
    "Dirichlet",
    Dirichlet,
    _pseudo_counts_to_json,
    lambda data: Dirichlet(dict(data["tables"]), float(data["otherwise"])),
)


def estimate(counts: NDArray[Any], pseudo: NDArray[np.float64]) -> NDArray[np.float64]:
    r"""Return the table of a variable, :math:`(n_{ijk} + α_{ijk}) / \sum_k (n_{ijk} + α_{ijk})`.

    A configuration of the parents that no row has, without pseudo-counts, is uniform.

    Examples
    --------
    >>> estimate(np.array([[3, 1], [0, 0]]), np.asarray(0.0))
    array([[0.75, 0.25],
           [0.5 , 0.5 ]])
    """
    total = np.asarray(counts, dtype=np.float64) + pseudo
    norm = total.sum(axis=-1, keepdims=True)
    return np.asarray(np.divide(total, norm, out=np.full_like(total, 1.0 / max(total.shape[-1], 1)), where=norm > 0))
