"""Averaged one-dependence estimators with back-off: the tables of every SPODE, smoothed towards naive Bayes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import Score
from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.defaults import PRIOR
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.smoothing import BackOff


@dataclass(frozen=True, eq=False)
class BackOffAverage:
    r"""The mean over super-parents u of P(c) P(x_u | c) ∏ P(x_j | c, x_u), each table with back-off.

    .. math:: P(x_j \mid c, x_u) = \frac{n(x_j, c, x_u) + m_1 P(x_j \mid c)}{n(c, x_u) + m_1} \qquad
              P(x_j \mid c) = \frac{n(x_j, c) + m_0 P(x_j)}{n(c) + m_0}

    A known super-parent whose value has fewer than ``min_count`` rows is left out; where none is left, the tables
    without super-parent are used.
    """

    counts: FamilyCounts
    smoothing: BackOff
    min_count: float
    smooth: bool = False
    prior: Any = PRIOR  # P(c) of each SPODE, as in :class:`FamilyBeliefs`
    in_place: bool = field(init=False, default=False)

    @cached_property
    def members(self) -> dict[int, FamilyBeliefs]:
        """The SPODE of each feature that has a value."""
        known = [j for j, size in enumerate(sizes_of(self.counts.schema)) if size]
        return {i: self._beliefs(((i,), *((i, j) for j in known if j != i)), i) for i in known}

    @cached_property
    def without_parent(self) -> FamilyBeliefs:
        """Naive Bayes with the same smoothing."""
        return self._beliefs(tuple((j,) for j, size in enumerate(sizes_of(self.counts.schema)) if size), -1)

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """Log P(c), of shape (n_classes,)."""
        return self.without_parent.log_prior

    def __reduce__(self) -> tuple[Any, ...]:
        return BackOffAverage, (self.counts, self.smoothing, self.min_count, self.smooth, self.prior)

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, and −1 twice: no row is impossible, and codes are never infinite."""
        columns = table if isinstance(table, list) else list(table.T)
        joint = self._mean(columns, None, lambda member: member.score(columns, Score.LOG_JOINT)[0])
        return _as_asked(joint, result), -1, -1

    def leave_one_out(
        self, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the log posterior of each counted row when that row is taken out of the counts."""
        joint = self._mean(columns, y, lambda member: member.scores_left_out(columns, y, weight, Score.LOG_JOINT))
        return _as_asked(joint, Score.LOG_POSTERIOR)

    def _mean(self, columns: list[NDArray[Any]], y: NDArray[Any] | None, joint_of: Any) -> NDArray[np.float64]:
        """Return log P(x, c), the mean over the super-parents that qualify for each row."""
        n_rows, sizes = len(columns[0]), sizes_of(self.counts.schema)
        total = np.full((n_rows, len(self.counts.n_class)), -np.inf)
        n_parts = np.zeros(n_rows)
        for i, member in self.members.items():
            rows = self.counts.column(i).sum(axis=1).astype(np.float64) - (0.0 if y is None else 1.0)
            enough = np.append(rows, 0.0) >= self.min_count
            level = np.minimum(columns[i], np.asarray(sizes[i]).astype(columns[i].dtype))
            unknown = (level == sizes[i]) & (not self.smooth)
            # With a slot for unseen values only a missing cell is unknown.
            if self.smooth:
                unknown = columns[i] == np.iinfo(columns[i].dtype).max
            takes_part = unknown | enough[level]
            if takes_part.any():
                joint = np.where(takes_part[:, None], joint_of(member), -np.inf)
                total = np.logaddexp(total, joint)
                n_parts += takes_part
        none = np.flatnonzero(n_parts == 0)
        if len(none):
            total[none] = joint_of(self.without_parent)[none]
        return np.asarray(total - np.log(np.maximum(n_parts, 1.0))[:, None])

    def _beliefs(self, families: Any, super_parent: int) -> FamilyBeliefs:
        return FamilyBeliefs(self.counts, families, self.smoothing, self.smooth, super_parent, self.prior)


def _as_asked(joint: NDArray[np.float64], result: Score) -> NDArray[Any]:
    if result == Score.LOG_JOINT:
        return joint
    if result == Score.CLASS:
        return np.asarray(joint.argmax(axis=1))
    # Shifted by the row's peak, exp() cannot overflow and one term is 1; no row is impossible.
    peak = joint.max(axis=1, keepdims=True)
    evidence = peak + np.log(np.exp(joint - peak).sum(axis=1, keepdims=True))
    if result == Score.LOG_EVIDENCE:
        return np.asarray(evidence[:, 0])
    posterior = joint - evidence
    return np.asarray(posterior if result == Score.LOG_POSTERIOR else np.exp(posterior))
