"""Categories that occur in one row only."""

from __future__ import annotations

from collections.abc import Iterator

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check, ignoring
from bayeskit.table.problems.examined import Examined

# Said where this share of the rows has a category of its own, and there are so many.
LEAST_SHARE, LEAST_VALUES = 0.1, 20


@check("seen once")
def seen_once(table: Examined) -> Iterator[Problem]:
    """Find columns many of whose categories were seen once."""
    for name in table.used:
        values = table.values(name)
        if values.numeric or table.is_sample:
            continue
        once = int((values.counts == 1).sum())
        if once < max(LEAST_VALUES, LEAST_SHARE * table.n_held):
            continue
        example = values.level(int((values.counts == 1).argmax()))
        yield Problem(
            "seen once",
            f"{once:,} of its {len(values.levels):,} categories are in one row only",
            (name,),
            once,
            repr(example),
            "One row says nothing about a category, and many categories of new rows will be unseen",
            "leave it out, or make fewer categories of it",
            options=ignoring([name]),
        )
