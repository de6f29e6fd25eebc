"""Curves of a two-class score over all thresholds: ROC, precision and recall, lift."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import BayeskitError
from bayeskit.result import fields_text, html_text


class Curves(NamedTuple):
    """Counts at every threshold, from "none is positive" to "all are", and what follows from them."""

    n_chosen: NDArray[np.float64]  # rows whose score is at least the threshold, starting with 0
    n_right: NDArray[np.float64]  # those of them that are positive

    def __repr__(self) -> str:
        return fields_text(type(self).__name__, self._asdict().items())

    def _repr_html_(self) -> str:
        return html_text(str(self))

    @property
    def recall(self) -> NDArray[np.float64]:
        """The share of the positive rows that is found: the true positive rate."""
        return np.asarray(self.n_right / self.n_right[-1])

    @property
    def false_positive_rate(self) -> NDArray[np.float64]:
        """The share of the negative rows that is predicted positive."""
        wrong = self.n_chosen - self.n_right
        return np.asarray(wrong / wrong[-1])

    @property
    def precision(self) -> NDArray[np.float64]:
        """The share of the chosen rows that is positive; 1 where none is chosen."""
        return np.divide(self.n_right, self.n_chosen, out=np.ones_like(self.n_right), where=self.n_chosen > 0)

    @property
    def share(self) -> NDArray[np.float64]:
        """The share of all rows that is chosen."""
        return np.asarray(self.n_chosen / self.n_chosen[-1])

    @property
    def auc(self) -> float:
        """The area under the ROC curve: P(a positive row scores above a negative one), ties counted half."""
        heights = self.recall[1:] + self.recall[:-1]
        return float((np.diff(self.false_positive_rate) * heights).sum() / 2)

    @property
    def average_precision(self) -> float:
        """The mean of the precision over the steps of the recall."""
        return float((np.diff(self.recall) * self.precision[1:]).sum())

    def lift(self, share: float) -> float:
        """Return how many times more often positive rows are among the best-scored share than among all."""
        recall = float(np.interp(share, self.share, self.recall))
        return recall / share


def curves(score: NDArray[np.float64], positive: NDArray[Any]) -> Curves:
    """Return the counts at every threshold of a score.

    Parameters
    ----------
    score : float64 array of shape (n_rows,)
        Higher means more probably positive.
    positive : bool array of shape (n_rows,)
        Which rows are positive.

    Examples
    --------
    >>> both = curves(np.array([0.1, 0.4, 0.35, 0.8]), np.array([False, False, True, True]))
    >>> both.auc, round(both.average_precision, 4), both.lift(0.5)
    (0.75, 0.8333, 1.0)
    """
    truth = np.asarray(positive, dtype=bool)
    if truth.all() or not truth.any():
        raise BayeskitError("curves need positive and negative rows; all rows are of one class.")
    order = np.argsort(-score, kind="stable")
    ranked, right = score[order], np.cumsum(truth[order])
    last = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)  # the last row of each score
    chosen = np.concatenate([[0], last + 1]).astype(np.float64)
    return Curves(chosen, np.concatenate([[0], right[last]]).astype(np.float64))
