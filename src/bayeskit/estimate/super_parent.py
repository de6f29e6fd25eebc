"""The leave-one-out losses of each feature as the super-parent, from the counts of all pairs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit import _kernels as kernels
from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.defaults import PRIOR
from bayeskit.estimate.families import prior_counts, with_unseen
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing


def super_parent_losses(
    counts: FamilyCounts,
    smoothing: float | SymmetricSmoothing,
    columns: list[NDArray[Any]],
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
    *,
    smooth: bool = False,
    prior: Any = PRIOR,
) -> NDArray[np.float64]:
    r"""Return the leave-one-out losses of the SPODE of each feature, in one pass over the rows.

    .. math:: P(c \mid x) \propto P(c, x_u) \prod_{j \ne u} P(x_j \mid c, x_u)

    with the row itself subtracted from all counts. A missing child is left out, a missing super-parent is
    summed out.

    Parameters
    ----------
    counts : FamilyCounts
        All pairs of the columns, counted in the rows that are left out one by one.
    smoothing : float or SymmetricSmoothing
        λ, or a smoothing object.
    columns : list of arrays
        The coded columns.
    y : int array of shape (n_rows,)
        The class codes.
    weight : float64 array of shape (n_rows,) or None
        Of a row of weight above 1, one copy (weight 1) is left out; a row of weight below 1 is left out whole.
    smooth : bool, default False
        Whether each column has one more level, for values that were never seen.
    prior : {"smoothed", "data", "uniform"}, array or dict
        P(c), as in :class:`~bayeskit.estimate.families.FamilyBeliefs`.

    Returns
    -------
    float64 array of shape (n_features, 3)
        Weighted sums of 0-1 error, log-loss and (1 − P(true class))², infinite for a column without values. Of
        classes that tie the first is predicted.

    Examples
    --------
    >>> from bayeskit.learn.counting import learn_counts
    >>> from bayeskit.table.encode import encode
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"coin": ["h", "t", "h", "t", "h", "t"], "sky": ["blue"] * 3 + ["grey"] * 3})
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> alone = learn_counts(table, y, np.array(["dry", "wet"]))
    >>> columns = encode(table, alone.schema)
    >>> counts = FamilyCounts.of(alone, columns, y, "pairs")
    >>> super_parent_losses(counts, 1.0, columns, y, None)[:, 0]
    array([2., 0.])
    """
    believed, n_columns = as_smoothing(smoothing), len(counts.schema)
    sizes = [size + smooth if size else 0 for size in sizes_of(counts.schema)]
    alone, pairs = counts.alone.values.n_value.ravel(), counts.pairs
    if smooth:
        alone = np.concatenate([with_unseen(counts.column(j)).ravel() for j in range(n_columns)])
        both = [with_unseen(counts.table(pair)).ravel() for pair in combinations(range(n_columns), 2)]
        pairs = np.concatenate([*both, pairs[:0]])
    priors = [prior_counts(counts, believed, prior, j, size) for j, size in enumerate(sizes)]
    return kernels.super_parent_losses(
        columns,
        y,
        weight,
        alone,
        pairs,
        sizes,
        len(counts.classes),
        [believed.pseudo_count(size) for size in sizes],
        [believed.pseudo_count(len(counts.classes) * size) for size in sizes],
        np.concatenate([n_class for n_class, _ in priors]),
        [pseudo for _, pseudo in priors],
        kernels.n_threads(len(columns) ** 2 * len(y)),
    )
