"""Which columns the Gaussians have, and how they are scaled: numbers, and indicators of categorical levels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import n_threads, scale_numbers
from bayeskit.classify.auto.gaussians import GaussianPlan
from bayeskit.classify.auto.levels import Levels
from bayeskit.classify.auto.training_rows import TrainingRows

MOST_POINTS = 256  # of the curve that turns numbers into normal scores
MOST_ROWS_TO_SCALE = 20_000  # the scales come from this many rows at the most
MOST_COLUMNS, MOST_CELLS = 256, 1 << 22
# A level has an indicator if at least so many rows have it, and so many have another.
FEWEST_ROWS = 3.0
# There are so many rows for each column. Indicators are added while rows times pairs of columns are worth the time.
ROWS_PER_COLUMN, MOST_PAIR_WORK = 3.0, 2e8


def learn_gaussian_columns(rows: TrainingRows, levels: Levels, n_level: NDArray[np.float64]) -> list[GaussianPlan]:
    """Return the plans of the Gaussians, whose shrinkage is still to be chosen.

    The first has numbers as they are beside the indicators, the second normal scores alone; one indicator alone is no
    plan, since networks have it.

    Where there are too many columns, they are taken at equal distances, whatever they say about the classes: the best
    of many would seem good on the rows that they were chosen on, also when these are left out of the counts.

    ``n_level`` (n_levels, n_classes) says how often each level came with each class.
    """
    total = float(rows.weight.sum())
    most = min(MOST_COLUMNS, int(np.sqrt(MOST_CELLS / rows.n_classes)), int(total / ROWS_PER_COLUMN))
    features = np.flatnonzero(_is_number(levels))
    if len(features) > most:
        features = features[np.linspace(0, len(features) - 1, most).round().astype(np.int64)]
    plans = list(_scale_numbers(rows, features)) if len(features) else [_no_numbers()]
    most = min(most, int(np.sqrt(MOST_PAIR_WORK / rows.n_rows)))
    plans[0] = _with_indicators(plans[0], levels, n_level.sum(axis=1), total, most - len(features))
    return [plan for plan in plans if len(plan.features) > 1 or plan.n_numbers]


def all_columns(rows: TrainingRows, levels: Levels, n_level: NDArray[np.float64]) -> GaussianPlan:
    """Return scales of all columns of numbers, and indicators of all levels that enough rows have."""
    features = np.flatnonzero(levels.ordered & (np.diff(levels.level_at) > 2))  # those with two numbers or more
    plan = _scale_numbers(rows, features)[0] if len(features) else _no_numbers()
    return _with_indicators(plan, levels, n_level.sum(axis=1), float(rows.weight.sum()), len(n_level))


def columns_beside(plan: GaussianPlan, levels: Levels) -> NDArray[np.bool_]:
    """Return the columns that take part beside the Gaussians as in naive Bayes.

    A number that is not among the Gaussians is not among these either: hardly two rows share a level of it.
    """
    beside = ~_is_number(levels)
    beside[plan.features] = False
    return beside


def _is_number(levels: Levels) -> NDArray[np.bool_]:
    # More than two values: beside the bins, of which there is one more than edges, a missing cell has a level.
    return np.asarray(levels.ordered & (np.diff(levels.level_at) > 4))


def _no_numbers() -> GaussianPlan:
    empty, none = np.empty(0), np.empty(0, np.int64)
    return GaussianPlan(none, none, empty, empty, empty, empty, empty, empty, np.zeros(1, np.int64), 1.0)


def _with_indicators(
    plan: GaussianPlan, levels: Levels, n_level: NDArray[np.float64], total: float, most: int
) -> GaussianPlan:
    """Return the plan with an indicator of each level of the categorical columns but the most frequent one.

    Where there are too many, those that vary most are kept.
    """
    feature_of, at = levels.feature_of, levels.level_at
    often = (n_level >= FEWEST_ROWS) & (n_level <= total - FEWEST_ROWS) & ~levels.ordered[feature_of]
    for j in np.flatnonzero(~levels.ordered):
        often[at[j] + int(n_level[at[j] : at[j + 1]].argmax())] = False
    place = np.flatnonzero(often)
    share = n_level[place] / total
    kept = np.sort(np.argsort(-share * (1.0 - share), kind="stable")[: max(most, 0)])
    place, share = place[kept], share[kept]
    more = np.zeros(len(place))
    return replace(
        plan,
        features=np.append(plan.features, feature_of[place]),
        level=np.append(plan.level, place - at[feature_of[place]]),
        median=np.append(plan.median, more),
        unit=np.append(plan.unit, more + 1.0),
        center=np.append(plan.center, share),
        scale=np.append(plan.scale, np.sqrt(share * (1.0 - share))),
    )


def _scale_numbers(rows: TrainingRows, features: NDArray[np.int64]) -> tuple[GaussianPlan, GaussianPlan]:
    """Return how numbers are standardised, and how they become normal scores."""
    few = rows.order[:MOST_ROWS_TO_SCALE]
    columns = [rows.columns[int(j)] for j in features]
    threads = n_threads(len(features) * len(few) * 16)  # they are sorted
    (median, unit, center, scale), curve_x, share, curve_at = scale_numbers(
        columns, few, rows.weight[: len(few)], MOST_POINTS, threads
    )
    from scipy.special import ndtri  # a saved model has its curve, and scipy.special takes .1 s to import

    empty, none, numbers = np.empty(0), np.zeros(len(features) + 1, dtype=np.int64), np.full(len(features), -1)
    scales = median, unit, center, scale
    return (
        GaussianPlan(features, numbers, *scales, empty, empty, none, 1.0),
        GaussianPlan(features, numbers, *scales, curve_x, ndtri(share), curve_at, 1.0),
    )
