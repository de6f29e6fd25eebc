"""Linear units: what logistic regression, sigmoid units and least squares have learned, and their scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.io.expect import expect_array
from bayeskit.learn.design_matrix import DesignMatrix, Matrix
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema


@dataclass(frozen=True, eq=False)
class LinearUnits:
    """Units w₀ + Σ w_k x_k over the inputs of a design."""

    design: DesignMatrix
    coef: Matrix  # (n_units, n_inputs)
    intercept: NDArray[np.float64]  # (n_units,)

    @classmethod
    def around_mean(cls, design: DesignMatrix, coef: Matrix) -> LinearUnits:
        """Return the units of coefficients (n_units, n_inputs + 1) for centred inputs, intercept last."""
        weights = coef[:, :-1].copy()
        return cls(design, weights, coef[:, -1] - weights @ design.means)

    @property
    def at_mean(self) -> NDArray[np.float64]:
        """The scores of the mean row, shape (n_units,)."""
        return np.asarray(self.intercept + self.coef @ self.design.means)

    def scores(self, source: Source) -> Matrix:
        """Return the score of each row by each unit, shape (n_rows, n_units)."""
        # Around the mean row, so that a cell which takes the mean adds exactly nothing.
        inputs = self.design.inputs(source)
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.asarray((inputs - self.design.means) @ self.coef.T + self.at_mean)
        finite = np.isfinite(scores).all(axis=1)
        if not finite.all():
            row = int(finite.argmin())
            k = int(np.abs(inputs[row]).argmax())
            raise TableError(
                f"column '{self.design.names[k]}', row {row} holds {inputs[row, k]:g}, so large that the score of the "
                "row overflows; use a larger unit."
            )
        return scores

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a model file keeps."""
        return {"input_means": self.design.means, "coef": self.coef, "intercept": self.intercept}

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: dict[str, NDArray[Any]], n_units: int) -> LinearUnits:
        """Read the units of a model file."""
        design = DesignMatrix.from_arrays(schema, arrays)
        coef = expect_array(arrays, "coef", np.float64, (n_units, len(design.means)))
        return cls(design, coef, expect_array(arrays, "intercept", np.float64, (n_units,)))


class LinearState:
    """What the state of a model with linear units shows of them."""

    units: LinearUnits

    @property
    def design(self) -> DesignMatrix:
        """How columns become inputs."""
        return self.units.design

    @property
    def coef(self) -> Matrix:
        """The weights, of shape (n_units, n_inputs)."""
        return self.units.coef

    @property
    def intercept(self) -> Any:
        """The intercepts, of shape (n_units,)."""
        return self.units.intercept

    @property
    def input_names(self) -> tuple[str, ...]:
        """What each weight belongs to: a column, or "column = value"."""
        return self.units.design.names
