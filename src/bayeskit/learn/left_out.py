"""Leave-one-out scores of naive Bayes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bayeskit.counts.statistic import Statistic
from bayeskit.counts.table import TableCounts
from bayeskit.estimate.prior import class_prior
from bayeskit.estimate.smoothing import SymmetricSmoothing
from bayeskit.kinds import Estimation
from bayeskit.learn.naive_beliefs import kinds_of, statistics_of


def log_joint_left_out(
    counts: TableCounts,
    settings: Estimation,
    prior: str | ArrayLike | dict[Any, float],
    columns: list[NDArray[Any]],
    y: NDArray[Any],
    own: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log P(x, c) and log P(c) of counted rows, each by the counts without itself.

    ``columns`` are encoded rows; row i is of class ``y[i]`` and counts ``own[i]``. Both results have the shape
    (n_rows, n_classes).
    """
    log_prior = log_prior_left_out(counts, settings.smoothing, prior, y, own)
    log_joint, ones = log_prior.copy(), np.ones(counts.n_classes)
    for j, (variable, kind) in enumerate(zip(counts.schema, kinds_of(counts.schema), strict=True)):
        column = columns[j] if kind.any_number else kind.read(variable, columns[j])
        log_joint += kind.log_density_left_out(statistics_of(counts, [j], ones), settings, column, y, own)
    return log_joint, log_prior


def log_prior_left_out(
    counts: Statistic,
    smoothing: float | SymmetricSmoothing,
    prior: str | ArrayLike | dict[Any, float],
    y: NDArray[Any],
    own: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return log P(c) without each row, of shape (n_rows, n_classes)."""
    pairs, place = np.unique(np.column_stack([y, own]), axis=0, return_inverse=True)
    found = np.empty((len(pairs), len(counts.classes)))
    for k, (c, weight) in enumerate(pairs.tolist()):
        n_class = counts.n_class.astype(np.float64)
        n_class[int(c)] = max(0.0, n_class[int(c)] - weight)
        found[k] = class_prior(n_class, prior, smoothing, counts.classes)
    with np.errstate(divide="ignore"):  # a class whose only row is left out may be impossible
        return np.asarray(np.log(found[place.ravel()]))
