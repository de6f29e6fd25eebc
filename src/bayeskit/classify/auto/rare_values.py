r"""Values without a level of their own: what each says of the class within the group of all such values.

A column has 253 levels for its most frequent values at the most; the others share one, which networks, trees and
Gaussians see. By the chain rule P(v | c) = P(group | c) P(v | group, c), and the second factor follows from the class
profile of the value, shrunken to that of its group,

.. math:: \frac{P(v \mid \text{group}, c)}{P(v \mid \text{group})} = \frac{P(c \mid v)}{P(c \mid \text{group})},
          \qquad P(c \mid v) = \frac{n_{vc} + m P(c \mid \text{group})}{n_v + m}:

a value of few rows backs off to the group, which says nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.auto.levels import OTHER_LEVEL, Columns, Levels
from bayeskit.classify.auto.training_rows import TrainingRows
from bayeskit.estimate.smoothing import BACK_OFF_GRID

# Counts of rare values, one per value and class: a column with more than these has no part here, which a warning says.
MOST_CELLS = 1 << 25


@dataclass(frozen=True)
class RareValues:
    """The columns with rare values, and how much they are believed; which values are rare follows from the levels."""

    features: NDArray[np.int64]  # (n_columns,)
    places: tuple[NDArray[np.uint8], ...]  # by column: the level of each value, as in the levels
    strength: NDArray[np.float64]  # (n_columns,): m
    weight: NDArray[np.float64]  # (n_columns,): the weight of the evidence, beside those of the columns

    @classmethod
    def of_levels(cls, levels: Levels, n_classes: int) -> RareValues:
        """Return all columns with rare values that are not too many, with the least strength and no weight."""
        rare = [int((places == OTHER_LEVEL).sum()) for places in levels.places]
        features = np.array([j for j, n in enumerate(rare) if 0 < n * n_classes <= MOST_CELLS], dtype=np.int64)
        nothing = np.zeros(len(features))
        return cls(features, tuple(levels.places[j] for j in features), nothing + BACK_OFF_GRID[0], nothing)

    @cached_property
    def value_at(self) -> NDArray[np.int64]:
        """Where the rare values of each column begin in a list of all, and where the last ends."""
        sizes = [int((places == OTHER_LEVEL).sum()) for places in self.places]
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)

    @cached_property
    def _lookup(self) -> list[NDArray[np.int64]]:
        """By column: the place of each value among the rare ones of all columns, or −1; the last is no value at all."""
        is_rare = [np.append(places == OTHER_LEVEL, False) for places in self.places]
        return [np.where(rare, at + np.cumsum(rare) - 1, -1) for rare, at in zip(is_rare, self.value_at, strict=False)]

    def find(self, columns: Columns, order: Any = slice(None)) -> NDArray[np.int64]:
        """Return the place of each row's value among the rare ones, −1 where it is not rare: (n_columns, n_rows)."""
        codes = [columns[j][order].astype(np.int64) for j in self.features.tolist()]
        return np.stack([at[np.minimum(code, len(at) - 1)] for code, at in zip(codes, self._lookup, strict=True)])

    def count(self, rows: TrainingRows) -> NDArray[np.float64]:
        """Return how often each rare value came with each class, of shape (n_rare, n_classes)."""
        k, size = rows.n_classes, int(self.value_at[-1])
        counts = np.zeros(size * k)
        for place in self.find(rows.columns, rows.order) if size else ():
            rare = place >= 0
            counts += np.bincount(place[rare] * k + rows.y[rare], weights=rows.weight[rare], minlength=size * k)
        return counts.reshape(size, k)

    def left_out(self, counts: NDArray[np.float64], rows: TrainingRows) -> NDArray[np.float64]:
        """Return the evidence of rows, each left out of the counts, of shape (n_columns, n_rows, n_classes)."""
        if not len(self.features):
            return np.empty((0, rows.n_rows, rows.n_classes))
        return self.evidence(counts, self.find(rows.columns, rows.order), rows)

    def evidence(
        self, counts: NDArray[Any], place: NDArray[np.int64], left_out: TrainingRows | None = None
    ) -> NDArray[np.float64]:
        """Return log P(c | v) − log P(c | group) of each row, of shape (n_columns, n_rows, n_classes).

        It is 0 for a value that no row has. With ``left_out`` each row is left out of the counts.
        """
        out = np.zeros((*place.shape, counts.shape[1]))
        for line, (at, end, m) in enumerate(zip(self.value_at[:-1], self.value_at[1:], self.strength, strict=True)):
            rare = np.flatnonzero(place[line] >= 0)
            of_value = counts[place[line][rare]].astype(np.float64)  # (n, n_classes)
            of_group = np.repeat(counts[at:end].sum(axis=0, dtype=np.float64)[None, :], len(rare), axis=0)
            if left_out is not None:
                of_class = np.arange(len(rare)), left_out.y[rare]
                of_value[of_class] -= left_out.left_out_weight[rare]
                of_group[of_class] -= left_out.left_out_weight[rare]
            out[line, rare] = _evidence(of_value, of_group, m)
        return out


def learn_rare_values(rows: TrainingRows, levels: Levels) -> tuple[RareValues, NDArray[np.float64]]:
    """Return the columns with rare values, which have no weight yet, and the counts of these."""
    rare = RareValues.of_levels(levels, rows.n_classes)
    counts = rare.count(rows)
    return replace(rare, strength=_best_strengths(rare, counts)), counts


def _evidence(of_value: NDArray[np.float64], of_group: NDArray[np.float64], m: float) -> NDArray[np.float64]:
    """Return log P(c | v) − log P(c | group) by the counts of each, of shape (n_rows, n_classes)."""
    shares = np.maximum(of_group, 0.0) + 0.5  # half a row in each class
    shares /= shares.sum(axis=1, keepdims=True)
    of_value = np.maximum(of_value, 0.0)
    profile = (of_value + m * shares) / (of_value.sum(axis=1, keepdims=True) + m)
    return np.asarray(np.log(profile / shares))


def _best_strengths(rare: RareValues, counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the m of each column with the greatest Σ log P(c | v), each row left out of its counts."""
    best = []
    for at, end in zip(rare.value_at[:-1], rare.value_at[1:], strict=True):
        value, label = np.nonzero(counts[at:end])
        one = np.eye(counts.shape[1])[label]  # rows of a value and a class lose the same
        of_value, of_group = counts[at:end][value] - one, counts[at:end].sum(axis=0) - one
        n, of_class = counts[at:end][value, label], (np.arange(len(value)), label)
        fits = [float(n @ _evidence(of_value, of_group, m)[of_class]) for m in BACK_OFF_GRID]
        best.append(BACK_OFF_GRID[int(np.argmax(fits))])
    return np.array(best, dtype=np.float64)
