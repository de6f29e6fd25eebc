"""The prior of the classes, from their counts or as it is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.statistic import Statistic
from bayeskit.errors import BayeskitError
from bayeskit.estimate.smoothing import Smoothing, as_smoothing


def class_prior(
    n_class: NDArray[Any],
    prior: str | ArrayLike | dict[Any, float],
    smoothing: float | str | Smoothing,
    classes: NDArray[Any],
) -> NDArray[np.float64]:
    """Estimate P(c): "smoothed" is (n_c + λ) / (N + Kλ), "data" is n_c / N, "uniform" is 1 / K, or as given."""
    if isinstance(prior, str):
        if prior == "uniform":
            return np.full(len(n_class), 1.0 / len(n_class))
        return as_smoothing(smoothing if prior == "smoothed" else 0.0).probabilities(n_class)
    given = _given_prior(prior, classes)
    if len(given) != len(classes):
        raise BayeskitError(
            f"Number of priors must match number of classes: {len(given)} priors for the classes {classes.tolist()}."
        )
    if (given < 0).any() or np.isnan(given).any():
        raise BayeskitError("Priors must be non-negative.")
    if not np.isclose(given.sum(), 1.0, rtol=0, atol=1e-8):
        raise BayeskitError(f"The sum of the priors should be 1; got {given.sum()}.")
    return given


def log_prior_left_out(
    counts: Statistic, prior: str | ArrayLike | dict[Any, float], smoothing: float | str | Smoothing, rows: LeftOut
) -> NDArray[np.float64]:
    """Return log P(c) without each row, of shape (n_rows, n_classes)."""
    pairs, place = np.unique(np.column_stack([rows.y, rows.taken_out]), axis=0, return_inverse=True)
    priors = np.empty((len(pairs), len(counts.classes)))
    for k, (c, weight) in enumerate(pairs.tolist()):
        n_class = counts.n_class.astype(np.float64)
        n_class[int(c)] = max(0.0, n_class[int(c)] - weight)
        priors[k] = class_prior(n_class, prior, smoothing, counts.classes)
    with np.errstate(divide="ignore"):  # a class whose only row is left out may be impossible
        return np.asarray(np.log(priors[place.ravel()]))


def _given_prior(prior: ArrayLike | dict[Any, float], classes: NDArray[Any]) -> NDArray[np.float64]:
    if isinstance(prior, dict):
        names = classes.tolist()
        if set(prior) != set(names):
            raise BayeskitError(
                f"prior must name each class once; the classes are {names}, the prior names {list(prior)}."
            )
        prior = [prior[name] for name in names]
    return np.asarray(prior, dtype=np.float64)
