"""The probabilities of a classifier with a structure: P(c) and one table P(x_j | parents, c) per feature."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import FamilyScorer, Score, n_threads
from bayeskit.counts.families import Families, FamilyCounts, sizes_of
from bayeskit.counts.values import ragged
from bayeskit.defaults import PRIOR
from bayeskit.errors import BayeskitError, warn_caller
from bayeskit.estimate.discrete import dirichlet
from bayeskit.estimate.prior import class_prior
from bayeskit.estimate.smoothing import BackOff, Smoothing, as_smoothing
from bayeskit.table.encode import contiguous_low
from bayeskit.table.schema import Schema

# A given prior counts as coming from so many rows that one row makes no difference.
MANY_ROWS = 2.0**70


@dataclass(frozen=True, eq=False)
class FamilyBeliefs:
    r"""log P(c) and log P(x_j | parents of j, c), estimated from counts with λ.

    .. math:: P(c) = \frac{|D_c| + λ}{N + Kλ} \qquad
              P(x_j \mid c, u) = \frac{|D_{c,u,x_j}| + λ}{|D_{c,u,\, x_j\ known}| + S_j λ}

    Families are in an order in which parents come before their children. With ``super_parent`` the prior is that of
    the rows in which this feature i is known, with λ S_i in place of λ, so that P(c) P(x_i | c) is the smoothed joint
    (n + λ)/(N_i + λ K S_i) that AODE averages over; another ``prior`` replaces that P(c). Another smoothing
    has its own pseudo-counts in place of λ.
    """

    counts: FamilyCounts
    families: Families
    smoothing: float | str | Smoothing
    smooth: bool = False
    super_parent: int = -1
    # P(c): "smoothed" as above, "data" without λ, "uniform" or given, as in :func:`class_prior`.
    prior: Any = PRIOR
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
        flat = as_smoothing(self.smoothing).log_tables(counted, self._n_cells(counted))
        first = ragged([table.size for table in counted])
        tables = tuple(flat[first[f] : first[f + 1]].reshape(table.shape) for f, table in enumerate(counted))
        scorer = FamilyScorer(log_prior, flat, sizes, self.families, self.smooth, self.super_parent)
        in_place = not self.smooth and values_are_codes(self.counts.schema)
        made = {"log_prior": log_prior, "log_tables": tables, "in_place": in_place, "_scorer": scorer}
        for name, value in made.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        return FamilyBeliefs, (
            self.counts,
            self.families,
            self.smoothing,
            self.smooth,
            self.super_parent,
            self.prior,
        )

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first impossible row and the first row with an infinite number (or −1)."""
        infinite = first_infinite(table)
        threads = self._threads(table)
        scores, impossible, left = self._scorer.score(table, result, fallback, threads)  # type: ignore[attr-defined]
        return without_too_large(scores, result, left), impossible, infinite

    def leave_one_out(
        self, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the log posterior of each counted row when that row is taken out of the counts."""
        return self.scores_left_out(columns, y, weight, Score.LOG_POSTERIOR)

    def scores_left_out(
        self, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None, wanted: Score
    ) -> NDArray[np.float64]:
        """Return a score of each counted row when that row is taken out of the counts."""
        counted = [self._counts_of(members) for members in self.families]
        smoothing = as_smoothing(self.smoothing)
        log_without = log_other = None
        if isinstance(smoothing, BackOff):
            refuse_parts_of_rows(weight)
            log_without, log_other = (
                smoothing.log_tables_without_one(counted),
                smoothing.log_tables_of_others(counted),
            )
        # Where every row counts once, what a cell gives without one of its rows is the same for all of them.
        elif weight is None and sum(table.size for table in counted) < len(y) * len(counted):
            log_without = smoothing.log_tables_without_one(counted, self._n_cells(counted))
        given = (columns, y, weight, *self._evidence(counted), log_without, log_other, wanted)
        scores, _, left = self._scorer.leave_one_out(*given, True, self._threads(columns))  # type: ignore[attr-defined]
        return without_too_large(scores, wanted, left)

    def _evidence(self, counted: list[NDArray[Any]]) -> tuple[NDArray[Any], ...]:
        n_class, class_pseudo = self._prior_counts()
        cells = np.concatenate([*(table.ravel() for table in counted), np.empty(0)])
        sizes, smoothing = self._levels(), as_smoothing(self.smoothing)
        cells_of = dict(zip((members[-1] for members in self.families), self._n_cells(counted), strict=True))
        pseudo = [smoothing.pseudo_count(cells_of.get(j, size)) for j, size in enumerate(sizes)]
        return n_class, cells, class_pseudo, np.repeat(pseudo, sizes)

    def _levels(self) -> list[int]:
        return [size + self.smooth if size else 0 for size in sizes_of(self.counts.schema)]

    def _n_cells(self, counted: list[NDArray[Any]]) -> list[int]:
        """Return the cells of each table's distribution: its values, or the joint of class and super-parent."""
        joint = len(self.counts.n_class)
        return [
            table.shape[-2] * (joint if members[-1] == self.super_parent else 1)
            for members, table in zip(self.families, counted, strict=True)
        ]

    def _prior_counts(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        n_values = self._levels()[self.super_parent] if self.super_parent >= 0 else 1
        smoothing = as_smoothing(self.smoothing)
        n_class, pseudo = prior_counts(self.counts, smoothing, self.prior, self.super_parent, n_values)
        return n_class, np.full(len(n_class), pseudo)

    def _counts_of(self, members: tuple[int, ...]) -> NDArray[Any]:
        table = self.counts.table(members)
        return with_unseen(table) if self.smooth else table

    @staticmethod
    def _threads(columns: list[NDArray[Any]] | NDArray[Any]) -> int:
        cells = columns.size if isinstance(columns, np.ndarray) else len(columns) * len(columns[0])
        return n_threads(cells * 4)


def prior_counts(
    counts: FamilyCounts, smoothing: Smoothing, prior: Any, super_parent: int, n_values: int
) -> tuple[NDArray[Any], float]:
    """Return the rows of each class that P(c) is estimated from, and the pseudo-count of a class.

    With a super-parent (−1 is none) of so many values these are the rows in which it is known, and the pseudo-count is
    that of all its cells. A given prior counts as very many rows.
    """
    n_class = counts.n_class
    if not isinstance(prior, str) or prior == "uniform":
        return class_prior(n_class, prior, smoothing, counts.classes) * MANY_ROWS, 0.0
    pseudo = smoothing.pseudo_count(len(n_class))
    if super_parent >= 0:
        pseudo = smoothing.pseudo_count(len(n_class) * n_values) * n_values
        n_class = counts.column(super_parent).sum(axis=0)
    return n_class, pseudo if prior == "smoothed" else 0.0


def refuse_parts_of_rows(weight: NDArray[np.float64] | None) -> None:
    """Raise an error for weights below 1 in leave-one-out with back-off, whose tables leave out one whole row."""
    if weight is not None and len(low := np.flatnonzero((weight > 0) & (weight < 1))):
        raise BayeskitError(
            f"row {low[0]} has the weight {weight[low[0]]:g}; leave_one_out with back-off takes whole rows out, so "
            "that weights must be at least 1. Use a number as smoothing, or larger weights."
        )


def with_unseen(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table of counts with one more level of each column, without rows, for values that were never seen."""
    return np.pad(table, [(0, 1 if size else 0) for size in table.shape[:-1]] + [(0, 0)])


def without_too_large(scores: NDArray[Any], result: Score, rows: list[int]) -> NDArray[Any]:
    """Warn of the rows with too many missing cells to be summed out.

    Their posterior comes from the features whose parents are all known; their P(x, c) is NaN.
    """
    if not rows:
        return scores
    if result in (Score.LOG_JOINT, Score.LOG_EVIDENCE):
        scores[rows] = np.nan
    warn_caller(
        f"{named_rows(rows)}: summing out the missing cells needs too large a table, so that "
        "features with a missing parent are left out there and log P(x) is NaN. Fill cells in, or choose fewer parents."
    )
    return scores


def named_rows(rows: list[int]) -> str:
    """Return rows by their numbers, the first five of them.

    >>> named_rows([3]), named_rows([0, 1, 2, 3, 4, 5, 6])
    ('row 3', 'rows 0, 1, 2, 3, 4 and 2 more')
    """
    shown = ", ".join(map(str, rows[:5])) + (f" and {len(rows) - 5} more" if len(rows) > 5 else "")
    return f"row{'s' if len(rows) > 1 else ''} {shown}"


def values_are_codes(schema: Schema) -> bool:
    """Return whether every column holds the whole numbers 0, 1, 2, … without a gap, so that values need no codes."""
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
