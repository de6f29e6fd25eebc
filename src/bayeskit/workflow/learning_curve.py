"""The learning curve: how good the best classifier is when it learns from fewer rows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.decide.scores import Measure, measure_of, row_scores
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.plan import Plan
from bayeskit.result import Result
from bayeskit.workflow.candidates import fit_candidate
from bayeskit.workflow.fold_counts import count_folds

if TYPE_CHECKING:
    from bayeskit.table.read import Source
    from bayeskit.workflow.training import Training

# The shares of the rows outside the held-out fold that are learned from; with all of them the scores are known.
SHARES = (0.125, 0.25, 0.5)
# Rows that are learned from at the most, where counts add and where each point is a fit of its own; rows scored.
MOST_COUNTED, MOST_LEARNED, MOST_SCORED = 200_000, 20_000, 5_000
LEAST_LEARNED = 10


@dataclass(frozen=True, repr=False)
class LearningPoint(Result):
    """The scores on the same held-out rows after learning from some number of rows."""

    n_rows: int
    error: Measure
    log_loss: Measure


def learning_curve(result: Training) -> list[LearningPoint]:
    """Return the scores of the best classifier on the rows of the last fold, learned from fewer and fewer others.

    Each larger share holds the smaller ones: where the counts of the classifier add, its new rows are counted and added
    to those of the share before, under the values that the whole table has, as in the cross-validation; other
    classifiers are fitted again. The last point is the cross-validation's.
    """
    board, labels = result.board, result.table.labels
    posterior = board.best.posterior
    last = int(board.part.max())
    here = np.flatnonzero(board.part == last)[:MOST_SCORED]
    others = np.random.default_rng(result.random_state).permutation(np.flatnonzero(board.part != last))
    if posterior is None or not len(here) or len(others) < LEAST_LEARNED / SHARES[0]:
        return []
    adds = counts_add(result)
    most = min(len(others), MOST_COUNTED if adds else MOST_LEARNED)
    shares = [others[: int(share * most)] for share in SHARES]
    scored = added(result, shares, here) if adds else (refitted(result, rows, here) for rows in shares)
    points = [
        _point(len(rows), answered, labels.y[here])
        for rows, answered in zip(shares, scored, strict=True)
        if answered is not None
    ]
    n_all = result.table.n_rows * len(others) // len(board.part)
    points.append(_point(n_all, posterior[here], labels.y[here]))
    return points if len(points) > 1 else []


def counts_add(result: Training) -> bool:
    """Return whether the counts of parts of the rows add up: no structure or bins that need all of them at once."""
    model = result.board.best.model
    if not isinstance(model, BayesClassifier) or model._counted_as() is None:
        return False
    return not any(variable.is_binned for variable in result.model.schema_)


def added(
    result: Training, shares: Sequence[NDArray[np.intp]], here: NDArray[np.intp]
) -> Iterator[NDArray[np.float64] | None]:
    """Yield P(c | x) of the held-out rows after each share, which begins with the one before."""
    model: Any = result.board.best.model
    labels, source = result.table.labels, result.table.features.source
    plan = Plan(model._as_settings(), result.table.target, result.model.schema_)
    if (families := model._counted_as()[0]) != "values":
        plan = plan.with_families(families)
    rows = Labelled(source, labels.y.astype(np.uint32), labels.classes, None, result.table.target)
    new = [np.sort(shares[0]), *(np.sort(more[len(less) :]) for less, more in pairwise(shares))]
    counted = count_folds((rows.take(some) for some in new), [plan])
    test = source.take(here)
    if counted.refused[0]:
        yield from (None for _ in shares)
        return
    for counts in accumulate(counted.counts[0]):
        fit = partial(type(model).from_counts, counts, **model.get_params(deep=False))
        yield _answered(labels.classes, fit, test)


def refitted(result: Training, rows: NDArray[np.intp], here: NDArray[np.intp]) -> NDArray[np.float64] | None:
    """Return P(c | x) of the held-out rows; None where the classifier cannot be fitted to so few rows."""
    labels, source = result.table.labels, result.table.features.source
    rows = np.sort(rows)
    present, y = np.unique(labels.y[rows], return_inverse=True)
    if len(present) < 2:
        return None
    few = Labelled(source.take(rows), y.astype(np.uint32), labels.classes[present], None, result.table.target)
    return _answered(labels.classes, lambda: fit_candidate(result.board.best.model, few), source.take(here))


def _answered(classes: NDArray[Any], fit: Callable[[], Any], test: Source) -> NDArray[np.float64] | None:
    """Return P(c | x) of rows under all classes; None where the classifier cannot be fitted."""
    posterior = np.zeros((test.n_rows, len(classes)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayeskitWarning)  # of columns that have no value in these rows
            fitted = fit()
            posterior[:, np.searchsorted(classes, fitted.classes_)] = fitted.predict_proba(test)
    except BayeskitError:
        return None
    return posterior


def _point(n_rows: int, posterior: NDArray[np.float64], y: NDArray[np.intp]) -> LearningPoint:
    costs = row_scores(posterior, y)
    error, log_loss = (measure_of(np.array([cost.sum(), (cost**2).sum()]), len(cost)) for cost in costs[:2])
    return LearningPoint(n_rows, error, log_loss)
