"""Columns that equal the target or nearly determine it: mostly written after the class was known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from bayeskit.table.problem import Problem
from bayeskit.table.problems.checks import check, ignoring
from bayeskit.table.problems.examined import Examined
from bayeskit.table.problems.label_variants import variants

# A column leaks where it alone says this share of what there is to know about the class of held-out rows.
DETERMINES = 0.95
# With fewer rows a column may determine the class by chance.
ENOUGH_ROWS = 30


@check("leakage")
def leakage(table: Examined) -> Iterator[Problem]:
    """Find columns that determine the class of rows that they were not learned from."""
    # A second spelling of a class is no class: it would hide that a column gives the class away.
    table = _merged(table)
    if table.n_held < ENOUGH_ROWS or not table.entropy:
        return
    share = {name: table.information(name) / table.entropy for name in table.used}
    leaks = sorted((name for name in share if share[name] >= DETERMINES), key=lambda name: -share[name])
    for name in leaks:
        values = table.values(name)
        equal = len(values.levels) == len(table.classes) and share[name] > 0.99
        said = (
            f"it equals the target {table.target!r} in other words"
            if equal
            else f"it nearly determines {table.target!r}"
        )
        yield Problem(
            "leakage",
            f"{said}: alone it says {100 * min(share[name], 1.0):.1f} % of what there is to know about the class of "
            "held-out rows",
            (name,),
            table.n_held,
            "",
            "If it is written down only after the class is known, it is not there when the model is used",
            "leave it out unless it is known beforehand",
            severity="warning",
            options=ignoring([name]),
        )


def _merged(table: Examined) -> Examined:
    meant = variants(table.classes, table.n_class)
    if table.y is None or not meant:
        return table
    labels = [meant.get(label, label) for label in table.classes]
    classes = tuple(label for label in table.classes if label not in meant)
    return replace(table, y=np.array([classes.index(label) for label in labels])[table.y], classes=classes)
