"""Expected counts of sequences whose states are hidden: each row counts for every state by its share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import expected_moments, expected_values
from bayeskit.counts.values import ragged
from bayeskit.kinds import kind_of
from bayeskit.sequence.counts import SequenceCounts, expected_joint, expected_table, gaussian_columns, joint_schema
from bayeskit.table.schema import Schema

Matrix = NDArray[np.float64]


class HiddenRows:
    """Encoded rows of which shares are counted.

    Parameters
    ----------
    schema : Schema
        The columns.
    columns : list of arrays
        The cells, as :func:`bayeskit.table.encode.encode` gives them.
    together : bool
        Whether the gaussian columns are counted together, for a full covariance.
    """

    def __init__(self, schema: Schema, columns: list[NDArray[Any]], together: bool) -> None:
        self.schema, self.columns, self.n_rows = schema, columns, len(columns[0])
        self.sizes = [schema[j].n_values for j in schema.discrete]
        self.offsets = ragged(self.sizes)
        self.numbers = [self._read(j) for j in schema.numeric]
        self.mean = np.array([_mean(column) for column in self.numbers])  # (n_numeric,)
        self.patterns: NDArray[np.bool_] | None = None
        if together:
            places = [schema.place[j] for j in gaussian_columns(schema)]
            self.joint = np.column_stack([np.empty((self.n_rows, 0)), *(self.numbers[p] for p in places)])
            known = ~np.isnan(self.joint)
            self.patterns, pattern = np.unique(known, axis=0, return_inverse=True)
            self.pattern = pattern.ravel()
            self.joint_mean = self.mean[places]

    def _read(self, j: int) -> Matrix:
        kind, variable = kind_of(self.schema[j]), self.schema[j]
        numbers = self.columns[j] if kind.any_number else kind.read(variable, self.columns[j])
        return np.ascontiguousarray(numbers, dtype=np.float64)

    def block(self, begin: int, end: int) -> list[NDArray[Any]]:
        """Return some rows of each column."""
        return [column[begin:end] for column in self.columns]


def _mean(column: Matrix) -> float:
    known = column[~np.isnan(column)]
    return float(known.mean()) if len(known) else 0.0


class ExpectedCounts:
    """A sum of expected counts, block after block, around means that lie near those of the result."""

    def __init__(self, rows: HiddenRows, n_states: int, around: SequenceCounts | None = None) -> None:
        self.rows, self.k = rows, n_states
        self.n_class = np.zeros(n_states)
        self.values = np.zeros((int(rows.offsets[-1]), n_states))
        self.sums = np.zeros((3, len(rows.numbers), n_states))
        self.centre = np.repeat(rows.mean[:, None], n_states, axis=1)  # (n_numeric, n_states)
        if around is not None:
            moments = around.table.moments
            self.centre = np.where(moments.weight > 0, moments.mean, self.centre)
        self.n_start, self.n_step = np.zeros(n_states), np.zeros((n_states, n_states))
        if rows.patterns is not None:
            n, d = rows.patterns.shape
            self.joint = np.zeros((n, n_states)), np.zeros((n, n_states, d)), np.zeros((n, n_states, d, d))
            places = [rows.schema.place[j] for j in gaussian_columns(rows.schema)]
            self.joint_centre = self.centre[places].T  # (n_states, d)

    def add(self, begin: int, end: int, share: Matrix) -> None:
        """Count rows by their shares, of shape (end − begin, n_states)."""
        rows = self.rows
        share = np.ascontiguousarray(share)
        self.n_class += share.sum(axis=0)
        for place, j in enumerate(rows.schema.discrete):
            first, last = rows.offsets[place], rows.offsets[place + 1]
            expected_values(np.ascontiguousarray(rows.columns[j][begin:end]), share, self.values[first:last])
        for place, column in enumerate(rows.numbers):
            part = np.zeros((3, self.k))
            expected_moments(column[begin:end], share, self.centre[place], part)
            self.sums[:, place] += part
        if rows.patterns is not None:
            self._add_joint(begin, end, share)

    def _add_joint(self, begin: int, end: int, share: Matrix) -> None:
        rows, (weight, first, second) = self.rows, self.joint
        pattern = rows.pattern[begin:end]
        assert rows.patterns is not None
        for p in np.unique(pattern).tolist():
            chosen, known = np.flatnonzero(pattern == p), np.flatnonzero(rows.patterns[p])
            x, part = rows.joint[begin:end][np.ix_(chosen, known)], share[chosen]
            weight[p] += part.sum(axis=0)
            for c in range(self.k):
                apart = x - self.joint_centre[c, known]
                scaled = apart * part[:, c, None]
                first[p, c, known] += scaled.sum(axis=0)
                second[p, c][np.ix_(known, known)] += scaled.T @ apart

    def total(self) -> SequenceCounts:
        """Return the sum as counts."""
        rows, classes = self.rows, np.arange(self.k)
        table = expected_table(rows.schema, classes, self.n_class, self.values, rows.offsets, self.sums, self.centre)
        joint = None
        if rows.patterns is not None:
            weight, first, second = self.joint
            shift = np.divide(first, weight[..., None], out=np.zeros_like(first), where=weight[..., None] > 0)
            mean = np.where(rows.patterns[:, None, :], self.joint_centre + shift, 0.0)
            scatter = second - first[..., :, None] * shift[..., None, :]
            scatter = (scatter + np.swapaxes(scatter, -1, -2)) / 2.0
            schema = joint_schema(rows.schema)
            joint = expected_joint(schema, classes, self.n_class, rows.patterns, weight, mean, scatter)
        return SequenceCounts(table, self.n_start, self.n_step, joint)
