"""Class labels → codes, with scikit-learn's error messages where it has them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import recode, whole_levels
from bayeskit.errors import TableError, warn_caller
from bayeskit.table.column import Coded, Column, Numbers, code_bytes
from bayeskit.table.read import read_values

# Integers with at most this many different values are more often labels than amounts.
MOST_CODES = 20
AMOUNTS = (
    "It looks like a number to predict, not a class: LeastSquares predicts numbers. For a classifier cut it into a few "
    "classes first, such as by pandas.qcut(y, 4)."
)


def read_labels(y: Any, n_rows: int | None = None) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the classes in increasing order, and each row's class as a position among them.

    Examples
    --------
    >>> classes, codes = read_labels(["yes", "no", "yes"])
    >>> list(classes), codes
    (['no', 'yes'], array([1, 0, 1], dtype=uint8))
    """
    column, text = read_label_column(y, n_rows)
    refuse_missing_labels(column.missing())
    classes, codes = labels_of(column, text)
    if n_rows is not None and isinstance(column, Numbers) and looks_like_amounts(len(classes), n_rows):
        warn_caller(f"y has {len(classes)} different numbers in {n_rows} rows. {AMOUNTS}")
    return classes, codes


def refuse_missing_labels(
    missing: NDArray[np.bool_],
    call: str = "drop_unlabeled(X, y)",
    place: str = "",
    first: int = 0,
    *,
    left_out_by_the_command: bool = True,
) -> None:
    """Raise an error that names the rows without a label, the place that holds them, and the call that drops them.

    ``first`` is the number of the first row.
    """
    rows = np.flatnonzero(missing)
    if len(rows):
        names = ", ".join(map(str, (rows[:5] + first).tolist())) + (", …" if len(rows) > 5 else "")
        which = f"row {names} has" if len(rows) == 1 else f"rows {names} ({len(rows)} of {len(missing)}) have"
        raise TableError(
            f"Input y contains NaN: {place}{which} no label. {without_unlabeled(call, left_out_by_the_command)}"
        )


def without_unlabeled(call: str, left_out_by_the_command: bool = True) -> str:
    """Return the sentence of what drops the rows without a label."""
    command = "; the command leaves the others out and says how many" if left_out_by_the_command else ""
    return f"bayeskit.{call} returns the rows that have one{command}."


def looks_like_amounts(n_values: int, n_rows: int) -> bool:
    """Return whether a target of numbers has so many different ones that they are hardly classes."""
    return n_values > MOST_CODES and n_values > n_rows / 2


def read_label_column(y: Any, n_rows: int | None = None) -> tuple[Column, Any]:
    """Return the labels as a column, in which cells may be missing, and the dtype of texts."""
    y = _one_dimensional(y)
    column = read_values(y, "y")
    if n_rows is not None and len(column) != n_rows:
        raise TableError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(column)}]")
    return column, y.dtype if isinstance(y, np.ndarray) and y.dtype.kind == "U" else object


def labels_of(column: Column, text: Any = object) -> tuple[NDArray[Any], NDArray[Any]]:
    """Do the same as :func:`read_labels` for a column without missing cells; texts get the dtype ``text``."""
    if isinstance(column, Coded):
        levels = tuple(sorted(level for level in _in_use(column)))
        codes = column.codes_for({level: code for code, level in enumerate(levels)})
        return np.array(levels, dtype=text if isinstance(levels[0], str) else None), codes
    return _number_labels(column)


def _number_labels(column: Numbers) -> tuple[NDArray[Any], NDArray[Any]]:
    values = column.values
    if values.dtype.kind == "f":
        if np.isinf(values).any():
            raise TableError(f"Input y contains infinity: row {int(np.isinf(values).argmax())}.")
        if (np.floor(values) != values).any():
            raise TableError(
                f"Unknown label type: continuous. y holds numbers such as {values[np.floor(values) != values][0]:g}. "
                + AMOUNTS
            )
    levels = whole_levels(values)
    if levels is None:
        classes, codes = np.unique(values, return_inverse=True)
        return classes, codes.astype(f"u{code_bytes(len(classes))}")
    width = code_bytes(len(levels))
    if levels[0] == 0 and len(levels) == levels[-1] + 1 and values.dtype == np.dtype(f"u{width}"):
        return levels.astype(values.dtype), values  # labels that are their own codes are read in place
    lookup = np.zeros(int(levels[-1] - levels[0]) + 1, dtype=np.int64)
    lookup[levels - levels[0]] = np.arange(len(levels))
    codes = recode(values, int(levels[0]), lookup, width, False)
    return levels.astype(values.dtype), codes


def _in_use(column: Coded) -> list[Any]:
    counts = np.bincount(column.codes, minlength=len(column.levels))
    return [level for level, n in zip(column.levels, counts, strict=True) if n]


def _one_dimensional(y: Any) -> Any:
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and y and isinstance(y[0], list | tuple):
        y = np.asarray(y)
        shape = y.shape
    if shape is None or len(shape) == 1:
        return y
    if len(shape) == 2 and shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        warn_caller(
            "A column-vector y was passed when a 1d array was expected. "
            "Please change the shape of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
        )
        return np.asarray(y).ravel()
    raise TableError(f"y should be a 1d array, got an array of shape {shape} instead.")


def same_values(a: Column, b: Column) -> bool:
    """Return whether two columns hold the same cells."""
    if isinstance(a, Numbers) and isinstance(b, Numbers):
        return bool(np.array_equal(a.values, b.values, equal_nan=a.values.dtype.kind == b.values.dtype.kind == "f"))
    if isinstance(a, Coded) and isinstance(b, Coded):
        values = {level: code for code, level in enumerate(dict.fromkeys((*a.levels, *b.levels)))}
        return bool(np.array_equal(a.codes_for(values), b.codes_for(values)))
    return False


def read_weight(weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the row weights as floats; None when every row counts once."""
    if weight is None:
        return None
    if np.isscalar(weight):
        weight = np.full(n_rows, weight, dtype=np.float64)
    values = np.ascontiguousarray(weight, dtype=np.float64)
    if values.ndim != 1:
        raise TableError("Sample weights must be 1D array or scalar")
    if len(values) != n_rows:
        raise TableError(f"sample_weight.shape == {values.shape}, expected {(n_rows,)}!")
    if not np.isfinite(values).all():
        row = int((~np.isfinite(values)).argmax())
        raise TableError(
            f"sample_weight, row {row}: a weight must be a finite number; got {values[row]} (NaN or infinity)."
        )
    if (values < 0).any():
        row = int((values < 0).argmax())
        raise TableError(
            f"sample_weight, row {row}: Negative values in data: a weight must not be negative; got {values[row]}."
        )
    if not values.any():
        raise TableError("sample_weight is zero in every row, so there is nothing to learn from.")
    return values
