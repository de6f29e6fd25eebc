"""Any table as a matrix of numbers: the inputs x₁ … x_n of a linear unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.moments import Moments
from bayeskit.errors import TableError
from bayeskit.io.expect import expect_array
from bayeskit.table.encode import encode, refuse_infinite
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema

Matrix = NDArray[np.float64]
Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class DesignMatrix:
    """How columns become inputs: numbers as they are, categories as one 0-1 input for each value but the first.

    A missing cell, and a value that was not seen in fit, take the means of the training rows, so they add nothing.
    """

    schema: Schema
    means: NDArray[np.float64]  # (n_inputs,)

    @classmethod
    def learn(cls, source: Source, schema: Schema, weight: NDArray[np.float64] | None) -> TrainingInputs:
        """Return the design of a table with its inputs; an array of numbers is its own inputs, without a copy."""
        array = source.array
        in_place = array is not None and array.dtype.kind in "iuf" and len(schema.numeric) == len(schema)
        table = array if in_place and array is not None else raw_inputs(source, schema)
        try:
            moments = Moments.of(table, np.zeros(source.n_rows, dtype=np.uint8), 1, weight)
        except OverflowError as error:
            for j in schema.numeric:
                refuse_infinite(np.asarray(source.column(j).values), schema[j].name)  # type: ignore[union-attr]
            column, size = error.args
            name = cls(schema, np.empty(0)).names[column]
            raise TableError(
                f"input '{name}' holds numbers so {size} that their squares "
                f"{'overflow; use a larger' if size == 'large' else 'underflow; use a smaller'} unit."
            ) from None
        means = moments.mean[:, 0]
        scale = np.sqrt(moments.scatter[:, 0] / np.maximum(moments.weight[:, 0], 1e-300))
        # A column of one value has no say: its unit does not matter.
        scale = np.where(scale > 1e-13 * np.abs(means), scale, np.maximum(1.0, np.abs(means)))
        return TrainingInputs(cls(schema, means), table, scale, weight)

    @property
    def names(self) -> tuple[str, ...]:
        """The inputs' names: ``age``, or ``sex = male``."""
        return tuple(name for variable in self.schema for name in _names(variable))

    @property
    def columns(self) -> NDArray[np.int64]:
        """The column that each input comes from, shape (n_inputs,)."""
        return np.repeat(np.arange(len(self.schema)), [len(_names(variable)) for variable in self.schema])

    def inputs(self, source: Source) -> Matrix:
        """Return the inputs of a table, shape (n_rows, n_inputs)."""
        inputs = raw_inputs(source, self.schema)
        return np.where(np.isnan(inputs), self.means, inputs)

    @classmethod
    def from_arrays(cls, schema: Schema, arrays: dict[str, NDArray[Any]]) -> DesignMatrix:
        """Read the means of a model file."""
        n = sum(len(_names(variable)) for variable in schema)
        means = expect_array(arrays, "input_means", np.float64, (n,))
        if not np.isfinite(means).all():
            raise ValueError("the means of the inputs are not finite")
        return cls(schema, means)


@dataclass(frozen=True, eq=False)
class TrainingInputs:
    """The rows of a fit as inputs, with what centres and scales them."""

    design: DesignMatrix
    table: NDArray[Any]  # (n_rows, n_inputs) in any numeric type; NaN where a cell is missing
    scale: Vector  # (n_inputs,): the deviation of each input
    weight: Vector | None  # (n_rows,)

    @property
    def centred(self) -> Matrix:
        """The deviations of inputs from their means; a missing cell deviates by nothing."""
        deviation: Matrix = np.subtract(self.table, self.design.means, dtype=np.float64)
        if deviation.size and np.isnan(deviation.min()):
            deviation[np.isnan(deviation)] = 0.0
        return deviation

    def with_targets(self, y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], Vector | None, Vector, Vector]:
        """Return the first arguments of a :class:`~bayeskit.estimate.linear_problem.LinearProblem`."""
        return self.table, y, self.weight, self.design.means, self.scale


def _names(variable: Any) -> tuple[str, ...]:
    if variable.is_numeric:
        return (variable.name,)
    return tuple(f"{variable.name} = {value}" for value in variable.values[1:])


def raw_inputs(source: Source, schema: Schema) -> Matrix:
    """Return the inputs of a table with NaN where a cell is missing or holds a value that the schema lacks."""
    parts = [np.empty((source.n_rows, 0))]
    for variable, column in zip(schema, encode(source, schema), strict=True):
        if variable.is_numeric:
            refuse_infinite(column, variable.name)
            parts.append(column.astype(np.float64)[:, None])
        elif variable.n_values > 1:
            part = (column[:, None] == np.arange(1, variable.n_values)).astype(np.float64)
            part[column >= variable.n_values] = np.nan  # missing and unseen have codes above all values
            parts.append(part)
    return np.concatenate(parts, axis=1)
