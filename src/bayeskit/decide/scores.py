"""How good probabilities are, as sums that add: a file of any size is scored batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.loss import Loss
from bayeskit.decide.risk import bayes_action, realised_loss
from bayeskit.errors import BayeskitError
from bayeskit.result import Result, fields_text, html_text

# Every measure once, with the title that tables show; the first three are means over rows of row_scores().
MEASURES = {
    "error": "error",
    "log_loss": "log-loss",
    "brier": "Brier",
    "calibration_error": "calibration",
    "mean_loss": "mean loss",
}
ROW_MEASURES = ("error", "log_loss", "brier")

# More classes than this have no room in a confusion matrix; so many errors are listed instead.
MOST_IN_MATRIX = 30
MOST_ERRORS = 20
BINS = 10
# A class that was said to be impossible and came true costs log 2⁵², not infinity; scikit-learn does the same.
LEAST = float(np.finfo(np.float64).eps)


class Measure(NamedTuple):
    """A mean over rows, with its standard error."""

    value: float
    se: float

    def __repr__(self) -> str:
        return fields_text(type(self).__name__, self._asdict().items())

    def _repr_html_(self) -> str:
        return html_text(str(self))

    def __str__(self) -> str:
        return f"{self.value:.4f} ± {self.se:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class Scores(Result):
    r"""Sums over rows from which the scores of a classifier follow.

    With p the posterior and c the true class of a row, the log-loss is the mean of −log p_c, the Brier score the mean
    of :math:`\sum_k (p_k - [k = c])^2`, from 0 to 2, and the calibration error the mean over rows of
    \|mean confidence − accuracy\| within the tenth of [0, 1] in which the largest p lies.

    Examples
    --------
    >>> scores = Scores.of(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0]), ["no", "yes"])
    >>> scores.error, (scores + scores).n_rows
    (Measure(value=0.5, se=0.5), 4)
    """

    classes: tuple[Any, ...]
    actions: tuple[Any, ...]
    n_rows: int
    sums: NDArray[np.float64]  # (4, 2): wrong, −log p, Brier, loss; each summed, and squared and summed
    bins: NDArray[np.float64]  # (BINS, 4): rows, confidence, right, (confidence − right)²
    confusion: NDArray[np.int64]  # (n_classes, n_classes), truth by most probable class
    decided: NDArray[np.int64]  # (n_classes, n_actions), truth by action

    def most_frequent_errors(self, most: int = MOST_ERRORS) -> list[tuple[Any, Any, int]]:
        """Return truth, decision and number of rows of the decisions that name another class, most frequent first."""
        right = np.array([[label == action for action in self.actions] for label in self.classes], dtype=bool)
        wrong = np.where(right, 0, self.decided)
        order = np.argsort(-wrong, axis=None, kind="stable")[:most]
        places = [divmod(int(place), len(self.actions)) for place in order if wrong.flat[place]]
        return [(self.classes[i], self.actions[j], int(wrong[i, j])) for i, j in places]

    @classmethod
    def of(
        cls, posterior: NDArray[np.float64], y: NDArray[Any], classes: Sequence[Any], loss: Loss | None = None
    ) -> Scores:
        """Score posteriors of shape (n_rows, n_classes) against the true classes, given as positions."""
        if posterior.shape != (len(y), len(classes)):
            raise BayeskitError(
                f"the posterior must have shape {(len(y), len(classes))}, one row per label and one column per class; "
                f"got {posterior.shape}."
            )
        n_classes, truth = len(classes), np.asarray(y, dtype=np.intp)
        guess = posterior.argmax(axis=1)
        means = row_scores(posterior, truth)
        wrong = means[0]
        actions = tuple(classes) if loss is None else loss.actions
        action = guess if loss is None else bayes_action(posterior, loss)
        cost = wrong if loss is None else realised_loss(truth, action, loss)
        rows = np.vstack([means, cost])
        confidence, right = posterior.max(axis=1), 1.0 - wrong
        place = np.minimum((confidence * BINS).astype(np.intp), BINS - 1)
        parts = (None, confidence, right, (confidence - right) ** 2)
        return cls(
            tuple(classes),
            actions,
            len(truth),
            np.stack([rows.sum(axis=1), (rows**2).sum(axis=1)], axis=1),
            np.stack([np.bincount(place, part, BINS) for part in parts], axis=1),
            _cross(truth, guess, n_classes, n_classes),
            _cross(truth, action, n_classes, len(actions)),
        )

    def __add__(self, other: Scores) -> Scores:
        return Scores(
            self.classes,
            self.actions,
            self.n_rows + other.n_rows,
            self.sums + other.sums,
            self.bins + other.bins,
            self.confusion + other.confusion,
            self.decided + other.decided,
        )

    @property
    def error(self) -> Measure:
        """The share of rows whose most probable class is not the true one."""
        return self._mean(0)

    @property
    def log_loss(self) -> Measure:
        """The mean of −log P(true class), by the natural logarithm."""
        return self._mean(1)

    @property
    def brier(self) -> Measure:
        """The mean squared distance of the posterior from the truth."""
        return self._mean(2)

    @property
    def mean_loss(self) -> Measure:
        """The mean cost of the decisions of least risk; under 0-1 loss the error."""
        return self._mean(3)

    @property
    def calibration_error(self) -> Measure:
        """The difference between confidence and accuracy, with the standard error of the mean within fixed bins."""
        gap = self.bins[:, 1] - self.bins[:, 2]
        value = float(np.abs(gap).sum()) / self.n_rows
        spread = max(float(self.bins[:, 3].sum()) / self.n_rows - value**2, 0.0)
        return Measure(value, float(np.sqrt(spread / self.n_rows)))

    def _mean(self, k: int) -> Measure:
        return measure_of(self.sums[k], self.n_rows)


def row_scores(posterior: NDArray[np.float64], y: NDArray[Any]) -> NDArray[np.float64]:
    """Return the error, the log-loss and the Brier score of each row, of shape (3, n_rows).

    >>> row_scores(np.array([[0.75, 0.25]]), np.array([1])).round(4).T
    array([[1.    , 1.3863, 1.125 ]])
    """
    p_true = posterior[np.arange(len(y)), y]
    wrong = (posterior.argmax(axis=1) != y).astype(np.float64)
    log_loss = -np.log(np.clip(p_true, LEAST, 1.0))
    # Σ (p_k − [k = c])² without a table of zeros and ones.
    brier = np.einsum("ij,ij->i", posterior, posterior) - 2 * p_true + 1
    return np.stack([wrong, log_loss, brier])


def measure_of(sums: NDArray[np.float64], n_rows: int) -> Measure:
    """Return the mean over rows and its standard error, given Σ x and Σ x²."""
    total, squares = (float(part) for part in sums)
    mean = total / n_rows
    if n_rows < 2:
        return Measure(mean, float("nan"))
    variance = max(squares - n_rows * mean**2, 0.0) / (n_rows - 1)
    return Measure(mean, float(np.sqrt(variance / n_rows)))


def _cross(truth: NDArray[Any], other: NDArray[Any], n_rows: int, n_columns: int) -> NDArray[np.int64]:
    return np.bincount(truth * n_columns + other, minlength=n_rows * n_columns).reshape(n_rows, n_columns)
