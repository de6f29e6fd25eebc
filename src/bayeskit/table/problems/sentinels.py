"""Numbers that stand for a missing cell, such as -999, 9999, or 0 where nothing can be 0."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# What people and programs write: nines, minus one, and the marks of old programs.
CODES = frozenset(
    (
        *(-1, -8, -9, -88, -99, -888, -999, -8888, -9999, -99999, -999999, -32768, -2147483648),
        *(99, 888, 999, 8888, 9999, 99999, 999999, 9999999, 32767, 2147483647),
    )
)
LEAST_CELLS = 2
# A code is apart from the other numbers by at least this many times their spread (their 5th to 95th percentile).
APART = 0.5
# For 0 the others must lie in one heap far from it: the least of them is at least this share of their median and this
# many times farther from 0 than they are from each other, and 0 is no more frequent than this; amounts such as rain or
# gains are often 0.
ZERO_APART, ZERO_GAP, MOST_ZEROS = 0.2, 5, 0.35
ENOUGH_VALUES = 12


@check("sentinels")
def sentinels(table: Examined) -> Iterator[Problem]:
    """Find numbers that look like a mark for a missing cell."""
    for name in table.used:
        values = table.values(name)
        if not values.numeric or len(values.levels) < ENOUGH_VALUES or name in table.decided:
            continue
        levels = np.asarray(values.levels, dtype=np.float64)
        for k in (0, len(levels) - 1):
            n = int(values.counts[k])
            if n >= LEAST_CELLS and _apart(levels, values.counts, k):
                value = values.level(k)
                rest = np.delete(levels, k)
                yield Problem(
                    "sentinels",
                    f"{value!r} in {n:,} of {table.rows}; all other values are between {rest.min():g} and "
                    f"{rest.max():g}",
                    (name,),
                    n,
                    "",
                    "A number that stands for a missing cell moves every mean and bin",
                    "read it as missing if it is no measurement",
                    options=(("missing", f"{name}={value}"),),
                )


def _apart(levels: NDArray[np.float64], counts: NDArray[np.int64], k: int) -> bool:
    value, rest, n_rest = levels[k], np.delete(levels, k), np.delete(counts, k)
    places = np.searchsorted(np.cumsum(n_rest) / n_rest.sum(), [0.05, 0.5, 0.95])
    low, median, high = rest[np.minimum(places, len(rest) - 1)]
    if value in CODES:
        gap = rest[0] - value if k == 0 else value - rest[-1]
        # Below 0 where nothing else is: the sign says it; else the distance does.
        alone = k == 0 and value < 0 <= rest[0] and len(rest) >= ENOUGH_VALUES
        return bool(gap > APART * (high - low) or alone)
    share = counts[k] / counts.sum()
    if value != 0 or k != 0 or share > MOST_ZEROS:
        return False
    return bool(rest[0] >= max(ZERO_APART * median, ZERO_GAP * np.median(np.diff(rest))) and median > 0)
