"""Log-normal columns: amounts above zero whose logarithm is normal, such as prices, sizes and durations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.errors import TableError
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.kinds.gaussian import GRID_DEVIATIONS, GRID_POINTS, Gaussian
from bayeskit.kinds.kind import Estimation, Family, Grid, Statistics
from bayeskit.table.encode import refuse_infinite
from bayeskit.table.schema import Variable


class LogNormal(Gaussian):
    r"""Amounts above zero that differ by factors.

    .. math:: p(x \mid c) = \frac{1}{x \sqrt{2π} σ_c} e^{-(\log x - μ_c)^2 / 2σ_c^2}

    The logarithms are read, summed up and scored; their moments are a Gaussian column's.
    """

    name = "lognormal"
    words = ("lognormal",)
    description = "a log-normal density, for numbers above zero"
    family = Family.NONE
    any_number = False
    holds = "numbers above zero"

    def unfit(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which numbers have no logarithm."""
        return np.asarray(numbers <= 0)

    def read(self, variable: Variable, numbers: NDArray[Any]) -> NDArray[np.float64]:
        """Return the logarithms; the first number without one is an error."""
        refuse_infinite(numbers, variable.name)
        odd = self.unfit(numbers)
        if odd.any():
            row = int(odd.argmax())
            raise TableError(
                f"column '{variable.name}', row {row}: a lognormal column holds {self.holds}; "
                f"got {numbers[row].item()!r}. Leave the cell missing (NaN), or use another kind, such as 'kde'."
            )
        return np.log(np.asarray(numbers, dtype=np.float64))

    def log_density(
        self, variable: Variable, parameters: NDArray[np.float64], column: NDArray[Any]
    ) -> NDArray[np.float64]:
        """Return the normal log-density of log x minus log x, the change of scale."""
        normal = Gaussian().log_density(variable, parameters, column)
        return np.asarray(normal - np.nan_to_num(column)[:, None])

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Return the normal log-density of log x minus log x, as :meth:`log_density` does."""
        normal = super().log_density_left_out(statistics, settings, column, left)
        return np.asarray(normal - np.nan_to_num(column)[:, None])

    def closed_form(self, parameters: NDArray[np.float64]) -> ClosedForm:
        """Return the normal log-density of log x; −log x is the same in all classes."""
        return replace(super().closed_form(parameters), logarithm=True)

    def grid(self, variable: Variable, parameters: NDArray[np.float64]) -> Grid:
        """Return points that lie evenly on the scale of log x, with the widths that they have on the scale of x."""
        mean, deviation = self._mean_and_deviation(parameters)
        low, high = mean - GRID_DEVIATIONS * deviation, mean + GRID_DEVIATIONS * deviation
        ends = [(low.min(), high.max()), *zip(low, high, strict=True)]
        logs = np.unique(np.concatenate([np.linspace(a, b, GRID_POINTS) for a, b in ends]))
        points, first = np.unique(np.exp(logs), return_index=True)
        return Grid(tuple(points.tolist()), points * np.gradient(logs)[first], False)

    def sample(
        self, variable: Variable, parameters: NDArray[np.float64], c: int, size: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        """Draw from the log-normal distribution of the class."""
        return np.asarray(np.exp(super().sample(variable, parameters, c, size, rng)))

    def table(self, variable: Variable, parameters: NDArray[np.float64]) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return mean and standard deviation of log x in each class."""
        return ("mean of log", "deviation of log"), super().table(variable, parameters)[1]
