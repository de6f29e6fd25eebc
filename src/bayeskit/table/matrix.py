"""Matrices of counts: arrays, frames and scipy.sparse, read in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayeskit.errors import TableError
from bayeskit.table.column import Coded
from bayeskit.table.frames import as_frame, frame_names
from bayeskit.table.read import Source


@dataclass(frozen=True)
class Matrix:
    """A table of numbers: one array, or a sparse matrix in compressed rows; and the names of the columns, if any."""

    data: Any  # 2-D array, or a CSR array or matrix
    names: tuple[str, ...] | None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return int(self.data.shape[0]), int(self.data.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether only cells that are not zero are kept."""
        return bool(sparse.issparse(self.data))

    @property
    def values(self) -> NDArray[Any]:
        """The cells that are kept."""
        return np.asarray(self.data.data if self.is_sparse else self.data)

    def name(self, j: int) -> str:
        """Return the name of a column."""
        return self.names[j] if self.names else f"x{j}"

    def take(self, rows: NDArray[Any]) -> Matrix:
        """Return some of the rows."""
        return Matrix(self.data[rows], self.names)


def read_matrix(X: Any, who: str, *, finite: bool = True) -> Matrix:
    """Read a matrix in scikit-learn's way, with its messages; whole numbers stay whole."""
    from sklearn.utils import check_array

    names: tuple[str, ...] = ()
    named = False
    if isinstance(X, Mapping) and not sparse.issparse(X):
        names, named = tuple(X), True
        X = np.column_stack([_numbers(column, name) for name, column in X.items()])
    elif not sparse.issparse(X) and (frame := as_frame(X)) is not None:
        names, named = frame_names(frame)
    try:
        data: Any = check_array(
            X,
            accept_sparse="csr",
            dtype="numeric",
            estimator=who,
            input_name="X",
            ensure_all_finite=True if finite else "allow-nan",
        )
    except ValueError as error:
        raise TableError(f"{_not_finite(X, names, finite=finite)}{error}") from None
    if hasattr(data, "indptr"):
        if not data.has_canonical_format:
            data = data.copy()
            data.sum_duplicates()
    elif data.dtype.kind == "f" and data.dtype.itemsize not in (4, 8):
        data = data.astype(np.float64)
    return Matrix(data, names if named else None)


def columns_of_numbers(source: Source) -> dict[str, NDArray[Any]]:
    """Return the columns of a table for :func:`read_matrix`; a column of values is an error."""
    columns = {}
    for j, name in enumerate(source.names):
        column = source.column(j)
        if isinstance(column, Coded):
            raise TableError(f"column {name!r} holds {column.levels[0]!r}; a matrix of counts takes numbers.")
        columns[name] = np.asarray(column.values)
    return columns


def _numbers(column: Any, name: str) -> NDArray[Any]:
    values = np.array([np.nan if cell is None else cell for cell in column])
    if values.dtype.kind not in "iufb":
        raise TableError(f"column {name!r} must hold numbers; got {column[0]!r}.")
    return values


def _not_finite(X: Any, names: tuple[str, ...], *, finite: bool) -> str:
    """Return where a cell is not finite, as the beginning of a message; "" where that is not what is wrong."""
    cells = None if sparse.issparse(X) else np.asarray(X)
    if cells is None or cells.ndim != 2 or cells.dtype.kind != "f":
        return ""
    bad = ~np.isfinite(cells) if finite else np.isinf(cells)
    if not bad.any():
        return ""
    row, j = np.unravel_index(int(bad.argmax()), bad.shape)
    return f"column '{names[j] if names else f'x{j}'}', row {row} holds {cells[row, j]}. "


def largest(matrix: Matrix, sign: int = 1) -> tuple[int, int, float]:
    """Return row, column and value of the largest cell, or with ``sign=-1`` of the least."""
    place = int(np.nanargmax(sign * matrix.values))
    if matrix.is_sparse:
        row = int(np.searchsorted(matrix.data.indptr, place, side="right")) - 1
        return row, int(matrix.data.indices[place]), float(matrix.data.data[place])
    row, j = (int(i) for i in np.unravel_index(place, matrix.shape))
    return row, j, float(matrix.data[row, j])


def refuse_negative(matrix: Matrix, who: str) -> None:
    """Refuse counts below zero."""
    values = matrix.values
    if values.size and values.dtype.kind in "if" and np.fmin.reduce(values, axis=None) < 0:  # NaN is none
        row, j, value = largest(matrix, -1)
        raise TableError(
            f"Negative values in data passed to {who} (input X): column '{matrix.name(j)}', row {row} holds {value:g}."
        )
