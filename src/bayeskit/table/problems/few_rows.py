"""Too few rows for the number of columns."""

from __future__ import annotations

from collections.abc import Iterator

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# Rows per column below which some column looks useful by chance, and rows below which no score means much.
PER_COLUMN = 2
LEAST = 30


@check("few rows")
def few_rows(table: Examined) -> Iterator[Problem]:
    """Say that a table has too few rows."""
    n, n_columns = table.n_held, len(table.used)
    if n >= max(LEAST, PER_COLUMN * n_columns):
        return
    yield Problem(
        "few rows",
        f"{n} row{'s' if n != 1 else ''} for {n_columns} column{'s' if n_columns > 1 else ''}",
        (),
        n,
        "",
        "With so few some column looks useful by chance, and the scores vary much from one set of folds to another",
        "gather more rows, and look at the standard errors of the scores",
    )
