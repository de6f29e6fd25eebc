"""What a linear unit learns, as something to minimise: minus the log-likelihood of labels, or the squared error."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from bayeskit._kernels import logistic_gradient, logistic_hessian, n_threads

Matrix = NDArray[np.float64]

# Rows whose inputs are looked at for their correlations; more would only change how quickly a solver gets there.
_SAMPLE = 20_000


@dataclass(frozen=True, eq=False)
class LinearProblem(ABC):
    """A function f of the coefficients W of units over centred inputs, the intercept last, per row."""

    table: NDArray[Any]  # (n_rows, n_inputs); NaN is a cell that takes the centre
    y: NDArray[Any]  # (n_rows,) class codes, or what the unit should say
    weight: NDArray[np.float64] | None
    center: NDArray[np.float64]  # (n_inputs,)
    scale: NDArray[np.float64]  # (n_inputs,): deviations, the units in which a gradient is judged
    n_units: int = 1
    l2: float = 0.0

    @abstractmethod
    def value(self, coef: Matrix) -> tuple[float, Matrix]:
        """Return f and its gradient."""

    @property
    @abstractmethod
    def curvature(self) -> tuple[float, float]:
        """The second derivative of a row's f by its score: at zero, and the most there can be."""

    @property
    def total(self) -> float:
        """Rows, or their weight."""
        return float(len(self.y) if self.weight is None else self.weight.sum())

    @property
    def shape(self) -> tuple[int, int]:
        """Units, and inputs with the intercept."""
        return self.n_units, self.table.shape[1] + 1

    @property
    def unit(self) -> NDArray[np.float64]:
        """The unit of each input, and 1 for the intercept."""
        return np.append(self.scale, 1.0)

    def size(self, gradient: Matrix) -> float:
        """Return the largest entry of a gradient, for inputs of deviation 1."""
        return float(np.abs(gradient / self.unit).max(initial=0.0))

    def part(self, step: int) -> Self:
        """Return the problem of every k-th row."""
        weight = None if self.weight is None else np.ascontiguousarray(self.weight[::step])
        return replace(self, table=self.table[::step], y=self.y[::step], weight=weight)

    def blocks(self, step: int = 1) -> Iterator[tuple[Matrix, NDArray[Any], NDArray[np.float64]]]:
        """Yield every k-th row, block by block: centred inputs with the intercept, targets and weights."""
        for begin in range(0, len(self.table), step << 14):
            rows = slice(begin, begin + (step << 14), step)
            x = np.asarray(self.table[rows], dtype=np.float64) - self.center
            if x.size and np.isnan(x.min()):
                x[np.isnan(x)] = 0.0
            w = np.ones(len(x)) if self.weight is None else self.weight[rows]
            yield np.column_stack([x, np.ones(len(x))]), self.y[rows], w

    def correlations(self, most_rows: int = _SAMPLE) -> Matrix:
        """Return Σ x xᵀ / n over centred inputs with the intercept, of evenly spaced rows."""
        products, total = np.zeros((self.shape[1], self.shape[1])), 0.0
        for x, _, w in self.blocks(-(-len(self.table) // most_rows)):
            products += (x * w[:, None]).T @ x
            total += float(w.sum())
        return products / max(total, 1e-300)


@dataclass(frozen=True, eq=False)
class LogisticProblem(LinearProblem):
    r"""Minus the penalised log-likelihood of class labels.

    .. math:: f(W) = -\frac1n \Big( \sum_i w_i \log P(y_i \mid x_i) - \tfrac{\lambda}2 \sum_{uj} W_{uj}^2 \Big), \quad
              P(c \mid x) \propto e^{W_c \cdot (x - m) + b_c}

    The intercept is not penalised. One unit stands for the second of two classes.
    """

    # (n_units, n_inputs + 1), or None: Σ w_i (d_i − [y_i = 1]) (x_i − m) where a unit learns frequencies d instead of
    # labels. The log-likelihood is linear in d, so that this is all they change.
    frequencies: NDArray[np.float64] | None = None

    @classmethod
    def of_frequencies(
        cls,
        table: NDArray[Any],
        d: NDArray[np.float64],
        weight: NDArray[np.float64] | None,
        center: NDArray[np.float64],
        scale: NDArray[np.float64],
    ) -> LogisticProblem:
        """Return the problem of one unit for 0-1 labels, or for how often the label is 1 in each row."""
        problem = cls(table, (d == 1.0).astype(np.uint8), weight, center, scale)
        rest = np.where(d == 1.0, 0.0, d)
        if not rest.any():
            return problem
        weighted = replace(problem, weight=rest if weight is None else rest * weight)
        return replace(problem, frequencies=np.sum([w @ x for x, _, w in weighted.blocks()], axis=0)[None, :])

    @property
    def curvature(self) -> tuple[float, float]:
        """¼ of one unit; the matrix of a softmax has no eigenvalue above ½ (Böhning 1992)."""
        return (0.25, 0.25) if self.n_units == 1 else ((1.0 - 1.0 / self.n_units) / self.n_units, 0.5)

    @property
    def value_at_zero(self) -> float:
        """Return f where all classes are as likely."""
        return float(np.log(max(2, self.n_units)))

    def value(self, coef: Matrix) -> tuple[float, Matrix]:
        """Return f and its gradient."""
        threads = n_threads(self.table.size * self.n_units)
        loss, gradient = logistic_gradient(self.table, self.y, self.weight, coef, self.center, threads)
        if self.frequencies is not None:
            loss -= float((self.frequencies * coef).sum())
            gradient -= self.frequencies
        if self.l2:
            loss += 0.5 * self.l2 * float((coef[:, :-1] ** 2).sum())
            gradient[:, :-1] += self.l2 * coef[:, :-1]
        return loss / self.total, gradient / self.total

    def hessian(self, coef: Matrix) -> Matrix:
        """Return the second derivatives of f, of shape (n_units · n_inputs, n_units · n_inputs)."""
        units, inputs = self.shape
        threads = n_threads(self.table.size * units * inputs)
        matrix = logistic_hessian(self.table, self.weight, coef, self.center, threads)
        if self.l2:
            diagonal = np.full((units, inputs), self.l2)
            diagonal[:, -1] = 0.0
            matrix[np.diag_indices_from(matrix)] += diagonal.ravel()
        return matrix / self.total

    def unit_hessians(self, coef: Matrix) -> Matrix:
        """Return the second derivatives of f by the coefficients of each unit, (n_units, n_inputs, n_inputs)."""
        hessians = np.zeros((self.n_units, self.shape[1], self.shape[1]))
        for x, _, w in self.blocks():
            p = softmax(x @ coef.T, axis=1)
            for u, share in enumerate((w[:, None] * p * (1.0 - p)).T):
                hessians[u] += (x * share[:, None]).T @ x
        return hessians / self.total


@dataclass(frozen=True, eq=False)
class SquaredErrorProblem(LinearProblem):
    r"""Half the squared error of one unit h(x) = σ(w · (x − m) + b): f(W) = 1/(2n) Σ w_i (d_i − h(x_i))²."""

    @property
    def curvature(self) -> tuple[float, float]:
        """σ′² = 1/16 at zero; never above that of the likelihood, ¼."""
        return 0.0625, 0.25

    @cached_property
    def _rows(self) -> tuple[Matrix, NDArray[np.float64]]:
        """All rows with the intercept, and their weights, which sum to 1."""
        x, _, weight = (np.concatenate(parts) for parts in zip(*self.blocks(), strict=True))
        return x, weight / weight.sum()

    def value(self, coef: Matrix) -> tuple[float, Matrix]:
        """Return f and its gradient."""
        x, share = self._rows
        h = expit(x @ coef[0])
        error = self.y - h
        return float(0.5 * share @ error**2), -((share * h * (1.0 - h) * error) @ x)[None, :]
