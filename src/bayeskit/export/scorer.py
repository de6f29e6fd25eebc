"""What any exported classifier predicts with, as plain arrays: the one form that every target reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import Families
from bayeskit.kinds.closed_form import ClosedForm
from bayeskit.table.schema import Variable

# The level of a cell that is not known, and of one that the model refuses.
HIDDEN, REFUSED = -1, -2
# A column with more indicators than these is hidden whole, and so many columns at the most: see `columns_hidden_whole`.
MANY_INDICATORS, MOST_HIDDEN_WHOLE = 8, 4

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Column:
    """How the cells of one column are read.

    A cell of a discrete column has a code: 0 where it is missing, the place of its value from 1, and after the last
    value one more for a value that was not seen in fit. ``levels`` says which level each code is to the model, or
    HIDDEN or REFUSED. A numeric column has none: it is a number, hidden where it is missing.
    """

    variable: Variable
    levels: Integers | None

    @property
    def is_read(self) -> bool:
        """Whether the column had a value in fit; the others have no effect."""
        return self.variable.is_numeric or self.variable.n_values > 0

    @property
    def is_text(self) -> bool:
        """Whether the cells are texts; all others, truth values among them, are numbers."""
        return not self.variable.is_binned and any(isinstance(value, str) for value in self.variable.values)


@dataclass(frozen=True, eq=False)
class Sum:
    """A term per column: log P(x, c) is the start plus these, of which a hidden cell adds nothing."""

    start: Floats  # (n_classes,)
    tables: dict[int, Floats]  # by column, (n_levels, n_classes)
    densities: dict[int, ClosedForm]  # by column


@dataclass(frozen=True, eq=False)
class Structure:
    """log P(c), and log P(x_j | parents, c) of each family; parents that are hidden are summed out."""

    log_prior: Floats  # (n_classes,)
    families: Families  # the parents of each feature, then the feature
    tables: tuple[Floats, ...]  # (values of each parent …, values of the feature, n_classes)
    # The levels of the first family's feature with which the structure takes part; a hidden cell always does.
    takes_part: NDArray[np.bool_] | None = None


@dataclass(frozen=True, eq=False)
class Average:
    """P(x, c) is the mean over the structures that take part; where none does, that of one without parents."""

    members: tuple[Structure, ...]
    otherwise: Structure | None = None


@dataclass(frozen=True, eq=False)
class Scales:
    """Numbers z of a row: a number is x / unit less center, over scale, or a point of its curve; others indicate."""

    feature: Integers  # (p,): the column of each z
    level: Integers  # (p,): z indicates this level of the column; -1 for a number
    median: Floats  # (p,): stands for a missing cell that is not hidden
    unit: Floats
    center: Floats
    scale: Floats
    farthest: float  # a number without a curve is at most this from 0
    curve_at: Integers  # (n_numbers + 1,): where the points of each curve begin; empty curves are none
    curve_x: Floats
    curve_z: Floats


@dataclass(frozen=True, eq=False)
class Gaussians(Scales):
    r"""A normal or a t distribution of some numbers z in each class; those that are hidden are integrated out.

    With q the squared distance of the known z by Σ and p their number, log p(z | c) is :math:`-(q + \log|\Sigma|) / 2`,
    or for a t distribution :math:`shape_p - \log|\Sigma| / 2 - (df + p) / 2 \log(1 + spread\,q)`.
    """

    mean: Floats  # (n_classes, p)
    mean_rest: Floats  # (n_classes, p): the digits of the mean that a double does not hold
    deviation: Floats  # (n_classes, p): Σ is `lower` lowerᵀ, times these on both sides
    lower: Floats  # (n_classes, p, p)
    shape: Floats  # (n_classes, p + 1): by the number of known z
    df: Floats | None  # (n_classes,); None for a normal distribution
    spread: Floats  # (n_classes,)
    start: Floats  # (n_classes,): is added


def columns_hidden_whole(part: Gaussians) -> list[tuple[int, ...]]:
    """Return each set of the columns with many indicators that may be hidden together, the empty one first.

    Engines without matrices sweep hidden z out one by one. Of a column with hundreds of them that would take for ever,
    so that there is a distribution without these instead: for each set of such columns, up to four.
    """
    feature, n = np.unique(part.feature, return_counts=True)
    many = sorted(zip(n.tolist(), feature.tolist(), strict=True), reverse=True)[:MOST_HIDDEN_WHOLE]
    columns = [j for size, j in many if size > MANY_INDICATORS]
    return [some for size in range(len(columns) + 1) for some in combinations(columns, size)]


def without_columns(part: Gaussians, columns: Sequence[int]) -> Gaussians:
    """Return the distribution of the z of other columns; those that are left out are indicators, which stand last."""
    keep = ~np.isin(part.feature, columns)
    correlation = (part.lower @ np.swapaxes(part.lower, 1, 2))[:, keep][:, :, keep]
    lower = np.asarray(np.linalg.cholesky(correlation) if correlation.size else correlation, dtype=np.float64)
    of_z = {name: getattr(part, name)[keep] for name in ("feature", "level", "median", "unit", "center", "scale")}
    of_class = {name: getattr(part, name)[:, keep] for name in ("mean", "mean_rest", "deviation")}
    return replace(part, **of_z, **of_class, lower=lower, shape=part.shape[:, : int(keep.sum()) + 1])


@dataclass(frozen=True, eq=False)
class Linear(Scales):
    """A score that is linear in z: start + (z − mean) · coefficients; a hidden cell stands at the mean."""

    mean: Floats  # (p,)
    coefficients: Floats  # (p, n_classes)
    start: Floats  # (n_classes,)


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees of tests on levels: P(c | x), or a score, is the weighted sum over the trees.

    A node sends level 0, the missing cell, to the child ``absent``, a level below ``cut`` to the first child and others
    to the second; without a cut ``sides`` has the child of each level. A hidden cell, and a side of -1, go to every
    child by its ``share``. In a node a row stops with the probability ``stop``, and its line answers.
    """

    tree_at: Integers  # (n_trees + 1,): the root of each
    weight: Floats  # (n_trees,): sums to 1 where the answer is P(c | x)
    feature: Integers  # (n_nodes,): -1 in a leaf
    cut: Integers  # (n_nodes,): -1 where the sides say it
    absent: Integers  # (n_nodes,)
    side_at: Integers  # (n_nodes,)
    sides: Integers
    child: Integers  # (n_nodes,): the first child
    n_children: Integers  # (n_nodes,)
    share: Floats  # (n_nodes,): of the rows of its parent
    stop: Floats  # (n_nodes,)
    lines: NDArray[Any]  # (n_nodes, n_classes): P(c | node)


