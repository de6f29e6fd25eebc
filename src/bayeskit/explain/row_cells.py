"""One row in any form: its cells are read, hidden or replaced, and given back as a table that a model reads."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.conversions import Conversions
from bayeskit.table.read import raw_columns


@dataclass(frozen=True)
class Row:
    """The cells of one row, None where missing, and the frame it came in, whose dtypes new tables keep."""

    names: tuple[str, ...]
    values: tuple[Any, ...]
    named: bool
    frame: Any = None
    # Features that a dict left out: they are not observed, which some models distinguish from a missing cell.
    left_out: frozenset[str] = frozenset()

    @property
    def absent(self) -> NDArray[np.bool_]:
        """Which cells were left out of a dict, shape (n_features,)."""
        return np.array([name in self.left_out for name in self.names], dtype=bool)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which cells are missing, shape (n_features,)."""
        return np.array([value is None for value in self.values], dtype=bool)


# One branch for each type that a row comes in.
def read_row(model: Any, row: Any) -> Row:
    """Read one row: a dict, a list or 1-D array, a Series, or a table with one row.

    Cells are matched by name where the row has names and the model was fitted with names; a dict may leave features
    out, which are then missing.
    """
    names, named = feature_names(model)
    conversions = getattr(getattr(model, "schema_", None), "conversions", None)
    if conversions is not None and (raw := raw_columns(row)) is not None:
        row = _converted(model, conversions, raw)
    if isinstance(row, Mapping):
        cells = {str(name): _only(value, str(name)) for name, value in row.items()}
        target = getattr(model, "target_", None)
        # A row of the table that the model was fitted on is taken, as `predict` takes it.
        if target is not None and target not in names:
            cells.pop(target, None)
        values = _by_name(cells, names, allow_absent=True)
        return Row(names, values, named, None, frozenset(names) - frozenset(cells))
    import narwhals.stable.v1 as nw  # takes longer than to explain a row that came as a dict

    if nw.dependencies.is_into_dataframe(row):
        table = nw.from_native(row, eager_only=True)
        if len(table) != 1:
            raise TableError(f"explain takes one row; got a frame with {len(table)} rows.")
        # A name that is a number would be taken for the place of a row, so columns are not asked for by name.
        in_turn = [plain_cell(column.to_list()[0]) for column in table.iter_columns()]
        if not named:
            return Row(names, _by_place(in_turn, names, row), named)
        cells = dict(zip(map(str, table.columns), in_turn, strict=True))
        return Row(names, _by_name(cells, names, allow_absent=False), named, row)
    if nw.dependencies.is_pandas_like_series(row):
        cells = {str(name): plain_cell(value) for name, value in row.items()}
        if not named:
            return Row(names, _by_place(np.asarray(row, dtype=object), names, row), named)
        return Row(names, _by_name(cells, names, allow_absent=False), named)
    array = np.asarray(row, dtype=object)
    if array.ndim == 2 and len(array) == 1:
        array = array[0]
    return Row(names, _by_place(array, names, row), named)


