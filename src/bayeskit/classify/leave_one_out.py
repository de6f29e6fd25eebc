"""Leave-one-out: each training row predicted without itself, from the counts of one fit."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.decide.posterior import log_posterior
from bayeskit.errors import BayeskitError, TableError
from bayeskit.estimate.prior import log_prior_left_out
from bayeskit.learn.checks import check_columns, in_order, rows_and_labels, split_target, target_of
from bayeskit.learn.learner import Learner
from bayeskit.result import Result
from bayeskit.table.encode import encode
from bayeskit.table.labels import read_labels, read_weight

# Classes whose log posteriors differ by less are a tie, of which the first is taken: the last bits of a sum of
# logarithms depend on the order in which they are added.
TIED_CLASSES = 1e-9


@dataclass(frozen=True, eq=False)
class LeaveOneOut(Result):
    """The scores of leave-one-out; structure, bins and levels are kept."""

    error: float
    log_loss: float
    # The root of the mean of (1 − P(true class))².
    rmse: float
    log_posterior: NDArray[np.float64]  # (n_rows, n_classes)

    def __repr__(self) -> str:
        return f"LeaveOneOut(error={self.error:.6g}, log_loss={self.log_loss:.6g}, rmse={self.rmse:.6g})"


NEEDS_LABELS = "leave_one_out of {} needs the labels of the rows"


class LeavesOneOut(Learner):
    """A classifier whose counts can subtract any training row, so that each row can be predicted without itself."""

    def leave_one_out(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> LeaveOneOut:
        """Return error, log-loss and RMSE on the rows of the fit, each predicted without itself.

        One pass subtracts each row from the counts; structure, bins, levels and vocabulary stay those of all rows. The
        rows must be rows that the model has learned from. A row of integer weight w counts as w copies, of which one
        is left out. A row that has probability 0 under every class without itself (smoothing 0) gets the prior. With
        ``class_weight`` the counts are weighted and a row cannot be subtracted, so this is an error.

        Examples
        --------
        >>> from bayeskit import NaiveBayes, datasets
        >>> tennis = datasets.load_tennis()
        >>> NaiveBayes().fit(tennis, target="play").leave_one_out(tennis, target="play").error
        0.5
        """
        model = self._now()
        model._refuse_what_cannot_be_subtracted()
        posteriors, lefts = [], []
        for rows, labels, weight, n_rows in model._parts_left_out(X, y, sample_weight, target):
            lefts.append(LeftOut(codes_under(model.classes_, labels, weight, n_rows), weight))
            posteriors.append(model._log_posterior_left_out(rows, lefts[-1]))
        if len(lefts) == 1:  # a table in memory is not copied
            return losses(posteriors[0], lefts[0].y, lefts[0].weight)
        weight = None if lefts[0].weight is None else np.concatenate([left.weight for left in lefts])
        return losses(np.concatenate(posteriors), np.concatenate([left.y for left in lefts]), weight)

    def _refuse_what_cannot_be_subtracted(self) -> None:
        if self._believed_with.get("class_weight") is not None:
            raise BayeskitError("leave_one_out cannot subtract rows from weighted classes; fit without class_weight.")

    def _parts_left_out(
        self, X: Any, y: Any, sample_weight: Any, target: str | None
    ) -> Iterator[tuple[Any, Any, NDArray[np.float64] | None, int]]:
        """Yield rows as the model scores them, with their labels and weights and how many they are."""
        columns, y = self._rows_left_out(X, y, target)
        yield columns, y, read_weight(sample_weight, len(columns[0])), len(columns[0])

    def _rows_left_out(self, X: Any, y: Any, target: str | None) -> tuple[list[NDArray[Any]], Any]:
        """Return the encoded columns of a table and its labels."""
        target = target_of(X, y, target)
        split = partial(split_target, schema=self.schema_)
        rows, y = rows_and_labels(X, y, target, type(self).__name__, split, NEEDS_LABELS)
        if target is None:
            source = self._read_features(X)
        else:
            source = in_order(X, rows, self.schema_.names)
            check_columns(source, self.schema_.names, self.schema_.named, type(self).__name__)
        return encode(source, self.schema_), y

    def _log_posterior_left_out(self, rows: Any, left: LeftOut) -> NDArray[np.float64]:
        """Return the log posterior of each counted row when that row is subtracted from the counts."""
        log_prior = self._log_prior_left_out(left)
        return log_posterior(possible(self._log_joint_left_out(rows, left, log_prior), log_prior))

    def _log_prior_left_out(self, left: LeftOut) -> NDArray[np.float64]:
        """Return log P(c), of shape (n_rows, n_classes), by the counts without each row."""
        settings: Any = self._state.settings
        prior, smoothing = settings._smoothed_prior
        return log_prior_left_out(self.counts_, prior, smoothing, left)

    @property
    def _smoothed_prior(self) -> tuple[Any, Any]:
        """The prior of the classes as it was asked for, and what smooths it; by default relative frequencies."""
        return "data", 0.0

    def _log_joint_left_out(self, rows: Any, left: LeftOut, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log P(x, c), of shape (n_rows, n_classes), each row by the counts without it; P(c) is given."""
        raise NotImplementedError


def codes_under(classes: NDArray[Any], y: Any, weight: NDArray[np.float64] | None, n_rows: int) -> NDArray[np.int64]:
    """Return the place of each label among the classes of a model; a label that it does not know is an error."""
    labels, codes = read_labels(y, n_rows)
    counted = codes if weight is None else codes[weight > 0]  # no weight is as if not there
    strange = [label for label in labels[np.unique(counted)].tolist() if label not in classes.tolist()]
    if strange:
        raise TableError(f"y holds the class {strange[0]!r}, which was not seen in fit; seen: {classes.tolist()}.")
    return np.asarray(np.minimum(np.searchsorted(classes, labels), len(classes) - 1)[codes], dtype=np.int64)


def possible(log_joint: NDArray[np.float64], log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(x, c) with the prior where x has probability 0 under every class.

    A score of +∞, which complement naive Bayes without smoothing gives, makes its class certain.
    """
    impossible = np.isneginf(log_joint).all(axis=1, keepdims=True)
    certain = np.isposinf(log_joint)
    log_joint = np.where(certain.any(axis=1, keepdims=True), np.where(certain, 0.0, -np.inf), log_joint)
    return np.where(impossible, log_prior, log_joint)


def losses(posterior: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None = None) -> LeaveOneOut:
    """Sum up log posteriors against the true classes."""
    counted = posterior
    if weight is not None:
        rows = np.flatnonzero(weight)  # 0 times an infinite loss is no number
        counted, y, weight = posterior[rows], y[rows], weight[rows]
    # One row per class: the largest of a few numbers next to each other takes NumPy twenty times as long.
    by_class = np.ascontiguousarray(counted.T)
    wrong = (by_class >= by_class.max(axis=0) - TIED_CLASSES).argmax(axis=0) != y
    log_true = counted[np.arange(len(y)), y]
    miss = (1.0 - np.exp(log_true)) ** 2

    def mean(values: NDArray[Any]) -> float:
        return float(np.average(values, weights=weight))

    return LeaveOneOut(mean(wrong), mean(-log_true) + 0.0, float(np.sqrt(mean(miss))), posterior)
