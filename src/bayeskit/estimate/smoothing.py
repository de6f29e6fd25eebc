r"""Smoothing: how counts become probabilities, for all tables of a model and with a row left out of them.

A table of counts has the values of a feature on its last axis but one and the classes on its last; axes before them are
the feature's parents. A smoothing turns it into log P(value | parents, class).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit._kernels import back_off_tables, log_tables, n_threads
from bayeskit.defaults import SMOOTHING
from bayeskit.errors import BayeskitError
from bayeskit.estimate.discrete import laplace, m_estimate
from bayeskit.estimate.information import conditional_mutual_information

Tables = Sequence[NDArray[Any]]

# The strengths m of back-off that are tried at each depth.
BACK_OFF_GRID = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 1e4, 1e6)
# The rows that are shared out evenly over the values at the root of a back-off, P(x).
BACK_OFF_ROOT = 1.0


class Smoothing(ABC):
    """Turns counts into probabilities. A frozen value: two of equal parameters are equal."""

    @abstractmethod
    def pseudo_count(self, n_cells: int) -> float:
        """Return the pseudo-count of each value of a single distribution, such as P(c)."""

    @abstractmethod
    def probabilities(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each value of one distribution; the first axis runs over the values."""

    @abstractmethod
    def log_tables(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return log P(value | parents, class) of each table, all numbers one after the other.

        ``n_cells`` is the number of cells of the distribution that a table belongs to, where that is not its number of
        values: the table P(x | c) of a super-parent is part of the joint P(c, x).
        """

    @abstractmethod
    def log_tables_without_one(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return each cell's entry when one of its own rows is left out, in the form of :meth:`log_tables`."""


class SymmetricSmoothing(Smoothing):
    r"""The same pseudo-count α for each cell of a distribution of S cells.

    .. math:: P(v) = \frac{n_v + α}{n + S α}
    """

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
        """Return each cell's entry when one of its own rows is left out, in the form of :meth:`log_tables`.

        Examples
        --------
        >>> n = np.array([[3, 0], [1, 2]])
        >>> np.exp(Lidstone(1.0).log_tables_without_one([n])).round(3)
        array([0.6  , 0.333, 0.2  , 0.667])
        """
        return self._log_tables(tables, n_cells, 1.0)

    def _log_tables(self, tables: Tables, n_cells: Sequence[int] | None, taken_out: float) -> NDArray[np.float64]:
        if not tables:
            return np.empty(0)
        n_values = [table.shape[-2] for table in tables]
        pseudo = [self.pseudo_count(cells) for cells in n_cells or n_values]
        threads = n_threads(sum(table.size for table in tables))
        return log_tables(
            [table.ravel() for table in tables], n_values, tables[0].shape[-1], pseudo, taken_out, threads
        )


@dataclass(frozen=True)
class Lidstone(SymmetricSmoothing):
    r"""λ is added to the count of each value: 0 is maximum likelihood, 1 is Laplace's rule.

    .. math:: P(v) = \frac{n_v + λ}{n + S λ}

    Examples
    --------
    >>> Lidstone(1.0).probabilities([3, 0, 1])
    array([0.57142857, 0.14285714, 0.28571429])
    """

    smoothing: float = SMOOTHING

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
    r"""m rows are added, distributed evenly over the values, however many there are.

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


@dataclass(frozen=True)
class BackOff(Smoothing):
    r"""Each table is smoothed towards the same table with one parent fewer, down to P(x).

    .. math:: P_d(x \mid c, u_1 \ldots u_d) = \frac{n(x, c, u_1 \ldots u_d) + m_d P_{d-1}}{n(c, u_1 \ldots u_d) + m_d},
              \qquad P_0(x \mid c) = \frac{n(x, c) + m_0 P(x)}{n(c) + m_0}, \qquad P(x) = \frac{n(x) + 1 / S}{n + 1}

    The parent with the least information about x given c is dropped first. All counts are margins of the feature's own
    table, so they cover the rows in which x and its parents are known. P(c) gets one extra row, distributed evenly.

    Parameters
    ----------
    m : float, optional
        The number of rows that the shorter context is worth, at every depth. By default chosen for each table and
        depth among 0.1, 0.3, 1, …, 1e6 by the leave-one-out log-likelihood, which is computed from the counts.

    Examples
    --------
    >>> n = np.array([[3, 0], [1, 2]])  # two values, two classes
    >>> np.exp(BackOff(1.0).log_tables([n])).round(3)
    array([0.7  , 0.167, 0.3  , 0.833])
    """

    m: float | None = None

    def __post_init__(self) -> None:
        if self.m is not None and not (np.isfinite(self.m) and self.m > 0):
            raise BayeskitError(f"m must be a finite number above 0; got {self.m!r}.")

    def pseudo_count(self, n_cells: int) -> float:
        """Return the pseudo-count of each value of a single distribution, such as P(c)."""
        return BACK_OFF_ROOT / max(1, n_cells)

    def probabilities(self, counts: ArrayLike) -> NDArray[np.float64]:
        """Return (n_v + 1 / S) / (n + 1); the first axis runs over the values."""
        return MEstimate(BACK_OFF_ROOT).probabilities(counts)

    def log_tables(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return log P(value | parents, class) of each table, all numbers one after the other."""
        return self._tables(tables, 0)

    def log_tables_without_one(self, tables: Tables, n_cells: Sequence[int] | None = None) -> NDArray[np.float64]:
        """Return each cell's entry when one of its own rows is left out, in the form of :meth:`log_tables`."""
        return self._tables(tables, 1)

    def log_tables_of_others(self, tables: Tables) -> NDArray[np.float64]:
        """Return each cell's entry when a row of its value and of another class is left out, which changes P(x)."""
        return self._tables(tables, 2)

    def _tables(self, tables: Tables, left_out: int) -> NDArray[np.float64]:
        if not tables:
            return np.empty(0)
        grid = BACK_OFF_GRID if self.m is None else (float(self.m),)
        orders = [_parents_in_order(table) for table in tables]
        turned = [np.moveaxis(t, order, range(len(order))) for t, order in zip(tables, orders, strict=True)]
        threads = n_threads(sum(table.size for table in tables) * len(grid))
        shapes = [table.shape[:-1] for table in turned]
        flat, _ = back_off_tables(
            [t.ravel() for t in turned], shapes, tables[0].shape[-1], grid, BACK_OFF_ROOT, left_out, threads
        )
        if all(order == sorted(order) for order in orders):
            return flat
        ends = np.cumsum([table.size for table in turned])[:-1]
        parts = zip(np.split(flat, ends), turned, orders, strict=True)
        back = [np.moveaxis(part.reshape(t.shape), range(len(order)), order).ravel() for part, t, order in parts]
        return np.concatenate(back)


def _parents_in_order(table: NDArray[Any]) -> list[int]:
    """Return the axes of the parents, the most informative about the value given the class first."""
    n_parents = table.ndim - 2
    if n_parents < 2 or not table.size:
        return list(range(n_parents))

    def information(parent: int) -> float:
        rest = tuple(axis for axis in range(n_parents) if axis != parent)
        # Rounded, so that a tie goes to the first parent and not to the last bit.
        return round(conditional_mutual_information(table.sum(axis=rest)), 12)

    return sorted(range(n_parents), key=lambda parent: (-information(parent), parent))


@overload
def as_smoothing(smoothing: float | SymmetricSmoothing) -> SymmetricSmoothing: ...
@overload
def as_smoothing(smoothing: float | str | Smoothing) -> Smoothing: ...
def as_smoothing(smoothing: float | str | Smoothing) -> Smoothing:
    """Return a smoothing; a number is the λ of :class:`Lidstone`, and "back-off" is :class:`BackOff`.

    >>> as_smoothing(0.25)
    Lidstone(smoothing=0.25)
    """
    if isinstance(smoothing, Smoothing):
        return smoothing
    return BackOff() if smoothing == "back-off" else Lidstone(float(smoothing))
