"""Gaussian columns: a normal density in each class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.estimate.gaussian import gaussian, normal_parameters, within_variance
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.kinds.kind import Estimation, Family, Grid, Kind, Statistics
from bayeskit.table.schema import Variable

# A density is summed on this many points, over so many deviations beyond the outermost means.
GRID_POINTS = 2001
GRID_DEVIATIONS = 9.0


class Gaussian(Kind):
    r"""Measurements.

    .. math:: p(x \mid c) = \frac{1}{\sqrt{2π} σ_c} e^{-(x - μ_c)^2 / 2σ_c^2}

    The parameters are three rows with one column per class: −½ log 2πσ², μ and 1 / 2σ².
    """

    name = "gaussian"
    coded = False
    description = "a normal density"
    family = Family.GAUSSIAN
    words = ("gaussian",)
    maximizes = True
    has_variance = True

    def estimate(self, statistics: Statistics, settings: Estimation) -> Sequence[NDArray[np.float64]]:
        """Take mean and variance of each class from its moments."""
        target = _target(statistics, settings)
        return normal_parameters(*gaussian(statistics.moments, settings.variance, settings.variance_prior, target))

    def log_prior(self, statistics: Statistics, parameters: Sequence[Any], settings: Estimation) -> float:
        r"""Return Σ −ν/2 (log σ_c² + σ²/σ_c²), under which (S + νσ²)/(n + ν) is the most probable variance, given σ².

        Dividing by n − 1 is the prior σ_c; maximum likelihood has none.
        """
        variance = 0.5 / np.stack(list(parameters))[:, 2]  # (n_columns, n_classes)
        if settings.variance == "unbiased":
            return 0.5 * float(np.log(variance).sum())
        if settings.variance == "ml" or not settings.variance_prior > 0:
            return 0.0
        target = _target(statistics, settings)
        return -0.5 * settings.variance_prior * float((np.log(variance) + target / variance).sum())

    def closed_form(self, parameters: NDArray[np.float64]) -> ClosedForm:
        """Return the normal log-density."""
        constant, mean, half_precision = parameters
        return ClosedForm(constant, mean=mean, half_precision=half_precision)

    def n_parameters(self, variable: Variable, parameters: NDArray[np.float64]) -> int:
        """Count a mean and a variance per class."""
        return 2 * int(parameters.shape[1])

    def grid(self, variable: Variable, parameters: NDArray[np.float64]) -> Grid:
        """Return a fine grid over the densities of all classes."""
        mean, deviation = self._mean_and_deviation(parameters)
        low, high = (mean - GRID_DEVIATIONS * deviation).min(), (mean + GRID_DEVIATIONS * deviation).max()
        points = np.linspace(low, high, GRID_POINTS)
        # A narrow density is not lost between the points of a wide one: each class has a grid of its own as well.
        narrow = [
            np.linspace(m - GRID_DEVIATIONS * s, m + GRID_DEVIATIONS * s, GRID_POINTS)
            for m, s in zip(mean, deviation, strict=True)
        ]
        points = np.unique(np.concatenate([points, *narrow]))
        return Grid(tuple(points.tolist()), np.gradient(points), False)

    def sample(
        self, variable: Variable, parameters: NDArray[np.float64], c: int, size: int, rng: np.random.Generator
    ) -> Any:
        """Draw from the normal distribution of the class."""
        mean, deviation = self._mean_and_deviation(parameters)
        return rng.normal(mean[c], deviation[c], size=size)

    def table(self, variable: Variable, parameters: NDArray[np.float64]) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return mean and standard deviation of each class."""
        return ("mean", "deviation"), np.stack(self._mean_and_deviation(parameters))

    def title(self, variable: Variable, target: str) -> str:
        """Return the title, with a small p for a density."""
        return f"p({variable.name} | {target})"

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Subtract each row from the moments of its class and of the whole column."""
        result = np.zeros((len(column), len(statistics.n_class)))
        for rows, (constant, mean, half) in self._estimates_left_out(statistics, settings, column, left):
            result[rows] = constant - (column[rows, None] - mean) ** 2 * half
        return result

    @staticmethod
    def _mean_and_deviation(parameters: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return parameters[1], np.sqrt(0.5 / parameters[2])


def _target(statistics: Statistics, settings: Estimation) -> NDArray[np.float64]:
    """Return the variance of the extra rows, of shape (n_columns, 1): as it is given, or that within classes."""
    target, given = within_variance(statistics.moments), settings.variance_target or {}
    alone = len(statistics.variables) == 1  # where rows are left out, its moments stand there once for each of them
    for j, variable in enumerate(statistics.variables):
        if variable.name in given:
            target[slice(None) if alone else j] = given[variable.name]
    return target
