"""Columns of free text and of dates."""

from __future__ import annotations

from collections.abc import Iterator

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined


@check("texts")
def texts(table: Examined) -> Iterator[Problem]:
    """Name the columns of free text, which a classifier of tables leaves out."""
    free = [name for name in table.columns if "free text" in table.reasons.get(name, "")]
    if free:
        yield Problem(
            "texts",
            "free text; left out",
            tuple(free),
            len(free),
            "",
            "What it says about the class is lost here",
            "train a text classifier on it",
            options=(("text", free[0]),),
        )


@check("dates")
def dates(table: Examined) -> Iterator[Problem]:
    """Name the columns of dates: rows of the future are predicted from those of the past."""
    moments = [name for name, kind in table.kinds.items() if kind == "date"]
    if moments:
        yield Problem(
            "dates",
            "dates, of which parts such as year, month and weekday are columns",
            tuple(moments),
            len(moments),
            "",
            "Random folds predict rows of the past from those of the future, which makes scores too good where "
            "something changes in time",
            "score each stretch of time by the rows before it",
            options=(("folds", f"time:{moments[0]}"),),
        )
