"""Columns of free text and of dates."""

from __future__ import annotations

from collections.abc import Iterator

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined


@check("texts")
def texts(table: Examined) -> Iterator[Problem]:
    """Name the columns of free text, which AutoBayes and NaiveBayes read and other classifiers of tables do not."""
    free = [name for name, kind in table.kinds.items() if kind == "text"]
    if free:
        yield Problem(
            "texts",
            "free text; AutoBayes and NaiveBayes read its words, other classifiers are not tried",
            tuple(free),
            len(free),
            "",
            "What words say of the class may be all that counts, or a repetition of what the author knew afterwards",
            "leave it out, or train a text classifier on it alone",
            options=(("ignore", free[0]), ("text", free[0])),
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
