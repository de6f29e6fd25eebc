"""Columns that hold the same values, perhaps under other names or in another unit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check, ignoring
from bayeskit.table.problems.examined import Examined, Values

# With more values than this share of the rows, each value of one column goes with one of another by chance.
MOST_VALUES = 0.5
# Columns in which fewer rows differ from the most frequent value may be the same by chance.
LEAST_DIFFER = 5


@check("same columns")
def same_columns(table: Examined) -> Iterator[Problem]:
    """Find columns whose cells agree in all rows, up to the names of the values or their unit."""
    groups: dict[bytes, list[str]] = defaultdict(list)
    for name in table.used:
        values = table.values(name)
        if len(values.levels) > 1 and table.n_held - values.counts.max() >= LEAST_DIFFER:
            groups[_pattern(values)].append(name)
    for names in groups.values():
        if len(names) > 1:
            yield Problem(
                "same columns",
                f"the same in all {table.rows}, up to the names or the unit of the values",
                tuple(names),
                len(names),
                "",
                "Models that take columns as independent count their evidence twice",
                "keep one of them",
                options=ignoring(names[1:]),
            )


def _pattern(values: Values) -> bytes:
    """Return bytes that are equal for columns that are the same."""
    codes = values.codes
    many = len(values.levels) > MOST_VALUES * len(codes)
    if values.numeric and many:
        # Numbers in another unit have the same order, or the opposite one.
        turned = np.where(codes < 0, -1, len(values.levels) - 1 - codes).astype(codes.dtype)
        return b"n" + min(_digest(codes), _digest(turned))
    if many:
        return b"t" + repr(values.levels).encode() + _digest(codes)
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    # Numbered by where they come first, so that the names of the values do not matter; missing cells stay apart.
    rank = np.argsort(np.argsort(first))
    pattern = np.where(codes < 0, -1, rank[inverse])
    return b"c" + _digest(pattern.astype(np.int32))


def _digest(codes: NDArray[np.int32]) -> bytes:
    from hashlib import blake2b

    return blake2b(np.ascontiguousarray(codes).tobytes(), digest_size=16).digest()
