"""Matrices of counts: arrays, frames and scipy.sparse, read in place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayeskit.errors import TableError
from bayeskit.table.frames import as_frame, frame_names


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
    data: Any = check_array(
        X,
        accept_sparse="csr",
        dtype="numeric",
        estimator=who,
        input_name="X",
        ensure_all_finite=True if finite else "allow-nan",
    )
    if hasattr(data, "indptr"):
        if not data.has_canonical_format:
            data = data.copy()
            data.sum_duplicates()
    elif data.dtype.kind == "f" and data.dtype.itemsize not in (4, 8):
        data = data.astype(np.float64)
    return Matrix(data, names if named else None)


def _numbers(column: Any, name: str) -> NDArray[Any]:
    values = np.array([np.nan if cell is None else cell for cell in column])
    if values.dtype.kind not in "iufb":
        raise TableError(f"column {name!r} must hold numbers; got {column[0]!r}.")
    return values


def refuse_negative(matrix: Matrix, who: str) -> None:
    """Refuse counts below zero."""
    values = matrix.values
    if values.size and values.dtype.kind in "if" and values.min() < 0:
        raise TableError(f"Negative values in data passed to {who} (input X).")
