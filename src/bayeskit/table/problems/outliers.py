"""Numbers so far from the others that a few of them decide the mean or the spread."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# The cells farthest from the median: this share of them, at least one.
FARTHEST = 0.001
# They change a moment where the standard deviation without them is less than this share of the one with them.
CHANGED = 0.5
ENOUGH_VALUES = 20


@check("outliers")
def outliers(table: Examined) -> Iterator[Problem]:
    """Find numeric columns whose standard deviation comes from a few cells."""
    for name in table.used:
        values = table.values(name)
        if not values.numeric or len(values.levels) < ENOUGH_VALUES or table.kinds.get(name, "numeric") != "numeric":
            continue
        levels = np.asarray(values.levels, dtype=np.float64)
        cells = levels[values.codes[values.known]]
        k = max(1, int(FARTHEST * len(cells)))
        order = np.argsort(np.abs(cells - np.median(cells)), kind="stable")
        inner = cells[order[:-k]]
        spread, without = float(cells.std()), float(inner.std())
        if not 0 < without < CHANGED * spread:
            continue
        worst = values.level(len(levels) - 1 if abs(levels[-1]) >= abs(levels[0]) else 0)
        yield Problem(
            "outliers",
            f"{k} of {len(cells):,} cells change{'s' if k == 1 else ''} the standard deviation from {without:.3g} to "
            f"{spread:.3g}, and the mean from {inner.mean():.3g} to {cells.mean():.3g}",
            (name,),
            k,
            repr(worst),
            "A normal density then fits none of the rows",
            "correct the cells, or take a kind that does not mind",
            options=(("kinds", f"{name}=equal-frequency"),),
        )
