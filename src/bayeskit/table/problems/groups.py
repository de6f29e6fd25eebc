"""A column that says which rows belong together, such as a patient with several visits."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# At least so many groups, of at least so many rows on average.
LEAST_GROUPS, LEAST_SIZE = 10, 1.5
# Columns tried: those with the most values.
MOST_TRIED = 8
# A column is shared where rows of a group agree in it at least this often; it counts where other rows do not.
SHARED, BY_CHANCE = 0.98, 0.8
# Rows belong together where they share at least this part of the columns that vary, and at least so many.
MOST_SHARED, LEAST_SHARED = 0.5, 2


@check("groups")
def groups(table: Examined) -> Iterator[Problem]:
    """Find columns such that rows with the same value share most other columns."""
    tried = []
    for name in table.columns:
        values = table.values(name)
        whole = not values.numeric or bool((np.asarray(values.levels) % 1 == 0).all())
        n_groups = len(values.levels)
        if whole and n_groups >= LEAST_GROUPS and n_groups * LEAST_SIZE <= values.n_known:
            tried.append((n_groups, name))
    best: tuple[float, int, str, int] | None = None
    for n_groups, name in sorted(tried, reverse=True)[:MOST_TRIED]:
        shared, varying = _shared(table, name)
        if len(shared) >= LEAST_SHARED and len(shared) >= MOST_SHARED * varying:
            this = (len(shared) / varying, n_groups, name, len(shared))
            best = max(best, this) if best else this
    if best is None:
        return
    _, n_groups, name, n_shared = best
    sizes = table.values(name).counts
    example = table.values(name).level(int(sizes.argmax()))
    yield Problem(
        "groups",
        f"{n_groups:,} groups of rows that share {n_shared} other columns",
        (name,),
        n_groups,
        f"the {int(sizes.max())} rows of {example!r}",
        "Rows of one group in different folds make every score too good: the model meets the group again",
        "keep the rows of a group in one fold",
        severity="warning",
        options=(("folds", f"group:{name}"),),
    )


def _shared(table: Examined, group: str) -> tuple[list[str], int]:
    """Return the columns that rows of a group share though others do not, and how many columns vary at all."""
    codes = table.values(group).codes
    order = np.argsort(codes, kind="stable")
    order = order[codes[order] >= 0]
    same = codes[order[1:]] == codes[order[:-1]]
    a, b = order[:-1][same], order[1:][same]
    shuffled = np.random.default_rng(0).permutation(order)
    shared, varying = [], 0
    for name in table.columns:
        if name == group:
            continue
        values = table.values(name).codes
        by_chance = float((values[order] == values[shuffled]).mean())
        if by_chance < BY_CHANCE:
            varying += 1
            if float((values[a] == values[b]).mean()) >= SHARED:
                shared.append(name)
    return shared, varying
