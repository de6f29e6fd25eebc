"""The sufficient statistics of sequences: cells within each state, first states, and steps from state to state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.gaussian import GaussianCounts
from bayeskit.counts.joint_moments import JointMoments
from bayeskit.counts.moments import Moments
from bayeskit.counts.numbers import NumberCounts
from bayeskit.counts.table import TableCounts
from bayeskit.counts.values import ValueCounts
from bayeskit.errors import MergeError, ModelFileError
from bayeskit.io.expect import expect_array
from bayeskit.table.schema import Schema

_JOINT = "joint_"  # before the names of the arrays of a Gaussian over several columns


@dataclass(frozen=True)
class SequenceCounts:
    """Counts of the rows within each state, of first states and of steps. They add and subtract.

    Where all states are known they are whole numbers; where states are hidden they are expected counts.

    Examples
    --------
    >>> from bayeskit import HiddenMarkov
    >>> days = {"ice": [2, 3, 1], "weather": ["hot", "hot", "cold"]}
    >>> counts = HiddenMarkov(kinds="categorical").count(days, target="weather")
    >>> counts.classes, counts.n_step
    (array(['cold', 'hot'], dtype=object), array([[0, 0],
           [1, 1]]))
    """

    table: TableCounts  # cells within each state
    n_start: NDArray[Any]  # (n_states,): sequences that begin in each state
    n_step: NDArray[Any]  # (n_states, n_states): steps from a state (row) to the next (column)
    joint: GaussianCounts | None = None  # of the gaussian columns together, where their covariance is full

    @property
    def schema(self) -> Schema:
        """Name, kind and values of each column."""
        return self.table.schema

    @property
    def classes(self) -> NDArray[Any]:
        """The states, in increasing order."""
        return self.table.classes

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows in each state."""
        return self.table.n_class

    def declare(self, classes: NDArray[Any]) -> SequenceCounts:
        """Return the counts with declared states, which may have no row yet."""
        table = self.table.declare(classes)
        joint = None if self.joint is None else self.joint.declare(classes)
        return self._widened(table, joint)

    def _widened(self, table: TableCounts, joint: GaussianCounts | None) -> SequenceCounts:
        to = np.searchsorted(table.classes, self.classes)
        n_start = np.zeros(len(table.classes), dtype=self.n_start.dtype)
        n_step = np.zeros((len(n_start), len(n_start)), dtype=self.n_step.dtype)
        n_start[to], n_step[np.ix_(to, to)] = self.n_start, self.n_step
        return SequenceCounts(table, n_start, n_step, joint)

    def __add__(self, other: SequenceCounts) -> SequenceCounts:
        table = self.table + other.table
        a, b = (each._widened(table, None) for each in (self, other))
        joint = self._both(other)
        return SequenceCounts(
            table, a.n_start + b.n_start, a.n_step + b.n_step, None if joint is None else joint[0] + joint[1]
        )

    def __sub__(self, other: SequenceCounts) -> SequenceCounts:
        left = replace(self.table, declared_classes=True) - other.table
        b = other._widened(replace(left, class_labels=self.classes), None)
        n_start, n_step = self.n_start - b.n_start, self.n_step - b.n_step
        if (n_start < 0).any() or (n_step < 0).any():
            raise MergeError("cannot subtract a sequence that was never counted: a count would become negative.")
        joint = self._both(other)
        rest = None if joint is None else replace(joint[0], declared_classes=True) - joint[1]
        whole = SequenceCounts(left, n_start, n_step, rest)
        whole = replace(whole, table=replace(left, declared_classes=self.table.declared_classes))
        return whole.narrow()

    def _both(self, other: SequenceCounts) -> tuple[GaussianCounts, GaussianCounts] | None:
        if (self.joint is None) != (other.joint is None):
            raise MergeError("the gaussian columns are counted together on one side and one by one on the other.")
        return None if self.joint is None or other.joint is None else (self.joint, other.joint)

    def narrow(self) -> SequenceCounts:
        """Return the counts without levels and states that have no row and were not declared."""
        table = self.table.narrow()
        kept = np.searchsorted(self.classes, table.classes)
        joint = self.joint
        if joint is not None:
            joint = replace(joint, declared_classes=table.declared_classes).narrow()
        return SequenceCounts(table, self.n_start[kept], self.n_step[np.ix_(kept, kept)], joint)

    def in_order(self, order: NDArray[np.int64]) -> SequenceCounts:
        """Return the same counts with hidden states in another order; the states are numbered anew."""
        values, table = self.table.values, self.table
        moved = ValueCounts(values.n_class[order], np.ascontiguousarray(values.n_value[:, order]), values.offsets)
        table = replace(
            table,
            values=moved,
            moments=table.moments.keep_classes(order),
            numbers=table.numbers.keep_classes(order),
        )
        joint = self.joint
        if joint is not None:
            rank = np.argsort(order)
            joint = replace(joint, n_class=joint.n_class[order], label=rank[joint.label].astype(np.int64))._in_order()
        return SequenceCounts(table, self.n_start[order], self.n_step[np.ix_(order, order)], joint)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        meta, arrays = self.table.to_parts()
        arrays = {**arrays, "n_start": self.n_start, "n_step": self.n_step}
        if self.joint is not None:
            joint_meta, joint_arrays = self.joint.to_parts()
            meta = {**meta, "joint": joint_meta}
            arrays |= {_JOINT + name: array for name, array in joint_arrays.items()}
        return meta, arrays

    @classmethod
    def from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> SequenceCounts:
        """Read what :meth:`to_parts` gave; every size is checked."""
        table = TableCounts.from_parts(meta, arrays)
        k, dtype = len(table.classes), np.float64 if arrays["n_start"].dtype.kind == "f" else np.int64
        n_start, n_step = (expect_array(arrays, n, dtype, s) for n, s in (("n_start", (k,)), ("n_step", (k, k))))
        if not (np.isfinite(n_start).all() and np.isfinite(n_step).all()) or min(n_start.min(), n_step.min()) < 0:
            raise ModelFileError("a count of starts or steps is below zero, or not a finite number.")
        joint = None
        if "joint" in meta:
            joint_arrays = {
                name.removeprefix(_JOINT): array for name, array in arrays.items() if name.startswith(_JOINT)
            }
            joint = GaussianCounts.from_parts(meta["joint"], joint_arrays)
            if not np.array_equal(joint.classes, table.classes):
                raise ModelFileError("the states of the gaussian columns are not those of the others.")
        return cls(table, n_start, n_step, joint)


