"""Averaged n-dependence estimators: counts of pairs (and triples), from which every SPODE is computed."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import AverageScorer, Score, n_threads
from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.defaults import PRIOR
from bayeskit.estimate.discrete import dirichlet
from bayeskit.estimate.families import first_infinite, values_are_codes
from bayeskit.estimate.prior import class_prior
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing


@dataclass(frozen=True, eq=False)
class AverageBeliefs:
    r"""The mean over super-parents u of P(c, x_u) ∏ P(x_j | c, x_u), straight from the counts.

    .. math:: P(c, x_u) = \frac{|D_{c,x_u}| + λ}{N_u + λ K S_u} \qquad
              P(x_j \mid c, x_u) = \frac{|D_{c,x_u,x_j}| + λ}{|D_{c,x_u,\, x_j\ known}| + λ S_j}

    N_u is the number of rows in which x_u is known. u is one feature, or a pair of them where triples were counted.
    Another ``prior`` takes the place of the P(c) in P(c, x_u) = P(c) P(x_u | c), for each u.
    """

    counts: FamilyCounts
    smoothing: float | SymmetricSmoothing
    min_count: float
    smooth: bool = False
    # P(c): "smoothed" as above, "data" without λ, "uniform" or given, as in :func:`class_prior`.
    prior: Any = PRIOR
    log_prior: NDArray[np.float64] = field(init=False)  # (n_classes,)
    # Whether an array of numbers can be scored as it is, since all values are their own codes.
    in_place: bool = field(init=False)

    def __post_init__(self) -> None:
        counts, smoothing, n_classes = self.counts, as_smoothing(self.smoothing), len(self.counts.n_class)
        prior = class_prior(counts.n_class, self.prior, self.smoothing, counts.classes)
        learned = isinstance(self.prior, str) and self.prior != "uniform"
        with np.errstate(divide="ignore"):
            log_prior = np.log(prior)
        levels = [size + self.smooth if size else 0 for size in sizes_of(counts.schema)]
        pairs = combinations(levels, 2) if counts.kind == "triples" else ()
        # The kernel reads four-byte counts or weights; longer counts are exact as floats far beyond any table.
        cells = counts.cells if counts.cells.dtype != np.int64 else counts.cells.astype(np.float64)
        n_pair_cells = len(counts.pairs)
        scorer = AverageScorer(
            counts.n_class,
            counts.alone.values.n_value.ravel(),
            cells[:n_pair_cells],
            cells[n_pair_cells:] if counts.kind == "triples" else None,
            sizes_of(counts.schema),
            smoothing.pseudo_count(n_classes),
            [smoothing.pseudo_count(size) for size in levels],
            [smoothing.pseudo_count(n_classes * size) for size in levels],
            [smoothing.pseudo_count(n_classes * a * b) for a, b in pairs],
            None if learned else prior,
            learned and self.prior == "data",
            float(self.min_count),
            self.smooth,
        )
        object.__setattr__(self, "log_prior", log_prior)
        object.__setattr__(self, "in_place", not self.smooth and values_are_codes(counts.schema))
        object.__setattr__(self, "_scorer", scorer)

    def __reduce__(self) -> tuple[Any, ...]:
        return AverageBeliefs, (self.counts, self.smoothing, self.min_count, self.smooth, self.prior)

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first impossible row and the first row with an infinite number (or −1)."""
        infinite = first_infinite(table)
        scores, impossible = self._scorer.score(table, result, fallback, self._threads(table))  # type: ignore[attr-defined]
        return scores, impossible, infinite

    def leave_one_out(
        self, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the log posterior of each counted row when that row is taken out of the counts."""
        posterior, _ = self._scorer.leave_one_out(columns, y, weight, True, self._threads(columns))  # type: ignore[attr-defined]
        return np.asarray(posterior)

    @staticmethod
    def _threads(columns: list[NDArray[Any]] | NDArray[Any]) -> int:
        n_rows, n_columns = columns.shape if isinstance(columns, np.ndarray) else (len(columns[0]), len(columns))
        return n_threads(n_columns**2 * n_rows)


def parent_joint(
    n: NDArray[Any], smoothing: float | SymmetricSmoothing, prior: Any, classes: NDArray[Any]
) -> NDArray[np.float64]:
    """Return P(u, c) of a super-parent from its counts, in their shape, with the classes on the last axis.

    >>> parent_joint(np.array([[2, 0], [1, 1]]), 0.0, [0.5, 0.5], np.array(["no", "yes"]))
    array([[0.33333333, 0.        ],
           [0.16666667, 0.5       ]])
    """
    pseudo = as_smoothing(smoothing).pseudo_count(n.size)
    if isinstance(prior, str) and prior == "smoothed":
        return dirichlet(n.ravel(), pseudo).reshape(n.shape)
    cells = n.reshape(-1, len(classes))
    return (dirichlet(cells, pseudo) * class_prior(cells.sum(axis=0), prior, 0.0, classes)).reshape(n.shape)
