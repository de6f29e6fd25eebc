"""Bounds of the Bayes error from the error of the nearest neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from bayeskit.classify.k_neighbors import KNeighbors
from bayeskit.errors import BayeskitError
from bayeskit.result import Result


@dataclass(frozen=True, repr=False)
class BayesErrorBounds(Result):
    """Bounds of the error of the best possible classifier, for large tables."""

    lower: float
    upper: float  # the error of the nearest neighbour
    lower_interval: tuple[float, float]
    upper_interval: tuple[float, float]
    n_rows: int
    n_classes: int

    def __str__(self) -> str:
        low, high = self.lower_interval[0], self.upper_interval[1]
        return (
            f"Bayes error between {self.lower:.4f} and {self.upper:.4f} (with sampling, {low:.4f} to {high:.4f}): the "
            f"ceiling is {1 - self.lower:.1%} right.\nFrom the error of the nearest neighbour on {self.n_rows:,} rows, "
            f"{self.n_classes} classes; the bounds are asymptotic, so few rows in many columns may lie outside."
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

    as the number of rows grows without bound.

    Parameters
    ----------
    X, y, target, kinds
        The table and its labels, as in :meth:`KNeighbors.fit`.
    n_bootstrap : int, default 1000
        The number of bootstrap samples for the intervals.
    confidence : float, default 0.95
        The level of the intervals.
    random_state : int, default 0
        The seed of the bootstrap.

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
    n_classes = len(model.classes_)
    if n_classes < 2:
        raise BayeskitError(f"all rows are of the class {model.classes_[0]!r}, so no classifier can be wrong.")
    wrong = model._y[model.kneighbors()[1][:, 0]] != model._y
    n = len(wrong)
    rng = np.random.default_rng(random_state)
    drawn = rng.binomial(n, wrong.mean(), n_bootstrap) / n  # drawing n rows anew draws this number of misses
    tail = 100 * (1 - confidence) / 2
    low, high = (float(e) for e in np.percentile(drawn, [tail, 100 - tail]))
    error = float(wrong.mean())
    return BayesErrorBounds(
        _lower(error, n_classes),
        error,
        (_lower(low, n_classes), _lower(high, n_classes)),
        (low, high),
        n,
        n_classes,
    )


def _lower(error: float, n_classes: int) -> float:
    """Return the smallest Bayes error for which the nearest neighbour can have this error.

    >>> _lower(0.5, 2), round(_lower(0.18, 2), 6)
    (0.5, 0.1)
    """
    share = (n_classes - 1) / n_classes
    return share * (1 - sqrt(max(0.0, 1 - error / share)))
