"""Bounds of the Bayes error from the errors of the nearest neighbour and of a good classifier."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.model import AutoBayes
from bayeskit.classify.k_neighbors import KNeighbors
from bayeskit.concept.folds import stratified_folds
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.result import Result
from bayeskit.table.read import Source, read_table

_FOLDS = 5
# Rows for the classifier, whose error is known well enough by then.
_MOST_ROWS = 20_000
# The share of rows with an equal row above which distances to neighbours are no matter.
_NEARLY_ALL = 0.95


@dataclass(frozen=True, repr=False)
class BayesErrorBounds(Result):
    """Bounds of the error of the best possible classifier.

    ``nearest_neighbor`` is the error of the nearest neighbour and ``classifier`` that of the best classifier tried,
    both on rows left out.
    """

    lower: float
    upper: float
    lower_interval: tuple[float, float]
    upper_interval: tuple[float, float]
    nearest_neighbor: float
    classifier: float
    n_rows: int
    n_classes: int

    def __str__(self) -> str:
        low, high = self.lower_interval[0], self.upper_interval[1]
        words = f"from the error {self.nearest_neighbor:.4f} of the nearest neighbour"
        if self.lower == 0.0 < self.nearest_neighbor:
            below = (
                f"Nothing is known from below: the asymptotic bound {words} would be "
                f"{_lower(self.nearest_neighbor, self.n_classes):.4f}, and a classifier has {self.classifier:.4f}."
            )
        else:
            below = f"The lower bound comes {words}; it is asymptotic, so with few rows it may be too high."
        return (
            f"Bayes error between {self.lower:.4f} and {self.upper:.4f} (with sampling, {low:.4f} to {high:.4f}), "
            f"{self.n_rows:,} rows, {self.n_classes} classes.\n{below}"
        )


def bayes_error(
    X: Any,
    y: Any = None,
    *,
    target: str | None = None,
    kinds: Any = None,
    n_bootstrap: int = 1000,
    confidence: float = 0.95,
    random_state: int = 0,
) -> BayesErrorBounds:
    r"""Return bounds of the error of the best possible classifier (Cover & Hart 1967).

    With E the error of the nearest neighbour, each row predicted from the others (leave-one-out), and K classes,

    .. math:: \frac{K-1}{K} \Bigl(1 - \sqrt{1 - \tfrac{K}{K-1} E}\Bigr) \le E^* \le E

    as the number of rows grows without bound; where several rows are equally near, E is its mean over them. No
    classifier is better than the best possible one, so that the error of ``AutoBayes`` in five folds is an upper bound
    too, and the smaller of both is given. Where that is below the lower bound, there are too few rows for the lower
    bound to hold, and nothing is known from below: it is 0. Where nearly every row has an equal one, as with few
    discrete columns, the bound needs no limit: it is then capped by the upper one, unless that is below its interval.

    No bound from below holds for every distribution (Antos, Devroye & Györfi 1999): where the classes depend on columns
    in a way that neither neighbours nor the classifier see in these rows, such as the parity of many columns, the true
    error is below it. ``benchmarks/BAYES_ERROR.md`` says how often the bounds hold where the error is known.

    Parameters
    ----------
    X, y, target, kinds
        The table and its labels, as in :meth:`KNeighbors.fit`.
    n_bootstrap : int, default 1000
        The number of bootstrap samples for the intervals.
    confidence : float, default 0.95
        The level of the intervals.
    random_state : int, default 0
        The seed of the bootstrap and of the folds.

    Examples
    --------
    >>> from bayeskit import bayes_error, datasets
    >>> bounds = bayes_error(datasets.load_penguins(), target="species")
    >>> bounds.lower <= bounds.upper < 0.05
    True
    """
    if not 0 < confidence < 1 or n_bootstrap < 1:
        raise BayeskitError(
            f"confidence must be between 0 and 1 and n_bootstrap at least 1; got {confidence!r} and {n_bootstrap!r}."
        )
    model = KNeighbors(1, kinds=kinds).fit(X, y, target=target)
    n_classes, n = len(model.classes_), len(model._state.y)
    if n_classes < 2:
        raise BayeskitError(f"all rows are of the class {model.classes_[0]!r}, so no classifier can be wrong.")
    rng = np.random.default_rng(random_state)
    # (n,): a share where several rows are nearest; in an order of its own, so that sums have the same digits.
    nearest = np.sort(1.0 - model._shares_left_out()[np.arange(n), model._state.y])
    held_out = _misses(read_table(X, without=target), model, kinds, random_state)
    error, classifier = float(nearest.mean()), float(held_out.mean())
    # A miss depends on two rows, the row itself and its neighbour: the mean varies at most as that of half the rows.
    low, high = _interval(error, n / 2, n_bootstrap, confidence, rng)
    from_below = (_lower(low, n_classes), _lower(high, n_classes))
    of_classifier = _interval(classifier, len(held_out), n_bootstrap, confidence, rng)
    from_above = (low, high) if error < classifier else of_classifier
    voters = model._state.voters
    with_equal_row = float((voters.n_class.sum(axis=1)[voters.place] > 1).mean())
    refuted = classifier < (from_below[0] if with_equal_row >= _NEARLY_ALL else _lower(error, n_classes))
    return BayesErrorBounds(
        0.0 if refuted else min(_lower(error, n_classes), classifier),
        min(error, classifier),
        (0.0, 0.0) if refuted else from_below,
        from_above,
        error,
        classifier,
        n,
        n_classes,
    )


def _misses(source: Source, model: KNeighbors, kinds: Any, seed: int) -> NDArray[np.float64]:
    """Return 1 for each held-out row that AutoBayes misses; of many rows, for some of them."""
    # By what the rows hold, so that their order does not matter.
    rows = np.lexsort((model._state.y, model._state.voters.place))
    rng = np.random.RandomState(seed)
    if len(rows) > _MOST_ROWS:
        rows = rows[np.sort(rng.choice(len(rows), _MOST_ROWS, replace=False))]
    y = model._state.y[rows]
    missed = np.zeros(len(rows))
    with warnings.catch_warnings():
        # That rows left out gain nothing, which the error itself says.
        warnings.simplefilter("ignore", BayeskitWarning)
        for learned, held in stratified_folds(y, _FOLDS, rng):
            fitted = AutoBayes(kinds=kinds, random_state=seed).fit(source.take(rows[learned]), y[learned])
            missed[held] = fitted.predict(source.take(rows[held])) != y[held]
    return missed


def _interval(
    error: float, n_rows: float, n_bootstrap: int, confidence: float, rng: np.random.Generator
) -> tuple[float, float]:
    # The mean of n rows drawn anew is normal for all but a few rows.
    drawn = rng.normal(error, sqrt(error * (1 - error) / n_rows), n_bootstrap).clip(0.0, 1.0)
    # Half of what is usual at each end: there are two intervals, and the upper one is that of the smaller error.
    tail = 100 * (1 - confidence) / 4
    low, high = np.percentile(drawn, [tail, 100 - tail])
    return float(low), float(high)


def _lower(error: float, n_classes: int) -> float:
    """Return the smallest Bayes error for which the nearest neighbour can have this error.

    >>> _lower(0.5, 2), round(_lower(0.18, 2), 6)
    (0.5, 0.1)
    """
    share = (n_classes - 1) / n_classes
    return share * (1 - sqrt(max(0.0, 1 - error / share)))
