"""The event models of naive Bayes over counts of features: how sums become weights, also with a row left out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut, less

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class FeatureSums:
    """The sums of all rows, with pseudo-counts."""

    n: Numbers  # (n_classes, n_features)
    n_class: Numbers  # (n_classes,)
    pseudo: Numbers  # (n_features,)
    # Features without a sum that the model knows of: the empty buckets of a hashed vocabulary.
    n_empty: int = 0

    @property
    def size(self) -> int:
        """How many features the model knows of."""
        return int(self.n.shape[1]) + self.n_empty

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


@dataclass(frozen=True)
class FeatureRows:
    """Rows that are left out one after the other, in compressed rows without zeros."""

    indptr: NDArray[np.int64]  # (n_rows + 1,)
    feature: NDArray[np.int64]  # (n_cells,)
    value: Numbers  # (n_cells,) what a row is scored by
    counted: Numbers  # (n_cells,) what it added to the sums of its class
    left: LeftOut
    log_prior: Numbers  # (n_rows, n_classes) without the row
    # How many tokens of each row are outside the vocabulary, where these count too.
    others: Numbers | None = None

    @cached_property
    def row(self) -> NDArray[np.int64]:
        """The row of each cell."""
        return np.repeat(np.arange(len(self.left)), np.diff(self.indptr))

    def sums(self, values: Numbers) -> Numbers:
        """Return the sum of one number per cell, row by row."""
        return np.bincount(self.row, values, len(self.left)).astype(np.float64)


class Weights(NamedTuple):
    """log P(x, c) = bias(c) + Σ_j x_j · weight(c, j)."""

    log_prob: Numbers  # (n_classes, n_features), as scikit-learn shows it
    weight: Numbers  # (n_classes, n_features); twice as many where absent features have weights of their own
    bias: Numbers  # (n_classes,)


class EventModel(ABC):
    """P(x | c) of a row of counts x."""

    @abstractmethod
    def weights(self, sums: FeatureSums, log_prior: Numbers) -> Weights:
        """Estimate the weights of the features."""

    @abstractmethod
    def log_joint_left_out(self, sums: FeatureSums, rows: FeatureRows) -> Numbers:
        """Return log P(x, c), of shape (n_rows, n_classes), each row by the sums of the others."""


class Multinomial(EventModel):
    """P(w | c) = (n_wc + α_w) / (n_c + Σ α): a row is a sequence of independent features."""

    def weights(self, sums: FeatureSums, log_prior: Numbers) -> Weights:
        """Return log P(w | c)."""
        smoothed = sums.n + sums.pseudo
        with np.errstate(divide="ignore", invalid="ignore"):
            log_prob = np.log(smoothed) - np.log(smoothed.sum(axis=1, keepdims=True))
        log_prob[np.isnan(log_prob)] = -np.log(sums.size)  # a class without a count says nothing
        return Weights(log_prob, log_prob, log_prior)

    def log_joint_left_out(self, sums: FeatureSums, rows: FeatureRows) -> Numbers:
        """Return log P(x, c): only cells of the row's own class change, so that the others are scored as ever."""
        y = rows.left.y
        size = sums.n.sum(axis=1) + sums.pseudo_sum
        with np.errstate(invalid="ignore"):
            table = _log(sums.n + sums.pseudo) - _log(size)[:, None]
        table[np.isnan(table)] = -np.log(sums.size)  # a class without a count says nothing
        log_joint = np.stack([rows.sums(rows.value * table[c, rows.feature]) for c in range(len(size))], axis=1)
        left = less(sums.n[y[rows.row], rows.feature], rows.counted) + sums.pseudo[rows.feature]
        left_size = less(sums.n.sum(axis=1)[y], rows.sums(rows.counted)) + sums.pseudo_sum
        others = np.zeros(len(y)) if rows.others is None else rows.others
        with np.errstate(invalid="ignore"):
            of_class = rows.sums(rows.value * _log(left)) - rows.sums(rows.value) * _log(left_size)
            of_class = np.where(left_size > 0, of_class, -rows.sums(rows.value) * np.log(sums.size))
        if others.any():
            log_joint += others[:, None] * (sums.log_of_empty - _log(size))
            of_class += others * (sums.log_of_empty - _log(left_size))
        log_joint[np.arange(len(y)), y] = of_class
        return np.asarray(log_joint + rows.log_prior)


