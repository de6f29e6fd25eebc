"""Frames and series of pandas, polars and Arrow, through narwhals: no copy where none is needed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.arrow import BatchReader, as_level
from bayeskit.table.column import Coded, Column, Numbers, missing_code
from bayeskit.table.strings import read_arrow, read_objects

# Packages whose frames hold no rows here: what such a frame is called, and how its rows are predicted.
_DASK = ("Dask frame", "call bayeskit.cluster.dask.predict(model, frame)")
_DUCKDB = ("DuckDB relation", "pass frame.df()")
_ELSEWHERE = {
    "dask": _DASK,
    "dask_expr": _DASK,
    "pyspark": ("Spark frame", "call bayeskit.cluster.spark.predict(model, frame)"),
    "duckdb": _DUCKDB,
    "_duckdb": _DUCKDB,
}
_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def as_frame(X: Any, *, series: bool = False) -> Any:
    """Return a narwhals frame (or series), or None when ``X`` is neither."""
    # A frame can only come from a module that is loaded already; the others cost no import.
    if type(X) in (list, tuple, dict, np.ndarray) or not any(
        name in sys.modules for name in ("pandas", "polars", "pyarrow", "modin", "cudf")
    ):
        return None
    import narwhals as nw

    if type(X).__name__ == "LazyFrame":
        raise TypeError("a LazyFrame holds no rows yet; call its collect() first.")
    pyarrow = sys.modules.get("pyarrow")
    if pyarrow is not None and isinstance(X, pyarrow.RecordBatch):
        X = pyarrow.Table.from_batches([X])
    native = nw.from_native(X, eager_only=True, allow_series=True, pass_through=True)
    wanted = nw.Series if series else nw.DataFrame
    return native if isinstance(native, wanted) else None


def refuse_rows_elsewhere(X: Any) -> None:
    """Raise an error for a frame of a cluster or a database, which says how its rows are read.

    NumPy would gather the rows of a Dask frame here without a word, and without the names of its columns.
    """
    elsewhere = _ELSEWHERE.get(type(X).__module__.split(".")[0])
    if elsewhere is not None and hasattr(X, "columns"):
        what, predict = elsewhere
        raise TypeError(
            f"a {what} holds no rows here: to fit, pass bayeskit.scan(frame) and target='column'; "
            f"to predict, {predict}."
        )


def given_names(X: Any) -> tuple[str, ...]:
    """Return the original names of a frame's or a dict's columns; other tables have none."""
    if isinstance(X, Mapping):
        return tuple(map(str, X))
    if type(X).__name__ == "LazyFrame":  # asking it would run its plan
        return ()
    names = getattr(X, "column_names", None) or getattr(X, "columns", None)
    return () if names is None else tuple(map(str, names))


def frame_names(frame: Any) -> tuple[tuple[str, ...], bool]:
    """Return the columns' names as text, and whether they were text."""
    names = tuple(frame.to_native().columns) if frame.implementation.is_pandas_like() else tuple(frame.columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        types = sorted({type(name).__qualname__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{types} as feature name / column name types. Convert them all with X.columns = X.columns.astype(str)."
        )
    return tuple(map(str, names)), all(texts)


def read_frame_column(series: Any, name: str) -> Column:
    """Read one narwhals series."""
    import narwhals as nw

    dtype = series.dtype
    if dtype in (nw.Categorical, nw.Enum):
        return _read_categorical(series)
    if dtype == nw.String:
        return _read_strings(series, name)
    if dtype == nw.Boolean:
        if series.null_count() == 0:
            return Numbers(np.asarray(series.to_numpy(), dtype=bool))
        known = series.fill_null(False).to_numpy().astype(np.uint8)
        known[series.is_null().to_numpy()] = missing_code(known.dtype)
        return Coded(known, (False, True))
    if dtype.is_numeric():
        return Numbers(_read_numbers(series, dtype))
    if dtype == nw.Object:
        return read_objects(np.asarray(series.to_numpy(), dtype=object), name)
    if series.null_count() == len(series):
        return Numbers(np.full(len(series), np.nan))
    if type(getattr(series.to_native(), "dtype", None)).__name__ == "SparseDtype":
        return Numbers(np.asarray(series.to_native(), dtype=np.float64))
    hint = " Split a date into the parts that matter (year, month, weekday)." if dtype.is_temporal() else ""
    raise TypeError(f"column '{name}': argument must be a string or a number; got a column of type {dtype}.{hint}")


def _read_numbers(series: Any, dtype: Any) -> NDArray[Any]:
    if dtype.is_decimal() or (dtype.is_integer() and series.null_count() > 0):
        import narwhals as nw

        series = series.cast(nw.Float64)
    values = np.asarray(series.to_numpy())
    if values.dtype.kind == "O":  # pandas' nullable numbers with gaps
        values = np.array([np.nan if cell is None or cell != cell else cell for cell in values], dtype=np.float64)
    return values.astype(np.float64) if values.dtype.kind == "f" and values.dtype.itemsize not in (4, 8) else values


def _read_strings(series: Any, name: str) -> Column:
    native = series.to_native()
    if series.implementation.is_pandas_like():
        storage = getattr(native.dtype, "storage", "python")
        if native.dtype == object or storage == "python":
            return read_objects(np.asarray(native.array, dtype=object), name)
        native = series.to_arrow()
    if not hasattr(native, "__arrow_c_stream__"):  # one Arrow array rather than a chain of them
        import pyarrow as pa

        native = pa.chunked_array([native])
    return read_arrow(native.__arrow_c_stream__())


def _read_categorical(series: Any) -> Column:
    native = series.to_native()
    if series.implementation.is_pandas_like() and hasattr(native.dtype, "categories"):
        codes = native.array.codes
        # pandas' -1 for "missing" is our MISSING once the bits are read as an unsigned number.
        unsigned = codes.view(_UNSIGNED[codes.dtype.itemsize]) if codes.dtype.itemsize <= 4 else codes.astype(np.uint32)
        return Coded(unsigned, tuple(map(as_level, native.cat.categories.tolist())), declared=True)
    if series.implementation.is_polars():
        import polars as pl

        if not isinstance(native.dtype, pl.Enum):
            # A polars Categorical shares its list of strings with other columns, so the strings in use are the levels.
            return read_arrow(native.cast(pl.String).__arrow_c_stream__())
        codes = native.to_physical().cast(pl.UInt32).fill_null(missing_code(np.dtype(np.uint32))).to_numpy()
        return Coded(codes, tuple(native.dtype.categories.to_list()), declared=True)
    return read_dictionary(native if hasattr(native, "combine_chunks") else series.to_arrow())


def read_dictionary(array: Any) -> Column:
    """Read a column of Arrow that is codes into a dictionary."""
    import pyarrow as pa

    if isinstance(array, pa.ChunkedArray):
        unified = array.unify_dictionaries()
        array = unified.combine_chunks() if unified.num_chunks else pa.array([], array.type)
        array = array.chunk(0) if isinstance(array, pa.ChunkedArray) else array
    return BatchReader().column(array, "")


def arrow_table(X: Any) -> Any:
    """Return a frame or a dict of columns as an Arrow table; other tables, which have no column names, are an error.

    >>> arrow_table({"wind": ["weak", None]}).num_rows
    2
    """
    import pyarrow as pa

    frame = None if isinstance(X, Mapping) else as_frame(X)
    if frame is not None:
        if frame_names(frame)[1]:
            names = frame_names(frame)[0]
            columns = [frame[name] for name in frame.columns]
            return pa.table({name: _named(column, name) for name, column in zip(names, columns, strict=True)})
    elif isinstance(X, Mapping):
        return pa.table({str(name): _named(column, str(name)) for name, column in X.items()})
    refuse_rows_elsewhere(X)
    raise TypeError(
        "bayeskit.read, and kinds='infer', take a path, a frame or a dict of columns, since a column is known by its "
        f"name; got {type(X).__name__}{'' if frame is None else ' without names'}."
    )


def _named(column: Any, name: str) -> Any:
    """Return a column as Arrow holds it; one whose cells are of several types is an error with its name."""
    import pyarrow as pa

    try:
        return _arrow_column(column)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        said = str(error).splitlines()[0]
        raise TableError(
            f"column {name!r} must hold cells of one type, such as text or numbers: {said}. Turn all of them into "
            "text, which is then read as a file's."
        ) from error


def _arrow_column(column: Any) -> Any:
    import pyarrow as pa

    if isinstance(column, pa.Array | pa.ChunkedArray):
        return column
    series = as_frame(column, series=True)
    return pa.array(column, from_pandas=True) if series is None else series.to_arrow()
