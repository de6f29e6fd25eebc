"""The target column of a file: which classes it names, or why it cannot be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.labels import AMOUNTS, MOST_CODES, looks_like_amounts, read_labels
from bayeskit.table.names import not_found

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class Target:
    """Classes and each row's class; ``table`` holds the rows that have one."""

    table: pa.Table
    classes: NDArray[Any]
    y: NDArray[Any]
    n_unlabelled: int


def read_target(table: pa.Table, name: str) -> Target:
    """Read the target; rows without a label are left out and counted.

    Examples
    --------
    >>> import pyarrow as pa
    >>> target = read_target(pa.table({"wind": [1, 2, 3], "play": ["no", "yes", None]}), "play")
    >>> target.classes.tolist(), target.y.tolist(), target.n_unlabelled
    (['no', 'yes'], [0, 1], 1)
    """
    import pyarrow.compute as pc

    refuse_unlabelled(table, name)
    column = table[name]
    n_missing = column.null_count
    if n_missing:
        table = table.filter(pc.is_valid(column))
        column = table[name]
    column = _plain(column, name)
    n_values, n_rows = len(pc.unique(column)), len(column)
    if _is_number(column) and looks_like_amounts(n_values, n_rows):
        raise TableError(f"the target {name!r} has {n_values} different numbers in {n_rows} rows. {AMOUNTS}")
    if n_values == n_rows and n_rows > 2:
        raise TableError(
            f"the target {name!r} has as many values as rows, {n_rows}: it is an id. A target names one of a few "
            "classes in each row."
        )
    if n_values > MOST_CODES and n_values > n_rows / 2:
        raise TableError(
            f"the target {name!r} has {n_values} values in {n_rows} rows; a target names one of a few classes in each "
            "row."
        )
    classes, y = read_labels(column)
    return Target(table, classes, y.astype(np.uint32) if y.dtype.itemsize > 4 else y, n_missing)


def refuse_unlabelled(table: pa.Table, name: str) -> None:
    """Raise an error for a table without the target, or with no label in any row."""
    if name not in table.column_names:
        raise TableError(not_found("column", name, table.column_names))
    column = table[name]
    if not len(column):
        raise TableError("the table has a header and no rows.")
    if column.null_count == len(column):
        raise TableError(f"the target {name!r} has no value in any of {len(column)} rows.")


def _is_number(column: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_integer(column.type) or pa.types.is_floating(column.type))


def _plain(column: Any, name: str) -> Any:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    if pa.types.is_floating(column.type) and pc.any(pc.not_equal(pc.floor(column), column)).as_py():
        raise TableError(f"the target {name!r} holds amounts such as {column[0].as_py()!r}. {AMOUNTS}")
    return pc.cast(column, pa.string()) if pa.types.is_temporal(column.type) else column
