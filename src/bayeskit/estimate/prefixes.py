"""How well the first families of a structure do, for many structures at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit import _kernels as kernels
from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.estimate.families import too_many_hidden


def prefix_losses(
    counts: FamilyCounts,
    before: Sequence[int],
    smoothing: float,
    columns: list[NDArray[Any]],
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
) -> NDArray[np.float64]:
    r"""Return the leave-one-out losses of each family together with those before it, in one pass over the rows.

    .. math:: P(c \mid x) \propto P(c) \prod_f P(x_f \mid c, parents\ of\ f), \quad
              f = i,\ before(i),\ before(before(i)), \dots

    with the row's own count taken out of all that it is in. A missing cell is summed out.

    Parameters
    ----------
    counts : FamilyCounts
        The families, counted in the rows that are left out one by one. They form a tree.
    before : list of int
        The position of the family that each stands behind, an earlier one, or −1.
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
    float64 array of shape (n_families + 1,)
        Weighted sums of (1 − P(true class))², of the prior alone and then of each family with those before it.

    Examples
    --------
    >>> from bayeskit.counts.table import TableCounts
    >>> from bayeskit.table.encode import encode
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"coin": ["h", "t", "h", "t"], "sky": ["blue"] * 2 + ["grey"] * 2})
    >>> y = np.array([0, 0, 1, 1])
    >>> alone = TableCounts.learn(table, y, np.array(["dry", "wet"]))
    >>> columns = encode(table, alone.schema)
    >>> counts = FamilyCounts.of(alone, columns, y, ((0,), (1,), (0, 1)))
    >>> prefix_losses(counts, [-1, -1, 0], 1.0, columns, y, None).round(4)
    array([1.44  , 1.9172, 0.5184, 1.44  ])
    """
    threads = kernels.n_threads(len(counts.families) * len(y) * 8)
    sizes = sizes_of(counts.schema)
    given = (columns, y, weight, counts.n_class, counts.cells, sizes, counts.families, before)
    try:
        return kernels.prefix_losses(*given, float(smoothing), threads)
    except OverflowError as error:
        raise too_many_hidden(error) from None
