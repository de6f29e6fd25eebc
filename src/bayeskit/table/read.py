"""Any table → named numeric columns or codes: NumPy, scipy.sparse, pandas, polars, Arrow, dict of lists."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError, TooLargeError
from bayeskit.table.column import Column, Numbers
from bayeskit.table.conversions import Conversions
from bayeskit.table.frames import as_frame, frame_names, given_names, read_frame_column, refuse_rows_elsewhere
from bayeskit.table.names import first_duplicate
from bayeskit.table.read_result import ReadTable
from bayeskit.table.schema import Schema
from bayeskit.table.strings import read_fixed, read_objects

# The most memory that a sparse matrix may take as a full table.
_MOST_BYTES = 4 * 2.0**30


class LazyColumns(Sequence[Column]):
    """Columns that are read when they are asked for, once each: to look at a table takes no copy of its numbers."""

    def __init__(self, readers: Sequence[Callable[[], Column]]) -> None:
        self._readers = list(readers)
        self._columns: list[Column | None] = [None] * len(self._readers)

    def __len__(self) -> int:
        return len(self._readers)

    def __getitem__(self, j: Any) -> Any:
        if isinstance(j, slice):
            return tuple(self[k] for k in range(*j.indices(len(self))))
        if (column := self._columns[j]) is None:
            column = self._columns[j] = self._readers[j]()
        return column

    def __reduce__(self) -> Any:
        return tuple, (tuple(self),)


@dataclass(frozen=True)
class Source:
    """A table as it was given: names, and columns that are read when they are needed."""

    names: tuple[str, ...]
    named: bool
    n_rows: int
    columns: Sequence[Column] | None
    # The whole table, when it came as one array of numbers.
    array: NDArray[Any] | None = None
    # Of a table that :func:`bayeskit.read` has read: the kinds that types do not tell, and what it did to raw columns.
    kinds: Mapping[str, str] = field(default_factory=dict)
    conversions: Conversions | None = None

    def column(self, j: int) -> Column:
        """Return column ``j``."""
        if self.columns is not None:
            return self.columns[j]
        assert self.array is not None
        return Numbers(self.array[:, j])

    @cached_property
    def place(self) -> dict[str, int]:
        """The position of each column by its name."""
        return {name: j for j, name in enumerate(self.names)}

    def named_column(self, name: str) -> Column:
        """Return the column of a name."""
        return self.column(self.place[name])

    def take(self, rows: NDArray[Any]) -> Source:
        """Return some of the rows."""
        if self.array is not None:
            array = self.array[rows]
            return Source(self.names, self.named, len(array), None, array)
        columns = tuple(self.column(j).take(rows) for j in range(len(self.names)))
        return replace(self, n_rows=len(columns[0]), columns=columns)

    def without(self, name: str) -> Source:
        """Return the table without one of its columns."""
        return self.select(tuple(other for other in self.names if other != name))

    def select(self, names: tuple[str, ...]) -> Source:
        """Return some of the columns, in the order given."""
        columns = tuple(self.named_column(name) for name in names)
        return replace(self, names=names, columns=columns, array=None)


# One branch for each type that a table comes in.
def read_table(X: Any, *, min_rows: int = 1, without: str | None = None) -> Source:
    """Read a table of any supported type; anything else is an error. Columns are read lazily.

    Examples
    --------
    >>> table = read_table({"outlook": ["sunny", "rain", None], "wind": [3.5, 2.0, 1.0]})
    >>> table.names, table.column(0).levels
    (('outlook', 'wind'), ('sunny', 'rain'))
    """
    if isinstance(X, Source):
        return X if without is None else X.without(without)
    if isinstance(X, ReadTable):
        return X.features if without in (None, X.target) else X.features.without(str(without))
    if _is_masked(X):
        X = _unmasked(X)
    if is_sparse(X):
        X = _full(X)
    refuse_rows_elsewhere(X)
    _refuse_duplicates(given_names(X))
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iufb":
        source = _read_array(np.asarray(X))
    elif isinstance(X, Mapping):
        source = _read_mapping(X if without is None else {name: X[name] for name in X if str(name) != without})
    elif (frame := as_frame(X)) is not None:
        source = _read_frame(frame, without)
    else:
        source = _read_array(_as_array(X)) if hasattr(X, "__array__") else _read_rows(X)
    if source.n_rows < min_rows:
        shape = (source.n_rows, len(source.names))
        raise TableError(
            f"Found array with {source.n_rows} sample(s) (shape={shape}) while a minimum of {min_rows} is required."
        )
    if not source.names:
        raise TableError(
            f"Found array with 0 feature(s) (shape=({source.n_rows}, 0)) while a minimum of 1 is required."
        )
    return source


def read_converted(X: Any, schema: Schema, target: str | None = None) -> Source:
    """Read rows in terms of a schema whose raw columns are converted first; tables without names are read as they are.

    Columns that the reader left out in training are left out again. Others that the schema does not know stay among the
    names, so that the caller can refuse them.
    """
    conversions = schema.conversions
    raw = None if conversions is None or isinstance(X, Source) else raw_columns(X)
    if raw is None or conversions is None:
        return read_table(X)
    made = conversions.apply(raw, schema.variables)
    known = {target, *schema.names, *conversions.source_of.values(), *conversions.left_out}
    columns = {name: read_values(column, name) for name, column in made.items()}
    n_rows = len(next(iter(columns.values()))) if columns else 0
    for name in raw:
        if name not in known:
            columns[name] = Numbers(np.full(n_rows, np.nan))  # which is not read: only its name matters
    return Source(tuple(columns), True, n_rows, tuple(columns.values()))


def raw_columns(X: Any) -> Mapping[str, Any] | None:
    """Return the columns of a table by name; None where it has no names."""
    if isinstance(X, ReadTable):
        X = X.rows
    if is_records(X):
        X = records_to_columns(X)
    if isinstance(X, Mapping):
        return {str(name): column for name, column in X.items()}
    _refuse_duplicates(given_names(X))
    frame = as_frame(X)
    if frame is None:
        return None
    names, named = frame_names(frame)
    return dict(zip(names, frame.iter_columns(), strict=True)) if named else None


def is_sparse(X: Any) -> bool:
    """Return whether X is a scipy.sparse matrix or array."""
    return hasattr(X, "toarray") and hasattr(X, "nnz")


def refuse_sparse(X: Any) -> None:
    """Raise scikit-learn's error for a sparse matrix, where a model does not support it."""
    if is_sparse(X):
        raise TypeError("Sparse data was passed, but dense data is required: use X.toarray() to convert it.")


