"""What a classifier with a structure believes: P(c) and one table P(x_j | parents, c) per feature, ready to score."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import FamilyScorer, log_shares, n_threads
from bayeskit.counts.families import Families, FamilyCounts, sizes_of
from bayeskit.counts.values import ragged
from bayeskit.errors import TooLargeError
from bayeskit.estimate.discrete import dirichlet
from bayeskit.estimate.naive import Score
from bayeskit.table.encode import contiguous_low
from bayeskit.table.schema import Schema


@dataclass(frozen=True, eq=False)
class FamilyBeliefs:
    r"""log P(c) and log P(x_j | parents of j, c), estimated from counts with λ.

    .. math:: P(c) = \frac{|D_c| + λ}{N + Kλ} \qquad
              P(x_j \mid c, u) = \frac{|D_{c,u,x_j}| + λ}{|D_{c,u,\, x_j\ known}| + S_j λ}

    Families stand in an order in which parents come before their children. With ``super_parent`` the prior is that of
    the rows in which this feature i is known, with λ S_i in place of λ, so that P(c) P(x_i | c) is the smoothed joint
    (n + λ)/(N_i + λ K S_i) that AODE averages over.
    """

    counts: FamilyCounts
    families: Families
    smoothing: float
    smooth: bool = False
    super_parent: int = -1
    log_prior: NDArray[np.float64] = field(init=False)  # (n_classes,)
    # One array a family, of shape (values of each parent …, values of the feature, n_classes).
    log_tables: tuple[NDArray[np.float64], ...] = field(init=False)
    # Whether an array of numbers can be scored as it is, since all values are their own codes.
    in_place: bool = field(init=False)

    def __post_init__(self) -> None:
        n_class, class_pseudo = self._prior_counts()
        log_prior = _log(dirichlet(n_class, class_pseudo))
        sizes = sizes_of(self.counts.schema)
        counted = [self._counts_of(members) for members in self.families]
        n_values = [table.shape[-2] for table in counted]
        threads = n_threads(sum(table.size for table in counted))
        flat = log_shares([table.ravel() for table in counted], n_values, len(n_class), float(self.smoothing), threads)
        first = ragged([table.size for table in counted])
        tables = tuple(flat[first[f] : first[f + 1]].reshape(table.shape) for f, table in enumerate(counted))
        scorer = FamilyScorer(log_prior, flat, sizes, self.families, self.smooth, self.super_parent)
        in_place = not self.smooth and values_are_codes(self.counts.schema)
        made = {"log_prior": log_prior, "log_tables": tables, "in_place": in_place, "_scorer": scorer}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return FamilyBeliefs, (self.counts, self.families, self.smoothing, self.smooth, self.super_parent)

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first row that no class can give, and the first with an infinite number (or −1)."""
        infinite = first_infinite(table)
        try:
            scores, impossible = self._scorer.score(table, result, fallback, self._threads(table))  # type: ignore[attr-defined]
        except OverflowError as error:
            raise too_many_hidden(error) from None
        return scores, impossible, infinite

    def leave_one_out(
        self, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the log posterior of each counted row when that row is taken out of the counts."""
        given, threads = (columns, y, weight, *self._evidence()), self._threads(columns)
        try:
            posterior, _ = self._scorer.leave_one_out(*given, True, threads)  # type: ignore[attr-defined]
        except OverflowError as error:
            raise too_many_hidden(error) from None
        return np.asarray(posterior)

    def _evidence(self) -> tuple[NDArray[Any], ...]:
        n_class, class_pseudo = self._prior_counts()
        cells = np.concatenate([*(self._counts_of(members).ravel() for members in self.families), np.empty(0)])
        n_values = sum(size + self.smooth for size in sizes_of(self.counts.schema) if size)
        return n_class, cells, class_pseudo, np.full(n_values, float(self.smoothing))

    def _prior_counts(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        n_class, pseudo = self.counts.n_class, float(self.smoothing)
        if self.super_parent >= 0:
            known = self.counts.column(self.super_parent)
            n_class, pseudo = known.sum(axis=0), pseudo * (len(known) + self.smooth)
        return n_class, np.full(len(n_class), pseudo)

    def _counts_of(self, members: tuple[int, ...]) -> NDArray[Any]:
        table = self.counts.table(members)
        if not self.smooth:
            return table
        # One more level of each column, without rows, for values that were never seen.
        return np.pad(table, [(0, 1 if size else 0) for size in table.shape[:-1]] + [(0, 0)])

    @staticmethod
    def _threads(columns: list[NDArray[Any]] | NDArray[Any]) -> int:
        cells = columns.size if isinstance(columns, np.ndarray) else len(columns) * len(columns[0])
        return n_threads(cells * 4)


def too_many_hidden(error: OverflowError) -> TooLargeError:
    """Say what to do where a row's missing cells cannot be summed out in the memory that there is."""
    return TooLargeError(f"{error} Fill some of them in, or choose fewer parents.")


def values_are_codes(schema: Schema) -> bool:
    """Say whether every column holds the whole numbers 0, 1, 2, … without a gap, so that values need no codes."""
    return all(variable.is_discrete and contiguous_low(variable) == 0 for variable in schema)


def first_infinite(table: list[NDArray[Any]] | NDArray[Any]) -> int:
    """Return the first row of an array of numbers that holds an infinite one, or −1; codes are always finite."""
    if not isinstance(table, np.ndarray) or table.dtype.kind != "f":
        return -1
    rows = np.flatnonzero(np.isinf(table).any(axis=1))
    return int(rows[0]) if len(rows) else -1


def _log(p: NDArray[np.float64]) -> NDArray[np.float64]:
    # log 0 = -inf is meant: what was never seen, without smoothing, is impossible.
    with np.errstate(divide="ignore"):
        return np.log(p)
