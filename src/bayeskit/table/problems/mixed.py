"""Columns that are text for a few cells only: most of their cells are numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeskit.table.column import Coded
from bayeskit.table.conventions import FEW_VALUES
from bayeskit.table.number_cells import numbers_of
from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# The share of cells that are numbers; where more than .95 are, the reader has read the column as numbers.
MOST = 0.5
# Different words among them; with more the cells are codes, such as those of tickets.
MOST_WORDS = 10


@check("mixed")
def mixed(table: Examined) -> Iterator[Problem]:
    """Find text columns most of whose cells are numbers, of many values."""
    import pyarrow as pa

    # Also columns that were left out, since they have too many values to count.
    for name, column in table.columns.items():
        if not isinstance(column, Coded) or column.declared or name in table.decided:
            continue
        values = table.values(name)
        if len(values.levels) <= FEW_VALUES or not isinstance(values.levels[0], str):
            continue
        texts = pa.array(values.levels, pa.string())
        read = [np.asarray(numbers_of(texts, sign).is_valid()) for sign in ".,"]
        known = max(read, key=lambda numbers: int(values.counts[numbers].sum()))
        n = int(values.counts[known].sum())
        if known.sum() <= FEW_VALUES or n < MOST * values.n_known or not 0 < (~known).sum() <= MOST_WORDS:
            continue
        words = sorted(np.flatnonzero(~known), key=lambda k: -values.counts[k])
        yield Problem(
            "mixed",
            f"text, though {n:,} of {values.n_known:,} cells are numbers; {values.n_known - n:,} are not",
            (name,),
            values.n_known - n,
            repr(values.level(int(words[0]))),
            "As text each number is a value of its own, and 41 says nothing about 42; with many values the column is "
            "left out",
            "read what is no number as missing",
            severity="warning",
            options=tuple(("missing", f"{name}={values.level(int(k))}") for k in words),
        )
