"""Leave-one-out: each training row predicted without itself, from the counts of one fit."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.errors import BayeskitError, TableError
from bayeskit.learn.checks import check_columns, in_order, split_target
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


class LeavesOneOut(BayesClassifier):
    """A classifier whose counts can subtract any training row, so that each row can be predicted without itself."""

    @abstractmethod
    def _log_posterior_left_out(
        self, columns: list[NDArray[Any]], y: NDArray[Any], weight: NDArray[np.float64] | None
    ) -> NDArray[np.float64]:
        """Return the log posterior of each counted row when that row is subtracted from the counts."""

    def leave_one_out(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> LeaveOneOut:
        """Return error, log-loss and RMSE on the rows of the fit, each predicted without itself.

        One pass subtracts each row from the counts; structure, bins and levels stay those of all rows. The rows must
        be rows that the model has learned from. A row of integer weight w counts as w copies, of which one is left out.
        A row that has probability 0 under every class without itself (smoothing 0) gets the prior. With
        ``class_weight`` the counts are weighted and a row cannot be subtracted, so this is an error.

        Examples
        --------
        >>> from bayeskit import NaiveBayes, datasets
        >>> tennis = datasets.load_tennis()
        >>> NaiveBayes().fit(tennis, target="play").leave_one_out(tennis, target="play").error
        0.5
        """
        return self._now()._leave_one_out(X, y, sample_weight, target)

    def _leave_one_out(self, X: Any, y: Any, sample_weight: Any, target: str | None) -> LeaveOneOut:
        if self._believed_with.get("class_weight") is not None:
            raise BayeskitError("leave_one_out cannot subtract rows from weighted classes; fit without class_weight.")
        columns, y = self._rows_left_out(X, y, target)
        weight = read_weight(sample_weight, len(columns[0]))
        codes = codes_under(self.classes_, y, weight, len(columns[0]))
        return losses(self._log_posterior_left_out(columns, codes, weight), codes, weight)

    def _rows_left_out(self, X: Any, y: Any, target: str | None) -> tuple[list[NDArray[Any]], Any]:
        """Return the encoded columns of rows and their labels."""
        if target is not None:
            source, y = split_target(X, target)
            source = in_order(X, source, self.schema_.names)
            check_columns(source, self.schema_.names, self.schema_.named, type(self).__name__)
        elif y is None:
            raise TableError("leave_one_out needs the labels of the rows: pass y, or target='column'.")
        else:
            source = self._read_features(X)
        return encode(source, self.schema_), y


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


def losses(
    log_posterior: NDArray[np.float64], y: NDArray[Any], weight: NDArray[np.float64] | None = None
) -> LeaveOneOut:
    """Sum up log posteriors against the true classes."""
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight)  # 0 times an infinite loss is no number
    log_true = log_posterior[rows, y[rows]]
    tied = log_posterior[rows] >= log_posterior[rows].max(axis=1, keepdims=True) - TIED_CLASSES
    wrong = tied.argmax(axis=1) != y[rows]
    miss = (1.0 - np.exp(log_true)) ** 2

    def mean(values: NDArray[Any]) -> float:
        return float(np.average(values, weights=None if weight is None else weight[rows]))

    return LeaveOneOut(mean(wrong), mean(-log_true) + 0.0, float(np.sqrt(mean(miss))), log_posterior)