def _converted(model: Any, conversions: Conversions, raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return the cells of a raw row in terms of the model; a column that was left out in training is left out."""
    schema = model.schema_
    known = {*schema.names, *conversions.source_of.values(), *conversions.left_out}
    cells: dict[str, Any] = {name: _cells(column) for name, column in conversions.apply(raw, schema.variables).items()}
    return cells | {name: _cells(column) for name, column in raw.items() if name not in known}


def _cells(column: Any) -> Any:
    if hasattr(column, "to_pylist"):
        return column.to_pylist()
    return column.to_list() if hasattr(column, "to_list") else column


def feature_names(model: Any) -> tuple[tuple[str, ...], bool]:
    """Return the names of the features, and whether the model was fitted with them."""
    given = getattr(model, "feature_names_in_", None)
    if given is not None:
        return tuple(str(name) for name in given), True
    if not hasattr(model, "n_features_in_"):
        raise TableError(f"this {type(model).__name__} is not fitted; call fit first.")
    return tuple(f"x{j}" for j in range(model.n_features_in_)), False


def as_table(model: Any, row: Row, columns: Sequence[NDArray[Any]]) -> Any:
    """Return columns of values (None is missing) as a table of the row's own type.

    Where it came as a dict or a list, it is a dict of lists for our models, which read one, and a pandas frame for
    others that were fitted with names; without names it is an array.
    """
    if row.frame is not None and (hasattr(model, "schema_") or _shows_its_names(row.frame)):
        return _like_frame(row, columns)
    if not row.named:
        return _as_array(columns)
    table = {name: column.tolist() for name, column in zip(row.names, columns, strict=True)}
    if hasattr(model, "schema_"):
        return table
    import pandas as pd

    return pd.DataFrame({name: _plain_column(column) for name, column in zip(row.names, columns, strict=True)})


def _shows_its_names(frame: Any) -> bool:
    """Return whether scikit-learn sees the names of a frame's columns.

    Before 1.9 it sees those of pandas and of the interchange protocol, which newer releases of polars do not have.
    """
    import sklearn

    release = tuple(map(int, sklearn.__version__.split(".")[:2]))
    return release >= (1, 9) or hasattr(frame, "__dataframe__") or type(frame).__module__.startswith("pandas.")


def hidden_copies(row: Row, hidden: NDArray[np.bool_]) -> list[NDArray[Any]]:
    """Return the columns of copies of the row; copy i misses the cells that ``hidden[i]`` marks."""
    columns = []
    for j, value in enumerate(row.values):
        column = np.full(len(hidden), None, dtype=object)
        column[~hidden[:, j]] = value
        columns.append(column)
    return columns


def plain_cell(value: Any) -> Any:
    """Return a cell as a plain Python value; NaN, NaT and NA become None."""
    if isinstance(value, np.generic):
        value = value.item()
    pandas = sys.modules.get("pandas")  # a value of pandas comes only where it is imported
    # NaN and NaT differ from themselves; pandas.NA refuses to say.
    if value is None or (pandas is not None and value is pandas.NA) or value != value:
        return None
    return value


def _only(value: Any, name: str) -> Any:
    if isinstance(value, list | tuple | np.ndarray):
        if len(value) != 1:
            raise TableError(f"feature {name!r}: one row has one value; got {len(value)}.")
        value = value[0]
    return plain_cell(value)


def _by_place(cells: Any, names: tuple[str, ...], row: Any) -> tuple[Any, ...]:
    if np.shape(cells) != (len(names),):
        raise TableError(f"the row must have {len(names)} cells, one per feature; got shape {np.shape(row)}.")
    return tuple(plain_cell(value) for value in cells)


def _by_name(cells: dict[str, Any], names: tuple[str, ...], *, allow_absent: bool) -> tuple[Any, ...]:
    unknown = [name for name in cells if name not in names]
    absent = [name for name in names if name not in cells]
    if allow_absent and unknown:
        raise TableError(f"the model has no feature {unknown[0]!r}; its features are {', '.join(names)}.")
    if not allow_absent and absent:
        raise TableError(f"the row lacks the feature {absent[0]!r}; the features are {', '.join(names)}.")
    return tuple(cells.get(name) for name in names)


def _like_frame(row: Row, columns: Sequence[NDArray[Any]]) -> Any:
    import narwhals.stable.v1 as nw

    frame = nw.from_native(row.frame, eager_only=True)
    schema = frame.schema
    if nw.dependencies.is_pandas_dataframe(row.frame):
        import pandas as pd

        table = pd.DataFrame({name: _plain_column(column) for name, column in zip(row.names, columns, strict=True)})
        categories = {name: row.frame[name].dtype for name in row.names if schema[name] in (nw.Categorical, nw.Enum)}
        return table.astype(categories)
    data = {name: column.tolist() for name, column in zip(row.names, columns, strict=True)}
    kept = {name: schema[name] for name in row.names}
    return nw.to_native(nw.from_dict(data, schema=kept, backend=nw.get_native_namespace(frame)))


def _as_array(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    stacked = np.stack(columns, axis=1)
    if all(map(_is_number, stacked.ravel())):
        return stacked.astype(np.float64)  # None becomes NaN
    return stacked


def _plain_column(column: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as floats with NaN, so that a frame does not hold them as objects."""
    if all(map(_is_number, column)):
        return column.astype(np.float64)
    return column


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))
