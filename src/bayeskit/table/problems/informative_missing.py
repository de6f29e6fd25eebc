"""Cells whose being missing says something about the class."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check, ignoring
from bayeskit.table.problems.examined import Examined

# A test of independence is passed at this level, divided by the number of columns; and the shares differ by this much.
LEVEL = 1e-4
LEAST_DIFFERENCE = 0.1
LEAST_CELLS = 10
# Classes with fewer rows than this are not compared.
ENOUGH_ROWS = 10


@check("informative missing")
def informative_missing(table: Examined) -> Iterator[Problem]:
    """Find columns that are missing more often in some classes than in others."""
    if table.y is None:
        return
    able = np.flatnonzero(table.n_class >= ENOUGH_ROWS)
    if len(able) < 2:
        return
    differ = []
    for name in table.used:
        missing = ~table.values(name).known
        n = np.bincount(table.y[missing], minlength=len(table.classes))[able]
        total = table.n_class[able]
        if n.sum() < LEAST_CELLS or n.sum() == total.sum():
            continue
        share = n / total
        k, least = int(share.argmax()), int(share.argmin())
        if share[k] - share[least] >= LEAST_DIFFERENCE and _p_value(n, total) < LEVEL / len(table.used):
            differ.append((share[k] - share[least], name, int(n.sum()), able[k], share[k], able[least], share[least]))
    if differ:
        differ.sort(reverse=True)
        _, name, n_missing, most, high, least, low = differ[0]
        columns = [each[1] for each in differ]
        shares = (
            f"missing in {100 * high:.0f} % of the rows of {table.classes[most]!r} and {100 * low:.0f} % of "
            f"{table.classes[least]!r}"
        )
        several = len(columns) > 1
        yield Problem(
            "informative missing",
            "missing more often in some classes than in others" if several else shares,
            tuple(columns),
            n_missing,
            f"{name!r}, {shares}" if several else "",
            "Whether the cell is filled depends on the class",
            "leave the column out if its cells are filled after the class is known",
            options=ignoring(columns),
        )


def _p_value(n: NDArray[np.int64], total: NDArray[np.int64]) -> float:
    """Return the p-value of the G test that all classes have one share of missing cells."""
    from scipy.special import chdtrc, xlogy

    expected = np.stack([total * n.sum() / total.sum(), total * (1 - n.sum() / total.sum())])
    seen = np.stack([n, total - n]).astype(np.float64)
    g = 2 * float((xlogy(seen, seen) - xlogy(seen, expected)).sum())
    return float(chdtrc(len(n) - 1, max(g, 0.0)))
