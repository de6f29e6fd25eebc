"""How well each feature does as the super-parent, from the counts of all pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit import _kernels as kernels
from bayeskit.counts.families import FamilyCounts, sizes_of


def super_parent_losses(
    counts: FamilyCounts,
    smoothing: float,
    columns: list[NDArray[Any]],
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    r"""Return the leave-one-out losses of the SPODE of each feature, in one pass over the rows.

    .. math:: P(c \mid x) \propto P(c, x_u) \prod_{j \ne u} P(x_j \mid c, x_u)

    with the row's own count taken out of all that it is in. A missing child is left out, a missing super-parent is
    summed out.

    Parameters
    ----------
    counts : FamilyCounts
        All pairs of the columns, counted in the rows that are left out one by one.
    smoothing : float
        λ.
    columns : list of arrays
        The coded columns.
    y : int array of shape (n_rows,)
        The class codes.
    weight : float64 array of shape (n_rows,) or None
        A row of weight above one leaves as one row, of weight below one as a whole.

    Returns
    -------
    float64 array of shape (n_features, 3)
        Weighted sums of 0-1 error, log-loss and (1 − P(true class))², infinite for a column without values.

    Examples
    --------
    >>> from bayeskit.counts.table import TableCounts
    >>> from bayeskit.table.encode import encode
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"coin": ["h", "t", "h", "t", "h", "t"], "sky": ["blue"] * 3 + ["grey"] * 3})
    >>> y = np.array([0, 0, 0, 1, 1, 1])
    >>> alone = TableCounts.learn(table, y, np.array(["dry", "wet"]))
    >>> columns = encode(table, alone.schema)
    >>> counts = FamilyCounts.of(alone, columns, y, "pairs")
    >>> super_parent_losses(counts, 1.0, columns, y, None)[:, 0]
    array([2., 0.])
    """
    return kernels.super_parent_losses(
        columns,
        y,
        weight,
        counts.alone.values.n_value.ravel(),
        counts.pairs,
        sizes_of(counts.schema),
        len(counts.classes),
        float(smoothing),
        kernels.n_threads(len(columns) ** 2 * len(y)),
    )
