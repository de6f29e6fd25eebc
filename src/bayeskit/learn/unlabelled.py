"""Rows without a label: left out, with a warning."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayeskit.errors import TableError, warn_caller
from bayeskit.learn.checks import split_target
from bayeskit.table.frames import given_names
from bayeskit.table.labels import read_weight
from bayeskit.table.read import is_records, read_table, read_values, records_to_columns


def without_unlabelled(X: Any, y: Any, sample_weight: Any, target: str | None) -> tuple[Any, Any, Any, str | None]:
    """Return the arguments of ``fit`` without the rows that have no label; a warning says how many.

    Examples
    --------
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     source, y, *_ = without_unlabelled({"wind": ["weak", "strong", "weak"]}, ["no", None, "yes"], None, None)
    >>> source.n_rows, list(y), str(said[0].message)
    (2, ['no', 'yes'], '1 of 3 rows has no label and is left out.')
    """
    labels = y
    if target is not None and y is None:
        table = records_to_columns(X) if is_records(X) else X
        labels = table[target] if target in given_names(table) else None
    if labels is None or isinstance(labels, str) or getattr(labels, "ndim", 1) != 1 or not hasattr(labels, "__len__"):
        return X, y, sample_weight, target
    missing = read_values(labels, "y").missing()
    if not missing.any():
        return X, y, sample_weight, target
    if missing.all():
        raise TableError("Input y contains NaN: no row has a label, so there is nothing to learn from.")
    source = read_table(X) if target is None else split_target(X, target)[0]
    if source.n_rows != len(missing):
        raise TableError(
            f"Found input variables with inconsistent numbers of samples: [{source.n_rows}, {len(missing)}]"
        )
    rows = np.flatnonzero(~missing)
    weight = read_weight(sample_weight, len(missing))
    n = int(missing.sum())
    warn_caller(
        f"{n} of {len(missing)} rows {'has' if n == 1 else 'have'} no label and {'is' if n == 1 else 'are'} left out."
    )
    known = np.asarray(labels, dtype=object)[rows].tolist()
    return source.take(rows), known, None if weight is None else weight[rows], None