def count_steps(
    states: NDArray[np.int64], offsets: NDArray[np.int64], n_states: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return how many sequences begin in each state, and the steps from each state to each.

    >>> count_steps(np.array([0, 0, 1, 1]), np.array([0, 3, 4]), 2)
    (array([1, 1]), array([[1, 1],
           [0, 0]]))
    """
    first = offsets[:-1]
    inside = np.ones(len(states), dtype=bool)
    inside[first] = False
    to = np.flatnonzero(inside)
    steps = np.bincount(states[to - 1] * n_states + states[to], minlength=n_states**2)
    return np.bincount(states[first], minlength=n_states), steps.reshape(n_states, n_states)


def gaussian_columns(schema: Schema) -> tuple[int, ...]:
    """Return the columns that a full covariance is over."""
    return tuple(j for j in schema.numeric if schema[j].kind == "gaussian")


def joint_schema(schema: Schema) -> Schema:
    """Return the schema of these columns alone."""
    return Schema(tuple(schema[j] for j in gaussian_columns(schema)), schema.named)


def expected_table(
    schema: Schema,
    classes: NDArray[Any],
    n_class: NDArray[np.float64],
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    sums: NDArray[np.float64],
    centre: NDArray[np.float64],
) -> TableCounts:
    """Return expected counts as counts of a table.

    ``sums`` (3, n_numeric, n_states) are weight and the sums of (x − centre) and (x − centre)².
    """
    weight, first, second = sums
    shift = np.divide(first, weight, out=np.zeros_like(first), where=weight > 0)
    parts = np.zeros((6, *weight.shape))
    parts[0], parts[1] = weight, np.where(weight > 0, centre + shift, 0.0)
    parts[2] = np.maximum(second - first * shift, 0.0)
    numbers = NumberCounts.none(len(weight), len(n_class), np.float64)
    return TableCounts(schema, classes, ValueCounts(n_class, values, offsets), Moments(parts), numbers, True)


def expected_joint(
    schema: Schema,
    classes: NDArray[Any],
    n_class: NDArray[np.float64],
    patterns: NDArray[np.bool_],
    weight: NDArray[np.float64],
    mean: NDArray[np.float64],
    scatter: NDArray[np.float64],
) -> GaussianCounts:
    """Return expected joint moments, (n_patterns, n_states, …), as counts of Gaussian classes."""
    k = len(classes)
    label = np.tile(np.arange(k), len(patterns))
    known = np.repeat(patterns, k, axis=0)
    flat = [part.reshape(len(label), *part.shape[2:]) for part in (weight, mean, scatter)]
    moments = JointMoments(flat[0], *(np.stack([part, np.zeros_like(part)]) for part in flat[1:]))
    return GaussianCounts(schema, classes, n_class, label, known, moments, True)._in_order()
