"""Bounds of the Bayes error from the errors of the nearest neighbour and of a good classifier."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, ndtri

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
    confidence : float, default 0.95
        How often the interval from the lower end of ``lower_interval`` to the upper end of ``upper_interval`` is to
        hold the error of the best possible classifier.
    random_state : int, default 0
        The seed of the folds.

    Examples
    --------
    >>> from bayeskit import bayes_error, datasets
    >>> bounds = bayes_error(datasets.load_penguins(), target="species")
    >>> bounds.lower <= bounds.upper < 0.05
    True
    """
    if not 0 < confidence < 1:
        raise BayeskitError(f"confidence must be between 0 and 1; got {confidence!r}.")
    model = KNeighbors(1, kinds=kinds).fit(X, y, target=target)
    n_classes, n = len(model.classes_), len(model._state.y)
    if n_classes < 2:
        raise BayeskitError(f"all rows are of the class {model.classes_[0]!r}, so no classifier can be wrong.")
    # (n,): a share where several rows are nearest; in an order of its own, so that sums have the same digits.
    nearest = np.sort(1.0 - model._shares_left_out()[np.arange(n), model._state.y])
    held_out = _misses(read_table(X, without=target), model, kinds, random_state)
    error, classifier = float(nearest.mean()), float(held_out.mean())
    # A miss depends on two rows, the row itself and its neighbour: the mean varies at most as that of half the rows.
    # There is an interval from below and one from above. From above the smallest of several errors of the same rows is
    # given: that of the neighbour, that of the classifier, and those of the n_classes constant answers, of which the
    # classifier takes the best where the columns say nothing.
    tail = (1 - confidence) / 4
    low, high = _interval(error, n / 2, tail)
    # A neighbour errs beside a boundary even where the best classifier never does: a few misses say nothing from below,
    # which is what the normal interval says of them.
    low = max(0.0, min(low, error + float(ndtri(tail)) * sqrt(error * (1 - error) / (n / 2))))
    from_below = (_lower(low, n_classes), _lower(high, n_classes))
    best, n_best = (error, n / 2) if error < classifier else (classifier, float(len(held_out)))
    from_above = _interval(best, n_best, tail / (n_classes + 2))
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


def _interval(error: float, n_rows: float, tail: float) -> tuple[float, float]:
    """Return the interval of Clopper & Pearson (1934) for an error; ``tail`` is what may lie beyond each end.

    >>> [round(end, 4) for end in _interval(0.1, 10, 0.025)]  # one miss in ten rows
    [0.0025, 0.445]
    """
    missed = error * n_rows
    low = betaincinv(missed, n_rows - missed + 1, tail) if missed > 0 else 0.0
    high = betaincinv(missed + 1, n_rows - missed, 1 - tail) if missed < n_rows else 1.0
    return float(low), float(high)


def _lower(error: float, n_classes: int) -> float:
    """Return the smallest Bayes error for which the nearest neighbour can have this error.

    >>> _lower(0.5, 2), round(_lower(0.18, 2), 6)
    (0.5, 0.1)
    """
    share = (n_classes - 1) / n_classes
    return share * (1 - sqrt(max(0.0, 1 - error / share)))
