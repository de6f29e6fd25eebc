"""The leave-one-out losses of the first families of a structure, for many structures at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit import _kernels as kernels
from bayeskit.counts.families import FamilyCounts, sizes_of
from bayeskit.errors import warn_caller
from bayeskit.estimate.families import named_rows, with_unseen
from bayeskit.estimate.smoothing import SymmetricSmoothing, as_smoothing


def prefix_losses(
    counts: FamilyCounts,
    before: Sequence[int],
    smoothing: float | SymmetricSmoothing,
    columns: list[NDArray[Any]],
    y: NDArray[Any],
    weight: NDArray[np.float64] | None,
    *,
    smooth: bool = False,
) -> NDArray[np.float64]:
    r"""Return the leave-one-out losses of each family together with those before it, in one pass over the rows.

    .. math:: P(c \mid x) \propto P(c) \prod_f P(x_f \mid c, parents\ of\ f), \quad
              f = i,\ before(i),\ before(before(i)), \dots

    with the row itself subtracted from all counts. A missing cell is summed out; rows where that needs too
    large a table are named in a warning, and features with a missing parent are left out there.

    Parameters
    ----------
    counts : FamilyCounts
        The families, counted in the rows that are left out one by one. They form a tree.
    before : list of int
        The position of the family before each one, or −1.
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

    Returns
    -------
    float64 array of shape (n_families + 1,)
        Weighted sums of (1 − P(true class))², of the prior alone and then of each family with those before it.

    Examples
    --------
    >>> from bayeskit.learn.counting import learn_counts
    >>> from bayeskit.table.encode import encode
    >>> from bayeskit.table.read import read_table
    >>> table = read_table({"coin": ["h", "t", "h", "t"], "sky": ["blue"] * 2 + ["grey"] * 2})
    >>> y = np.array([0, 0, 1, 1])
    >>> alone = learn_counts(table, y, np.array(["dry", "wet"]))
    >>> columns = encode(table, alone.schema)
    >>> counts = FamilyCounts.of(alone, columns, y, ((0,), (1,), (0, 1)))
    >>> prefix_losses(counts, [-1, -1, 0], 1.0, columns, y, None).round(4)
    array([1.44  , 1.9172, 0.5184, 1.44  ])
    """
    threads = kernels.n_threads(len(counts.families) * len(y) * 8)
    believed = as_smoothing(smoothing)
    sizes = [size + smooth if size else 0 for size in sizes_of(counts.schema)]
    pseudo = [believed.pseudo_count(size) for size in sizes]
    cells = counts.cells
    if smooth:
        cells = np.concatenate([with_unseen(counts.table(members)).ravel() for members in counts.families])
    given = (columns, y, weight, counts.n_class, cells, sizes, counts.families, before)
    losses, rows = kernels.prefix_losses(*given, believed.pseudo_count(len(counts.n_class)), pseudo, threads)
    if rows:
        warn_caller(
            f"{named_rows(rows)}: summing out the missing cells needs too large a table under some of the structures "
            "that are tried, so that features with a missing parent are left out there when the structure is chosen."
        )
    return losses
