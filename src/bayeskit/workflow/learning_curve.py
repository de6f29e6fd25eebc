"""The learning curve: how good the best classifier is when it learns from fewer rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bayeskit.decide.scores import Measure, measure_of, row_scores
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.learn.labelled import Labelled
from bayeskit.result import Result
from bayeskit.workflow.candidates import fit_candidate

if TYPE_CHECKING:
    from bayeskit.workflow.training import Training

# The shares of the rows outside the held-out fold that are learned from; with all of them the scores are known.
SHARES = (0.125, 0.25, 0.5)
# Rows that are learned from at the most, and rows that are scored.
MOST_LEARNED, MOST_SCORED = 20_000, 5_000
LEAST_LEARNED = 10


@dataclass(frozen=True, repr=False)
class LearningPoint(Result):
    """The scores on the same held-out rows after learning from some number of rows."""

    n_rows: int
    error: Measure
    log_loss: Measure


def learning_curve(result: Training) -> list[LearningPoint]:
    """Return the scores of the best classifier on the rows of the last fold, learned from fewer and fewer others.

    Each larger share holds the smaller ones. The last point is the cross-validation's.
    """
    board, labels = result.board, result.table.labels
    posterior = board.best.posterior
    last = int(board.part.max())
    here = np.flatnonzero(board.part == last)[:MOST_SCORED]
    others = np.random.default_rng(result.random_state).permutation(np.flatnonzero(board.part != last))
    if posterior is None or not len(here) or len(others) < LEAST_LEARNED / SHARES[0]:
        return []
    points = []
    most = min(len(others), MOST_LEARNED)
    for share in SHARES:
        rows = np.sort(others[: int(share * most)])
        scored = _posterior(result, rows, here)
        if scored is not None:
            points.append(_point(len(rows), scored, labels.y[here]))
    n_all = result.table.n_rows * len(others) // len(board.part)
    points.append(_point(n_all, posterior[here], labels.y[here]))
    return points if len(points) > 1 else []


def _posterior(result: Training, rows: NDArray[np.intp], here: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return P(c | x) of the held-out rows; None where the classifier cannot be fitted to so few rows."""
    labels, source = result.table.labels, result.table.features.source
    present, y = np.unique(labels.y[rows], return_inverse=True)
    if len(present) < 2:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayeskitWarning)  # of columns that have no value in these rows
            few = Labelled(source.take(rows), y.astype(np.uint32), labels.classes[present], None, result.table.target)
            answered = fit_candidate(result.board.best.model, few).predict_proba(source.take(here))
    except BayeskitError:
        return None
    posterior = np.zeros((len(here), len(labels.classes)))
    posterior[:, present] = answered
    return posterior


def _point(n_rows: int, posterior: NDArray[np.float64], y: NDArray[np.intp]) -> LearningPoint:
    costs = row_scores(posterior, y)
    error, log_loss = (measure_of(np.array([cost.sum(), (cost**2).sum()]), len(cost)) for cost in costs[:2])
    return LearningPoint(n_rows, error, log_loss)
