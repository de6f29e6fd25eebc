"""Codes → levels, where a model has its own: the column v_j is the level and 1, or 0 for a hidden cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayeskit.export.scorer import Column
from bayeskit.export.sql.query import Query


def add_levels(query: Query, columns: Sequence[Column], used: Sequence[int]) -> None:
    """Add the stage of levels for the columns that are used."""
    query.add({f"v{j}": _level(j, columns[j], query) for j in used})


def _level(j: int, column: Column, query: Query) -> str:
    assert column.levels is not None
    levels = column.levels + 1
    n_values = len(levels) - 2
    plain = levels[1:-1] - np.arange(1, n_values + 1)
    if n_values and (plain != plain[0]).any():  # rare values share a level
        return query.dialect.whole(levels.tolist(), f"c{j} + 1")
    shift = int(plain[0]) if n_values else 0
    same = f"c{j} + {shift}" if shift else f"c{j}"
    cases = {0: int(levels[0]), n_values + 1: int(levels[-1])}
    other = " ".join(f"WHEN {code} THEN {level}" for code, level in cases.items() if level != code + shift)
    return f"CASE c{j} {other} ELSE {same} END" if other else same
