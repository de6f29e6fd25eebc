"""Random rows from classifiers with a structure."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.estimate.averaged import parent_joint
from bayeskit.estimate.discrete import dirichlet
from bayeskit.estimate.families import FamilyBeliefs
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing

# Rows of which the probabilities of all values are written out at a time.
BLOCK = 10_000

# The codes of a column; −1 where it has no value.
Codes = NDArray[np.int64]


def sample_families(beliefs: FamilyBeliefs, n_rows: int, rng: np.random.Generator) -> list[Codes]:
    """Draw rows of codes: the class, then each feature given its parents, which come before it.

    Where a slot is kept for unseen values, the draw is among the values that are known.
    """
    sizes = sizes_of(beliefs.counts.schema)
    codes = [np.full(n_rows, -1, dtype=np.int64) for _ in sizes]
    prior = np.exp(beliefs.log_prior)
    y = rng.choice(len(prior), size=n_rows, p=prior / prior.sum())
    for members, log_table in zip(beliefs.families, beliefs.log_tables, strict=True):
        feature = members[-1]
        if sizes[feature]:
            table = np.moveaxis(np.exp(log_table[..., : sizes[feature], :]), -2, -1)  # (parents …, class, values)
            codes[feature] = _sample(table, (*(codes[j] for j in members[:-1]), y), rng)
    return codes


def sample_members(members: list[FamilyBeliefs], n_rows: int, rng: np.random.Generator) -> list[Codes]:
    """Draw rows of codes from the mean of some models: a model, then a row of it."""
    chosen = rng.integers(len(members), size=n_rows)
    codes = [np.full(n_rows, -1, dtype=np.int64) for _ in sizes_of(members[0].counts.schema)]
    for k in np.unique(chosen).tolist():
        rows = np.flatnonzero(chosen == k)
        for column, drawn in zip(codes, sample_families(members[k], len(rows), rng), strict=True):
            column[rows] = drawn
    return codes


def sample_averaged(
    counts: FamilyCounts, smoothing: float | SymmetricSmoothing, prior: Any, n_rows: int, rng: np.random.Generator
) -> list[Codes]:
    r"""Draw rows of codes from the mean of all SPODEs: a super-parent, then a row of its SPODE.

    .. math:: P(x) = \frac{1}{|U|} \sum_{u} \sum_c P(c, x_u) \prod_j P(x_j \mid c, x_u)
    """
    sizes, believed = sizes_of(counts.schema), as_smoothing(smoothing)
    known = [j for j, size in enumerate(sizes) if size]
    order = min(2 if counts.kind == "triples" else 1, len(known))
    parents = list(combinations(known, order))
    codes = [np.full(n_rows, -1, dtype=np.int64) for _ in sizes]
    chosen = rng.integers(len(parents), size=n_rows)
    for k in np.unique(chosen).tolist() if known else ():
        rows, above = np.flatnonzero(chosen == k), parents[k]
        joint = parent_joint(counts.table(above), believed, prior, counts.classes)
        drawn = np.unravel_index(rng.choice(joint.size, size=len(rows), p=joint.ravel()), joint.shape)
        for j, column in zip(above, drawn[:-1], strict=True):
            codes[j][rows] = column
        for j in known:
            if j not in above:
                given = np.moveaxis(counts.table((*above, j)), -2, 0)  # (values, super-parent …, class)
                table = np.moveaxis(dirichlet(given, believed.pseudo_count(sizes[j])), 0, -1)
                codes[j][rows] = _sample(table, drawn, rng)
    return codes


def _sample(table: NDArray[np.float64], given: tuple[Any, ...], rng: np.random.Generator) -> Codes:
    """Draw one value per row from the rows of a table, whose last axis runs over the values."""
    drawn = np.empty(len(given[0]), dtype=np.int64)
    for start in range(0, len(drawn), BLOCK):
        block = slice(start, start + BLOCK)
        total = np.cumsum(table[tuple(axis[block] for axis in given)], axis=1)
        # Scaled by the whole, which is 1 but for rounding and a slot for unseen values.
        at = rng.random(len(total)) * total[:, -1]
        drawn[block] = np.minimum((total <= at[:, None]).sum(axis=1), table.shape[-1] - 1)
    return drawn