def is_records(X: Any) -> bool:
    """Return whether X is a list of dicts, one per row."""
    return isinstance(X, Sequence) and bool(X) and all(isinstance(row, Mapping) for row in X)


def records_to_columns(X: Sequence[Mapping[Any, Any]]) -> dict[Any, list[Any]]:
    """Return a list of dicts as a dict of columns; a name that a row does not have is a missing cell.

    >>> records_to_columns([{"wind": 3.5, "play": "no"}, {"play": "yes"}])
    {'wind': [3.5, None], 'play': ['no', 'yes']}
    """
    names = dict.fromkeys(name for row in X for name in row)
    return {name: [row.get(name) for row in X] for name in names}


def read_values(values: Any, name: str) -> Column:
    """Read one column: a series, a 1-D array or a list."""
    if _is_masked(values):
        values = _unmasked(values)
    if hasattr(values, "_compliant_series"):  # of narwhals
        return read_frame_column(values, name)
    series = as_frame(_chained(values), series=True)
    if series is not None:
        return read_frame_column(series, name)
    if hasattr(values, "__array__"):
        values = np.atleast_1d(np.asarray(values)) if isinstance(values, np.generic) else np.asarray(values)
    if not isinstance(values, np.ndarray):
        if not isinstance(values, Sequence) or isinstance(values, str | bytes):
            values = list(values) if hasattr(values, "__iter__") and not isinstance(values, str | bytes) else [values]
        array = np.asarray(values) if not _holds_objects(values) else None
        if array is None or array.dtype.kind not in "iufb" or _beyond_int64(array):
            array = np.empty(len(values), dtype=object)
            array[:] = values
        values = array
    if values.ndim != 1:
        raise TableError(f"column '{name}' must have one value per row; got an array of shape {values.shape}.")
    return _read_1d(values, name)


def _chained(values: Any) -> Any:
    """Return an Arrow array of text as a chain of one, which is read without a Python object for each cell."""
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is None or not isinstance(values, pyarrow.StringArray | pyarrow.LargeStringArray):
        return values
    return pyarrow.chunked_array([values])


def _is_masked(values: Any) -> bool:
    module = sys.modules.get("numpy.ma")  # NumPy loads it when it is asked for
    return module is not None and isinstance(values, module.MaskedArray)


def _beyond_int64(array: NDArray[Any]) -> bool:
    # NumPy makes floats of whole numbers that no one type holds; as objects they are told apart, or refused.
    return array.dtype.kind == "f" and bool((np.isfinite(array) & (abs(array) >= 2**63)).any())


def _full(X: Any) -> NDArray[Any]:
    # A cell that a sparse matrix does not hold is a 0 like any other, and a density needs it as much.
    n_rows, n_columns = X.shape if len(X.shape) == 2 else (1, *X.shape)
    need = float(n_rows) * n_columns * X.dtype.itemsize
    if need > _MOST_BYTES:
        raise TooLargeError(
            f"the sparse matrix has {n_rows:,} × {n_columns:,} cells, which take {need / 2**30:,.0f} GiB as a full "
            f"table, more than {_MOST_BYTES / 2**30:.0f} GiB: pass fewer rows at a time (partial_fit, predict) or "
            "fewer columns. BernoulliNB, MultinomialNB and ComplementNB read sparse matrices as they are."
        )
    return np.asarray(X.toarray())


