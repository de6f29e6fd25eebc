"""Categorical columns: a smoothed table of their values; other kinds that count values build on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.left_out import LeftOut
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing
from bayeskit.kinds.kind import Cells, Estimation, Family, FitContext, Grid, Kind, Statistics, Unseen
from bayeskit.table.column import Coded, Column
from bayeskit.table.encode import distinct
from bayeskit.table.schema import Variable


class CodedKind(Kind):
    r"""A column that is counted value by value.

    .. math:: P(v \mid c) = \frac{|D_{c,v}| + λ}{|D_{c,\ known}| + Sλ}

    The parameters are log-probabilities of shape (n_values + 2, n_classes): the values, then unseen, then missing.
    """

    coded = True
    takes_text = True
    family = Family.TABLE
    maximizes = True

    def estimate(self, statistics: Statistics, settings: Estimation) -> Sequence[NDArray[np.float64]]:
        """Smooth the counts of each column by λ."""
        smoothing = as_smoothing(settings.smoothing)
        return [_log_table(n, smoothing, settings.unseen) for n in statistics.n_value]

    def log_prior(self, statistics: Statistics, parameters: Sequence[Any], settings: Estimation) -> float:
        """Return Σ λ log P(v | c), the log-density of a Dirichlet distribution: λ more rows with each value."""
        total = 0.0
        for variable, table in zip(statistics.variables, parameters, strict=True):
            n_cells = variable.n_values + (settings.unseen == "smooth")
            pseudo = as_smoothing(settings.smoothing).pseudo_count(n_cells)
            total += pseudo * float(table[:n_cells].sum()) if pseudo else 0.0
        return total

    def n_parameters(self, variable: Variable, parameters: NDArray[np.float64]) -> int:
        """All probabilities of a class but one are free."""
        return int(parameters.shape[1]) * (variable.n_values - 1)

    def grid(self, variable: Variable, parameters: Any) -> Grid:
        """Return the values, each with a probability of its own."""
        return Grid(variable.values, np.ones(variable.n_values), True)

    def sample(
        self, variable: Variable, parameters: NDArray[np.float64], c: int, size: int, rng: np.random.Generator
    ) -> Any:
        """Draw values; an unseen slot keeps a share of the probability, which is never drawn."""
        share = np.exp(parameters[: variable.n_values])[:, c]
        values = np.empty(variable.n_values, dtype=object)
        values[:] = self.grid(variable, parameters).values
        return values[rng.choice(len(share), size=size, p=share / share.sum())]

    def table(self, variable: Variable, parameters: NDArray[np.float64]) -> tuple[tuple[Any, ...], NDArray[np.float64]]:
        """Return P(v | c), one row per value."""
        return variable.values, np.exp(parameters[: variable.n_values])

    def log_density_left_out(
        self, statistics: Statistics, settings: Estimation, column: NDArray[Any], left: LeftOut
    ) -> NDArray[np.float64]:
        """Subtract the row from its own cell; the values stay those of all rows."""
        n = np.asarray(statistics.n_value[0], dtype=np.float64)
        result = self.log_density(statistics.variables[0], self.estimate(statistics, settings)[0], column)
        rows = np.flatnonzero(column < len(n))
        value, c, taken = column[rows], left.y[rows], left.taken_out[rows]
        n_cells = len(n) + (settings.unseen == "smooth")
        pseudo = as_smoothing(settings.smoothing).pseudo_count(n_cells)
        # Weights that were added up may leave a last bit below zero.
        rest = np.maximum(n[value, c] - taken, 0.0) + pseudo
        total = np.maximum(n.sum(axis=0)[c] - taken, 0.0) + n_cells * pseudo
        # log 0 = -inf is meant: without smoothing, what no other row has is impossible. Where no other row is known,
        # each value is as likely.
        with np.errstate(divide="ignore"):
            share = np.divide(rest, total, out=np.full(len(rows), 1.0 / n_cells), where=total > 0)
            result[rows, c] = np.log(share)
        return result

    def cells(self, variable: Variable) -> Cells:
        """Text where some value is text, truth values where all are, and numbers otherwise."""
        if any(isinstance(value, str) for value in variable.values):
            return "text"
        return "truth" if variable.values and all(isinstance(v, bool) for v in variable.values) else "number"


class Categorical(CodedKind):
    """Text, codes and small whole numbers."""

    name = "categorical"
    words = ("categorical",)
    description = "a smoothed table of the values"

    def learn(self, columns: Sequence[Column], names: Sequence[str], word: str, training: FitContext) -> list[Variable]:
        """List the values of each column; those of a categorical dtype are declared."""
        return [
            Variable(name, self.name, distinct(column, name), declared=isinstance(column, Coded) and column.declared)
            for column, name in zip(columns, names, strict=True)
        ]


def _log_table(n: NDArray[Any], smoothing: SymmetricSmoothing, unseen: Unseen) -> NDArray[np.float64]:
    n_values, n_classes = n.shape
    table = np.zeros((n_values + 2, n_classes))
    # log 0 = -inf is meant: what was never seen, without smoothing, is impossible.
    with np.errstate(divide="ignore"):
        if unseen == "smooth":
            table[:-1] = np.log(smoothing.probabilities(np.vstack([n, np.zeros((1, n_classes))])))
        else:
            table[:-2] = np.log(smoothing.probabilities(n))
    return table
