"""Poisson columns: counts of events."""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.errors import TableError
from bayeskit.estimate.gaussian import poisson, poisson_prior_mean
from bayeskit.estimate.smoothing import as_smoothing
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.kinds.kind import Estimation, Family, Grid, Kind, Statistics
from bayeskit.table.encode import refuse_infinite
from bayeskit.table.schema import Variable


class Poisson(Kind):
    r"""Counts 0, 1, 2, … of events.

    .. math:: P(x \mid c) = e^{-r_c} r_c^x / x!

    The parameters are two rows with one column per class: log rate and rate.
    """

    name = "poisson"
    coded = False
    description = "a Poisson distribution"
    family = Family.POISSON
    words = ("poisson",)
    any_number = False
    holds = "counts 0, 1, 2, …"
    maximizes = True

    def estimate(self, statistics: Statistics, settings: Estimation) -> Sequence[NDArray[np.float64]]:
        """Take the mean of each class, with λ rows at the mean of the column."""
        rate = poisson(statistics.moments, _rows_at_the_mean(settings))
        # log 0 = -inf is meant: without smoothing, what never happened is impossible.
        with np.errstate(divide="ignore"):
            return list(np.stack([np.log(rate), rate], axis=1))

    def log_prior(self, statistics: Statistics, parameters: Sequence[Any], settings: Estimation) -> float:
        """Return Σ λ (x̄ log r − r), the log-density of a gamma distribution: λ rows at the mean x̄ of the column."""
        rows = _rows_at_the_mean(settings)
        if not rows:
            return 0.0
        mean = poisson_prior_mean(statistics.moments, rows)
        log_rate, rate = np.stack(list(parameters), axis=1)  # (n_columns, n_classes)
        return rows * float((mean * log_rate - rate).sum())

    def closed_form(self, parameters: NDArray[np.float64]) -> ClosedForm:
        """Return x log r − r; −log x! is the same in all classes."""
        log_rate, rate = parameters
        return ClosedForm(-rate, slope=log_rate, least=0.0, whole=True)

    def n_parameters(self, variable: Variable, parameters: NDArray[np.float64]) -> int:
        """Count a rate per class."""
        return int(parameters.shape[1])

    def grid(self, variable: Variable, parameters: NDArray[np.float64]) -> Grid:
        """Return all counts except the highest ones, whose total probability is below 1e-17."""
        # By Chernoff's bound exp(−t² / 2(r + t/3)) less than 1e-17 lies beyond t = 9 √r + 45 above the rate r.
        rate = float(parameters[1].max())
        most = int(rate + 9 * rate**0.5 + 45)
        return Grid(tuple(range(most + 1)), np.ones(most + 1), True)

    def sample(
        self, variable: Variable, parameters: NDArray[np.float64], c: int, size: int, rng: np.random.Generator
    ) -> Any:
        """Draw from the Poisson distribution of the class."""
        return rng.poisson(parameters[1, c], size=size)

    def table(self, variable: Variable, parameters: NDArray[np.float64]) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return the rate of each class."""
        return ("rate",), parameters[1:]

    def unfit(self, numbers: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which numbers are negative or have a fraction."""
        return np.asarray((numbers < 0) | (np.floor(numbers) < numbers))

    def read(self, variable: Variable, numbers: NDArray[Any]) -> NDArray[Any]:
        """Return the numbers; the first that is not a count is an error."""
        refuse_infinite(numbers, variable.name)
        odd = self.unfit(numbers)
        if odd.any():
            row = int(odd.argmax())
            raise TableError(
                f"column '{variable.name}', row {row}: a poisson column holds {self.holds}; "
                f"got {numbers[row].item()!r}."
            )
        return numbers

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Subtract each row from the mean of its class and of the whole column."""
        result = np.zeros((len(column), len(statistics.n_class)))
        for rows, (log_rate, rate) in self._estimates_left_out(statistics, settings, column, left):
            events = column[rows, None]
            log_factorial = np.array([lgamma(x + 1.0) for x in column[rows].tolist()])[:, None]
            # 0 · log 0 is 0: a count of zero is certain when the rate is zero.
            powers = np.multiply(events, log_rate, out=np.zeros_like(rate), where=events > 0)
            result[rows] = powers - rate - log_factorial
        return result


def _rows_at_the_mean(settings: Estimation) -> float:
    # A rate is one number: all of the smoothing's rows are its.
    return as_smoothing(settings.smoothing).pseudo_count(1)