class Bernoulli(EventModel):
    """P(x_w = 1 | c) = (N_wc + α_w) / (N_c + 2 α_w): a row is which features it has; absent ones count too."""

    def weights(self, sums: FeatureSums, log_prior: Numbers) -> Weights:
        """Return log p − log (1 − p), and Σ log (1 − p) in the bias."""
        n_class = sums.n_class[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_all = np.log(n_class + 2 * sums.pseudo)
            present = np.log(sums.n + sums.pseudo) - log_all
            # From the counts, and not as 1 − p, which rounds to nothing where p is near 1.
            absent = np.log(np.maximum(n_class - sums.n, 0.0) + sums.pseudo) - log_all
            present[np.isnan(present)] = absent[np.isnan(absent)] = np.log(0.5)  # a class without a row says nothing
            if np.isneginf(absent).any():  # a feature is certain, so that −∞ has to be told apart
                return Weights(present, np.hstack([present, absent]), log_prior)
            return Weights(present, present - absent, log_prior + absent.sum(axis=1))

    def log_joint_left_out(self, sums: FeatureSums, rows: FeatureRows) -> Numbers:
        """Return log P(x, c): without a row of class c the number of its rows is smaller for all features.

        The sum over the absent ones is that over all features less those that the row has.
        """
        y, n_rows, pseudo = rows.left.y, len(rows.left), sums.pseudo
        log_joint = np.empty((n_rows, len(sums.n_class)))
        of_cell = rows.left.taken_out[rows.row]
        for c, (n, all_rows) in enumerate(zip(sums.n, sums.n_class, strict=True)):
            amount = np.where(y == c, rows.left.taken_out, 0.0)
            for taken_out in np.unique(amount).tolist():
                chosen = amount == taken_out
                cells = chosen[rows.row]
                left = max(0.0, float(all_rows) - taken_out)
                total = _log(left + 2 * pseudo)
                with np.errstate(invalid="ignore"):
                    absent = _log(less(np.full(len(n), left), n) + pseudo) - total
                    taken = of_cell[cells] if taken_out else 0.0
                    present = _log(less(n[rows.feature[cells]], taken) + pseudo[rows.feature[cells]])
                    present -= total[rows.feature[cells]]
                # A class without a row says nothing.
                absent[np.isnan(absent)] = present[np.isnan(present)] = np.log(0.5)
                score = np.bincount(rows.row[cells], present, n_rows) + _sum_without(absent, rows, cells)
                log_joint[chosen, c] = score[chosen]
        return np.asarray(log_joint + rows.log_prior)


@dataclass(frozen=True)
class Complement(EventModel):
    """−log((n_w − n_wc + α_w) / (n − n_c + Σ α)): a feature speaks for a class when the other classes lack it."""

    norm: bool = False  # whether the weights of a class are divided by the sum of their absolute values

    def weights(self, sums: FeatureSums, log_prior: Numbers) -> Weights:
        """Return the weights; the prior is used only where there is one class."""
        rest = sums.n.sum(axis=0) - sums.n + sums.pseudo
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(rest) - np.log(rest.sum(axis=1, keepdims=True))
            logs[np.isnan(logs)] = -np.log(sums.size)  # nothing is known of the other classes
            weight = logs / logs.sum(axis=1, keepdims=True) if self.norm else -logs
        return Weights(weight, weight, log_prior if len(log_prior) == 1 else np.zeros(len(log_prior)))

    def log_joint_left_out(self, sums: FeatureSums, rows: FeatureRows) -> Numbers:
        """Return the scores: the sums of all the other classes change for each class but the row's own."""
        (n_classes, n_features), y = sums.n.shape, rows.left.y
        whole, value_sum = sums.n.sum(axis=0), rows.sums(rows.value)
        log_joint = np.empty((len(y), n_classes))
        for c in range(n_classes):
            rest = np.maximum(whole - sums.n[c], 0.0)
            taken = np.where(y[rows.row] == c, 0.0, rows.counted)
            size = _log(less(np.full(len(y), rest.sum()), rows.sums(taken)) + sums.pseudo_sum)
            left = _log(less(rest[rows.feature], taken) + sums.pseudo[rows.feature])
            nothing = np.isneginf(size)  # nothing is known of the other classes
            even = -np.log(sums.size)
            with np.errstate(invalid="ignore"):
                logs = rows.sums(rows.value * left) - value_sum * size
                if rows.others is not None:
                    logs += np.where(rows.others > 0, rows.others * (sums.log_of_empty - size), 0.0)
                scale = -1.0
                if self.norm:
                    before = _log(rest + sums.pseudo)
                    total = before.sum() - rows.sums(before[rows.feature] - left) - n_features * size
                    if sums.n_empty:
                        total = total + sums.n_empty * (sums.log_of_empty - size)
                    scale = 1.0 / np.where(nothing, sums.size * even, total)
            log_joint[:, c] = scale * np.where(nothing, value_sum * even, logs)
        return log_joint if n_classes > 1 else rows.log_prior.copy()


def _sum_without(absent: Numbers, rows: FeatureRows, cells: NDArray[np.bool_]) -> Numbers:
    """Return Σ over the features that a row does not have; −∞ is counted apart, since ∞ − ∞ is no number."""
    never = np.isneginf(absent)
    finite = np.where(never, 0.0, absent)
    here, row = rows.feature[cells], rows.row[cells]
    rest = finite.sum() - np.bincount(row, finite[here], len(rows.left))
    impossible = never.sum() - np.bincount(row, never[here], len(rows.left)) > 0
    return np.where(impossible, -np.inf, rest)


def _log(p: Numbers) -> Numbers:
    # log 0 = -inf is meant: what was never seen, without smoothing, is impossible.
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(p))
