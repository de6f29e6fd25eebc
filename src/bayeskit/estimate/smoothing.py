r"""Smoothing: how counts become probabilities, for all tables of a model and with a row left out of them.

A table of counts has the values of a feature on its last axis but one and the classes on its last; axes before them are
the feature's parents. A smoothing turns it into log P(value | parents, class).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import log_tables, n_threads
from bayeskit.errors import BayeskitError
from bayeskit.estimate.discrete import laplace, m_estimate

Tables = Sequence[NDArray[Any]]


class Smoothing(ABC):
    """Turns counts into probabilities. A frozen value: two of equal parameters are equal."""

    @abstractmethod
    def probabilities(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each value of one distribution; the first axis runs over the values."""

    @abstractmethod
    def log_tables(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return log P(value | parents, class) of each table, all numbers one after the other.

        ``n_cells`` says of how many cells the distribution is that a table belongs to, where that is not its number of
        values: the table P(x | c) of a super-parent is part of the joint P(c, x).
        """

    @abstractmethod
    def log_tables_without_one(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return what each cell gives when one of its own rows is left out, in the form of :meth:`log_tables`."""


class SymmetricSmoothing(Smoothing):
    r"""The same pseudo-count α for each cell of a distribution of S cells.

    .. math:: P(v) = \frac{n_v + α}{n + S α}
    """

    @abstractmethod
    def pseudo_count(self, n_cells: int) -> float:
        """Return α, for a distribution over ``n_cells`` values."""

    def log_tables(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return log P(value | parents, class) of each table, all numbers one after the other.

        Examples
        --------
        >>> n = np.array([[3, 0], [1, 2]])  # two values, two classes
        >>> np.exp(Lidstone(1.0).log_tables([n])).round(3)
        array([0.667, 0.25 , 0.333, 0.75 ])
        """
        return self._log_tables(tables, n_cells, 0.0)

    def log_tables_without_one(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return what each cell gives when one of its own rows is left out, in the form of :meth:`log_tables`.

        Examples
        --------
        >>> n = np.array([[3, 0], [1, 2]])
        >>> np.exp(Lidstone(1.0).log_tables_without_one([n])).round(3)
        array([0.6  , 0.333, 0.2  , 0.667])
        """
        return self._log_tables(tables, n_cells, 1.0)

    def _log_tables(self, tables: Tables, n_cells: Sequence[int] | None, own: float) -> NDArray[np.float64]:
        if not tables:
            return np.empty(0)
        n_values = [table.shape[-2] for table in tables]
        pseudo = [self.pseudo_count(cells) for cells in n_cells or n_values]
        threads = n_threads(sum(table.size for table in tables))
        return log_tables([table.ravel() for table in tables], n_values, tables[0].shape[-1], pseudo, own, threads)


@dataclass(frozen=True)
class Lidstone(SymmetricSmoothing):
    r"""λ more of each value: 0 is maximum likelihood, 1 is Laplace's rule.

    .. math:: P(v) = \frac{n_v + λ}{n + S λ}

    Examples
    --------
    >>> Lidstone(1.0).probabilities([3, 0, 1])
    array([0.57142857, 0.14285714, 0.28571429])
    """

    smoothing: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.smoothing) and self.smoothing >= 0):
            raise BayeskitError(f"λ must be a finite number of at least 0; got {self.smoothing!r}.")

    def pseudo_count(self, n_cells: int) -> float:
        """Return λ, whatever the number of cells."""
        return float(self.smoothing)

    def probabilities(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return (n_v + λ) / (n + Sλ); the first axis runs over the values."""
        return laplace(counts, float(self.smoothing))


@dataclass(frozen=True)
class MEstimate(SymmetricSmoothing):
    r"""m more rows, shared out evenly over the values, however many there are.

    .. math:: P(v) = \frac{n_v + m / S}{n + m}

    References
    ----------
    Cestnik (1990), Estimating probabilities: a crucial task in machine learning, ECAI. Mitchell (1997), Machine
    Learning, eq. 6.22.

    Examples
    --------
    >>> MEstimate(4.0).probabilities([3, 1])
    array([0.625, 0.375])
    """

    m: float = 1.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.m) and self.m >= 0):
            raise BayeskitError(f"m must be a finite number of at least 0; got {self.m!r}.")

    def pseudo_count(self, n_cells: int) -> float:
        """Return m / S."""
        return float(self.m) / max(1, n_cells)

    def probabilities(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return (n_v + m / S) / (n + m); the first axis runs over the values."""
        n_values = len(np.asarray(counts))
        return m_estimate(counts, np.full(n_values, 1.0 / max(1, n_values)), float(self.m))


def as_smoothing(smoothing: float | SymmetricSmoothing) -> SymmetricSmoothing:
    """Return a smoothing; a number is the λ of :class:`Lidstone`.

    >>> as_smoothing(0.25)
    Lidstone(smoothing=0.25)
    """
    return smoothing if isinstance(smoothing, SymmetricSmoothing) else Lidstone(float(smoothing))
