"""Columns that have one value in all rows, or in nearly all."""

from __future__ import annotations

from collections.abc import Iterator

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check, ignoring
from bayeskit.table.problems.examined import Examined

# A column is nearly constant where fewer than this share of its rows differ from the most frequent value …
FEW_DIFFER = 0.005
# … and from so many rows on; a tenth of a small table may differ in one row only by chance.
ENOUGH_ROWS = 200
# … unless it says at least this share of what there is to know about the class.
WORTH_KEEPING = 0.002


@check("constant")
def constant(table: Examined) -> Iterator[Problem]:
    """Find columns with the same value in all rows."""
    if table.is_sample:
        return  # a rare value may be in the other rows
    same = [name for name in table.used if len(table.values(name).levels) == 1 and table.values(name).known.all()]
    if same:
        value = table.values(same[0]).level(0)
        yield Problem(
            "constant",
            f"{value!r} in all {table.rows}" if len(same) == 1 else f"the same value in all {table.rows}",
            tuple(same),
            len(same),
            f"{value!r} in {same[0]!r}" if len(same) > 1 else "",
            "Such a column cannot tell classes apart",
            "leave it out, or find out why nothing varies",
            options=ignoring(same),
        )


@check("nearly constant")
def nearly_constant(table: Examined) -> Iterator[Problem]:
    """Find columns in which only a handful of rows differ, where these say nothing about the class."""
    if table.n_held < ENOUGH_ROWS:
        return
    rest = {}
    for name in table.used:
        values = table.values(name)
        if (len(values.levels) > 1 or table.is_sample) and values.known.all():
            differ = table.n_held - int(values.counts.max())
            if differ < FEW_DIFFER * table.n_held and table.information(name) <= WORTH_KEEPING * table.entropy:
                rest[name] = differ
    if rest:
        first = min(rest, key=rest.__getitem__)
        values = table.values(first)
        often = values.level(int(values.counts.argmax()))
        differ_in = f"all but {rest[first]}" if rest[first] else "all"
        yield Problem(
            "nearly constant",
            f"{often!r} in {differ_in} of {table.rows}"
            if len(rest) == 1
            else f"the same value in nearly all {table.rows}",
            tuple(rest),
            len(rest),
            f"{often!r} in {differ_in} of {first!r}" if len(rest) > 1 else "",
            "The other rows are too few to learn from, and here they say nothing about the class",
            "leave such columns out for a smaller model",
            options=ignoring(list(rest)),
        )