def _unmasked(array: Any) -> NDArray[Any]:
    # A masked cell is a missing one.
    if not array.mask.any():
        return np.asarray(array)
    if array.dtype.kind in "iuf":
        return np.asarray(array.astype(np.float64).filled(np.nan))
    objects = np.asarray(array).astype(object)  # filled(None) would fill in NumPy's own default
    objects[array.mask] = None
    return objects


def _holds_objects(values: Sequence[Any]) -> bool:
    # NumPy would turn [1, "a"] and ["a", None] into text; such lists are read cell by cell.
    return any(value is None or isinstance(value, str | bool) for value in values[:1]) or any(
        value is None or isinstance(value, str) for value in values
    )


def _read_1d(values: NDArray[Any], name: str) -> Column:
    kind = values.dtype.kind
    if kind in "iub" or (kind == "f" and values.dtype.itemsize in (4, 8)):
        return Numbers(values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("=")))
    if kind == "f":
        return Numbers(values.astype(np.float64))
    if kind == "U":
        return read_fixed(values)
    if kind in "OT":
        return read_objects(values.astype(object, copy=False), name)
    if kind == "c":
        raise ValueError(f"Complex data not supported\ncolumn '{name}' has dtype {values.dtype}.")
    raise TypeError(f"column '{name}': argument must be a string or a number; got dtype {values.dtype}.")


def _as_array(X: Any) -> NDArray[Any]:
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    if array.ndim != 2:
        hint = (
            "Reshape your data either using array.reshape(-1, 1) if your data has a single feature "
            "or array.reshape(1, -1) if it contains a single sample."
        )
        raise TableError(
            f"Expected 2D array, got {'scalar' if array.ndim == 0 else f'{array.ndim}D'} array instead:\n"
            f"array={array}.\n{hint}"
        )
    return array


def _read_rows(X: Any) -> Source:
    from bayeskit.table.scan.pieces import Scan  # which reads tables itself

    if isinstance(X, Scan):
        raise TypeError(
            f"{X.shown} is a scan, and this needs all rows at once; read them into a frame, or take a model that "
            "learns from counts, such as NaiveBayes, TAN, AODE, AutoBayes or GaussianBayes."
        )
    if not isinstance(X, Sequence) or isinstance(X, str | bytes):
        raise TypeError(
            "a table is a 2D array, a frame, a dict of columns, a list of rows or of dicts; "
            f"got {type(X).__name__} {X!r:.60}."
        )
    if is_records(X):
        return _read_mapping(records_to_columns(X))
    if not all(isinstance(row, Sequence) and not isinstance(row, str | bytes) for row in X):
        return _read_array(_as_array(X))
    return _read_sequences(X)


def _read_sequences(X: Sequence[Sequence[Any]]) -> Source:
    odd = next((i for i, row in enumerate(X) if len(row) != len(X[0])), None)
    if odd is not None:
        raise TableError(
            f"row {odd} has {len(X[odd])} values and row 0 has {len(X[0])}; all rows must have the same length."
        )
    if not any(cell is None or isinstance(cell, str) for row in X for cell in row):
        array = _as_array(X)
        if not _beyond_int64(array):
            return _read_array(array)
    # Column by column, so that a number beside a text stays a number.
    columns = tuple(read_values(list(cells), f"x{j}") for j, cells in enumerate(zip(*X, strict=True)))
    return Source(tuple(f"x{j}" for j in range(len(columns))), False, len(X), columns)


def _read_array(array: NDArray[Any]) -> Source:
    names = tuple(f"x{j}" for j in range(array.shape[1]))
    if array.dtype.kind in "iub" or (array.dtype.kind == "f" and array.dtype.itemsize in (4, 8)):
        native = array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))
        return Source(names, False, len(native), None, native)
    columns = tuple(_read_1d(array[:, j], name) for j, name in enumerate(names))
    return Source(names, False, len(array), columns)


def _read_frame(frame: Any, without: str | None) -> Source:
    names, named = frame_names(frame)
    kept = {name: series for name, series in zip(names, frame.iter_columns(), strict=True) if name != without}
    columns = tuple(read_frame_column(series, name) for name, series in kept.items())
    return Source(tuple(kept), named, len(frame), columns)


def _read_mapping(table: Mapping[Any, Any]) -> Source:
    names = tuple(str(name) for name in table)
    columns = tuple(read_values(values, name) for name, values in zip(names, table.values(), strict=True))
    for name, column in zip(names, columns, strict=True):
        if len(column) != len(columns[0]):
            raise TableError(
                f"column '{name}' has {len(column)} rows and column '{names[0]}' has {len(columns[0])}; "
                "all columns must have the same length."
            )
    return Source(names, all(isinstance(name, str) for name in table), len(columns[0]) if columns else 0, columns)


def _refuse_duplicates(names: tuple[str, ...]) -> None:
    twice = first_duplicate(names)
    if twice is not None:
        raise TableError(f"{names.count(twice)} columns are named '{twice}'; column names must be unique.")
