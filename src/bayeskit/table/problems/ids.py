"""Columns that name the rows instead of describing them: ids and row numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check, ignoring
from bayeskit.table.problems.examined import Examined

# With fewer rows all values may differ by chance.
ENOUGH_ROWS = 20
# The share of rows with a value of their own from which a column named like an id is one.
NEARLY_ALL = 0.9
_ID_NAME = re.compile(r"(^|[\W_])(id|ids|uuid|guid|key|index|idx|rownum|record|serial)([\W_]|$)|[a-z]I[dD]$|编号|序号")


@check("ids")
def ids(table: Examined) -> Iterator[Problem]:
    """Find ids: those that are left out for it, and numbers that nobody else would read as amounts."""
    out = [name for name in table.columns if table.kinds.get(name) == "left out" and _said_id(table.reasons.get(name))]
    for reason in dict.fromkeys(str(table.reasons[name]).split(";")[0] for name in out):
        alike = tuple(name for name in out if str(table.reasons[name]).split(";")[0] == reason)
        yield Problem(
            "ids",
            f"left out: {reason}",
            alike,
            len(alike),
            "",
            "What names a row says nothing about other rows",
            "nothing, or give the column a kind if it is something else",
            options=(("kinds", f"{alike[0]}=categorical"),),
        )
    inside = [name for name in table.used if name not in table.decided and _numbers_rows(table, name)]
    if inside:
        values = table.values(inside[0])
        yield Problem(
            "ids",
            f"{len(values.levels):,} different values in {table.rows}, as an id or a row number has",
            tuple(inside),
            len(values.levels),
            repr(values.level(0)),
            "What a model learns from it does not hold for new rows",
            "leave it out",
            severity="warning",
            options=ignoring(inside),
        )


def _said_id(reason: str | None) -> bool:
    return reason is not None and ("as an id" in reason or "numbers the rows" in reason)


def _numbers_rows(table: Examined, name: str) -> bool:
    values = table.values(name)
    if table.n_held < ENOUGH_ROWS or len(values.levels) < NEARLY_ALL * table.n_held:
        return False
    if values.numeric and not _whole(values.levels):
        return False
    if _ID_NAME.search(name):
        return True
    # Whole numbers that only rise from row to row are numbers of the rows, with gaps.
    return values.numeric and bool(values.known.all()) and bool((np.diff(values.codes) > 0).all())


def _whole(levels: object) -> bool:
    numbers = np.asarray(levels)
    return numbers.dtype.kind in "iu" or bool((np.floor(numbers) == numbers).all())
