"""The set-up of all mixtures before EM: rows of positive weight, columns that are not constant."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError, warn_caller
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema


def counted_rows(source: Source, weight: NDArray[np.float64] | None) -> tuple[Source, NDArray[np.float64] | None]:
    """Return the rows with a weight above zero, and their weights; rows of weight 0 are dropped."""
    if weight is None or weight.all():
        return source, weight
    kept = np.flatnonzero(weight)
    return source.take(kept), np.ascontiguousarray(weight[kept])


def refuse_equal_rows(schema: Schema, used: Iterable[int], n_rows: int, *, any_varies: bool) -> None:
    """Raise an error for a table in which all rows are equal, and warn of the columns that are left out."""
    if not any_varies:
        raise TableError(f"every column is constant or empty (n_samples={n_rows}), so all rows are equal.")
    kept = set(used)
    dull = [repr(variable.name) for j, variable in enumerate(schema) if j not in kept]
    if dull:
        names = ", ".join(dull[:5]) + (" …" if len(dull) > 5 else "")
        warn_caller(f"constant or empty columns are left out: {names}.")
