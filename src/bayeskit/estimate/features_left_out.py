"""Naive Bayes over counts of features: log P(x, c) of each row by the sums of the other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class LeftRows:
    """Rows that are left out one after the other, in compressed rows without zeros."""

    indptr: NDArray[np.int64]  # (n_rows + 1,)
    feature: NDArray[np.int64]  # (n_cells,)
    value: Numbers  # (n_cells,) what a row is scored by
    counted: Numbers  # (n_cells,) what it added to the sums of its class
    y: NDArray[np.int64]  # (n_rows,)
    own: Numbers  # (n_rows,) what it added to the rows of its class
    log_prior: Numbers  # (n_rows, n_classes) without the row
    # How many tokens of each row are outside the vocabulary, where these count too.
    others: Numbers | None = None

    @property
    def row(self) -> NDArray[np.int64]:
        """The row of each cell."""
        return np.repeat(np.arange(len(self.y)), np.diff(self.indptr))

    def sums(self, values: Numbers) -> Numbers:
        """Return the sum of one number per cell, row by row."""
        return np.bincount(self.row, values, len(self.y)).astype(np.float64)


@dataclass(frozen=True)
class FeatureSums:
    """The sums of all rows, with pseudo-counts."""

    n: Numbers  # (n_classes, n_features)
    n_class: Numbers  # (n_classes,)
    pseudo: Numbers  # (n_features,)
    # Features without a sum that the model knows of: the empty buckets of a hashed vocabulary.
    n_empty: int = 0

    @property
    def pseudo_sum(self) -> float:
        """The pseudo-counts of all features."""
        return float(self.pseudo.sum()) + self.n_empty * self._of_empty

    @property
    def _of_empty(self) -> float:
        return float(self.pseudo[0]) if len(self.pseudo) else 0.0

    @property
    def log_of_empty(self) -> float:
        """The logarithm of the pseudo-count of a feature without a sum."""
        return float(_log(np.array(self._of_empty)))


def multinomial_left_out(sums: FeatureSums, rows: LeftRows) -> Numbers:
    r"""Return log P(x, c) with P(w | c) = (n_wc + α_w) / (n_c + Σ α); of the class of a row, n without the row.

    Only cells of the row's own class change, so that the other classes are scored as ever.
    """
    size = sums.n.sum(axis=1) + sums.pseudo_sum
    with np.errstate(invalid="ignore"):
        table = _log(sums.n + sums.pseudo) - _log(size)[:, None]
    table[np.isnan(table)] = -np.log(sums.n.shape[1] + sums.n_empty)  # a class without a count says nothing
    log_joint = np.stack([rows.sums(rows.value * table[c, rows.feature]) for c in range(len(size))], axis=1)
    left = _less(sums.n[rows.y[rows.row], rows.feature], rows.counted) + sums.pseudo[rows.feature]
    left_size = _less(sums.n.sum(axis=1)[rows.y], rows.sums(rows.counted)) + sums.pseudo_sum
    others = np.zeros(len(rows.y)) if rows.others is None else rows.others
    with np.errstate(invalid="ignore"):
        own = rows.sums(rows.value * _log(left)) - rows.sums(rows.value) * _log(left_size)
        own = np.where(left_size > 0, own, -rows.sums(rows.value) * np.log(sums.n.shape[1] + sums.n_empty))
    if others.any():
        log_joint += others[:, None] * (sums.log_of_empty - _log(size))
        own += others * (sums.log_of_empty - _log(left_size))
    log_joint[np.arange(len(rows.y)), rows.y] = own
    return np.asarray(log_joint + rows.log_prior)


def bernoulli_left_out(sums: FeatureSums, rows: LeftRows) -> Numbers:
    r"""Return log P(x, c) with P(x_w = 1 | c) = (N_wc + α_w) / (N_c + 2 α_w), where absent features count too.

    Without a row of class c the number of its rows is smaller for all features. The sum over the absent ones is that
    over all features less those that the row has.
    """
    n_rows, pseudo = len(rows.y), sums.pseudo
    log_joint = np.empty((n_rows, len(sums.n_class)))
    mine = rows.own[rows.row]
    for c, (n, all_rows) in enumerate(zip(sums.n, sums.n_class, strict=True)):
        for own in np.unique(np.where(rows.y == c, rows.own, 0.0)).tolist():
            chosen = np.where(rows.y == c, rows.own, 0.0) == own
            cells = chosen[rows.row]
            left = max(0.0, float(all_rows) - own)
            total = _log(left + 2 * pseudo)
            with np.errstate(invalid="ignore"):
                absent = _log(_less(np.full(len(n), left), n) + pseudo) - total
                taken = mine[cells] if own else 0.0
                present = _log(_less(n[rows.feature[cells]], taken) + pseudo[rows.feature[cells]])
                present -= total[rows.feature[cells]]
            absent[np.isnan(absent)] = present[np.isnan(present)] = np.log(0.5)  # a class without a row says nothing
            score = np.bincount(rows.row[cells], present, n_rows) + _sum_without(absent, rows, cells)
            log_joint[chosen, c] = score[chosen]
    return np.asarray(log_joint + rows.log_prior)


def _sum_without(absent: Numbers, rows: LeftRows, cells: NDArray[np.bool_]) -> Numbers:
    """Return Σ over the features that a row does not have; −∞ is counted apart, since ∞ − ∞ is no number."""
    never = np.isneginf(absent)
    finite = np.where(never, 0.0, absent)
    here, row = rows.feature[cells], rows.row[cells]
    rest = finite.sum() - np.bincount(row, finite[here], len(rows.y))
    impossible = never.sum() - np.bincount(row, never[here], len(rows.y)) > 0
    return np.where(impossible, -np.inf, rest)


def complement_left_out(sums: FeatureSums, rows: LeftRows, norm: bool) -> Numbers:
    r"""Return the scores of the complement model: −Σ x_w log((n_w − n_wc + α_w) / (n − n_c + Σ α)).

    The sums of all the other classes change for each class but the row's own.
    """
    n_classes, n_features = sums.n.shape
    whole, value_sum = sums.n.sum(axis=0), rows.sums(rows.value)
    log_joint = np.empty((len(rows.y), n_classes))
    for c in range(n_classes):
        rest = np.maximum(whole - sums.n[c], 0.0)
        taken = np.where(rows.y[rows.row] == c, 0.0, rows.counted)
        size = _log(_less(np.full(len(rows.y), rest.sum()), rows.sums(taken)) + sums.pseudo_sum)
        left = _log(_less(rest[rows.feature], taken) + sums.pseudo[rows.feature])
        nothing = np.isneginf(size)  # nothing is known of the other classes
        even = -np.log(n_features + sums.n_empty)
        with np.errstate(invalid="ignore"):
            logs = rows.sums(rows.value * left) - value_sum * size
            if rows.others is not None:
                logs += np.where(rows.others > 0, rows.others * (sums.log_of_empty - size), 0.0)
            scale = -1.0
            if norm:
                before = _log(rest + sums.pseudo)
                total = before.sum() - rows.sums(before[rows.feature] - left) - n_features * size
                if sums.n_empty:
                    total = total + sums.n_empty * (sums.log_of_empty - size)
                scale = 1.0 / np.where(nothing, (n_features + sums.n_empty) * even, total)
        log_joint[:, c] = scale * np.where(nothing, value_sum * even, logs)
    return log_joint if n_classes > 1 else rows.log_prior.copy()


def _less(n: Numbers, taken: Any) -> Numbers:
    """Return what is left; sums of weights leave rounding where nothing is left."""
    rest = n - taken
    return np.where(rest <= 1e-12 * np.abs(n), 0.0, rest)


def _log(p: Numbers) -> Numbers:
    # log 0 = -inf is meant: what was never seen, without smoothing, is impossible.
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))