@dataclass(frozen=True, eq=False)
class Networks:
    """Evidence networks: a column's bins, and a context for the bins of its parents as far as rows were seen.

    log P(x_j | c) is the line of the deepest context, and of the column's bin; see `EvidenceNetworks` for the layout.
    """

    level_at: Integers  # (n_columns + 1,)
    bins: Integers  # (n_networks, n_levels): the bin of each level
    sizes: Integers  # (n_networks, n_columns): how many bins
    parents: Integers  # (n_networks, n_columns, depths): -1 after the last
    n_nodes: Integers  # (n_networks, n_columns, depths + 1)
    child: Integers  # the context for each bin of the next parent, 0 where there is none
    child_at: Integers  # (n_networks n_columns + 1,)
    value_at: Integers  # (n_networks n_columns + 1,): the first line
    lines: NDArray[np.float32]  # (n_lines, n_classes)
    weight: Floats  # (n_columns,): of each column
    plain_weight: Floats  # (n_columns,): of each column where cells are hidden
    start: Floats  # (n_classes,)


@dataclass(frozen=True, eq=False)
class RareTerms:
    """What the values of a column without a level of their own add to the networks."""

    column: int
    weight: float  # where cells are hidden too, it is 1
    lines: Floats  # (n_codes, n_classes): by the code of a cell; zeros for other values, and where it is hidden


@dataclass(frozen=True, eq=False)
class Pool:
    """AutoBayes: members whose log P(c | x) are pooled, for full rows and for rows of which little is known."""

    networks: Networks
    rare: tuple[RareTerms, ...]
    gaussians: tuple[Gaussians, ...]
    beside: tuple[dict[int, Floats], ...]  # of each of the Gaussians: tables of other columns, as in a sum
    forests: tuple[Forest, ...]
    linear: tuple[Linear, ...]
    boosted: tuple[Forest, ...]  # what they answer is added to the scores of the pool of full rows
    varies: NDArray[np.bool_]  # (n_columns,): the columns whose hidden cells count
    least_log: float  # a member's log P(c | x) is at least this
    weight: Floats  # (n_members,): networks, Gaussians, forests, linear
    bias: Floats  # (n_classes,)
    matrix: Floats  # (n_classes, n_classes + 1)
    centre: NDArray[np.bool_]  # (n_classes,): classes whose mean score is taken off
    few_weight: float  # of each member where little is known
    nothing_known: Floats  # (n_members, n_classes): log P(c) by each member
    log_prior: Floats  # (n_classes,)
    n_rows: float  # with these the answer is mixed with one row of P(c)


Part = Sum | Average | Gaussians | Forest | Pool


@dataclass(frozen=True, eq=False)
class Scorer:
    """A fitted classifier as plain arrays: how its cells are read, and what it computes of their levels and numbers."""

    classes: list[Any]
    columns: tuple[Column, ...]  # in the order of the schema
    part: Part
    log_prior: Floats  # (n_classes,)
    unseen: str = "ignore"
    # What a row gets that has probability 0 under every class: "error" or the "prior".
    impossible: str = "error"


def factors(covariance: Floats) -> tuple[Floats, Floats]:
    """Return the deviations of each class, and the Cholesky factor of its correlations."""
    deviation: Floats = np.sqrt(np.diagonal(covariance, axis1=1, axis2=2))
    correlation = covariance / deviation[:, :, None] / deviation[:, None, :]
    # Without a column there is nothing to factor, which some releases of NumPy refuse.
    return deviation, np.asarray(np.linalg.cholesky(correlation) if covariance.size else covariance)
