"""Classes with too few rows to learn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check
from bayeskit.table.problems.examined import Examined

# With fewer rows than folds, a class is not in each of them.
FEW = 5


@check("rare classes")
def rare_classes(table: Examined) -> Iterator[Problem]:
    """Find classes with fewer rows than a cross-validation has folds."""
    if table.y is None or table.is_sample:
        return
    rare = np.flatnonzero((table.n_class < FEW) & (table.n_class > 0))
    if not len(rare) or len(table.classes) < 2:
        return
    shown = ", ".join(f"{table.classes[k]!r} ({table.n_class[k]})" for k in rare[:3])
    yield Problem(
        "rare classes",
        f"{len(rare)} of {len(table.classes)} classes with fewer than {FEW} rows",
        (table.target,),
        int(table.n_class[rare].sum()),
        shown,
        "Their probabilities are guesses, and some folds have no row of them",
        "gather more such rows, or leave these rows out",
        options=(("drop_rare_classes", ""),),
    )
