"""Some rows of a table of any type, as a table of the same type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.errors import TableError
from bayeskit.table.corpus_files import TextSource
from bayeskit.table.frames import given_names
from bayeskit.table.labels import read_label_column
from bayeskit.table.names import not_found
from bayeskit.table.read import Source, is_records, is_sparse
from bayeskit.table.scan.pieces import Scan


def drop_unlabeled(X: Any, y: Any = None, *more: Any, target: str | None = None) -> Any:
    """Leave out the rows without a label, which every ``fit`` refuses: None, NaN or null in ``y``.

    Parameters
    ----------
    X : table
        A frame, array, sparse matrix, dict of columns, list of rows or list of texts. Or a scan, with ``target``, or
        what :func:`bayeskit.read_texts` gave: rows are then left out as they are read.
    y : array of shape (n_rows,), optional
        The labels; left out when ``target`` names the column of ``X`` that holds them.
    *more : arrays of shape (n_rows,)
        Further arrays with an entry for each row, such as weights.
    target : str, optional
        The column of ``X`` that holds the labels.

    Returns
    -------
    table, or tuple
        The rows that have a label, each in the type that came: ``X``, then ``y`` and ``more`` where they were given.

    Examples
    --------
    >>> from bayeskit import drop_unlabeled
    >>> drop_unlabeled({"wind": ["weak", "strong", "weak"]}, ["yes", None, "no"])
    ({'wind': ['weak', 'weak']}, ['yes', 'no'])
    >>> drop_unlabeled({"wind": ["weak", "strong"], "play": [None, "no"]}, target="play")
    {'wind': ['strong'], 'play': ['no']}
    """
    if isinstance(X, TextSource):
        if y is not None or more or target is not None:
            raise TableError("what read_texts gave holds its labels; drop_unlabeled takes nothing beside it.")
        return X.labeled()
    if (y is None) == (target is None):
        raise TableError("drop_unlabeled takes the labels once: either y or target=, the name of their column.")
    if isinstance(X, Scan):
        if target is None or more:
            raise TableError(
                "of a scan, drop_unlabeled takes target=, the name of the column of labels, and no arrays."
            )
        return X.labeled(target)
    if target is None:
        labels = y
    elif is_records(X):
        labels = [row.get(target) for row in X]
    elif target in given_names(X):
        labels = X[target]
    else:
        raise TableError(f"target: {not_found('column', target, given_names(X))}")
    rows = np.flatnonzero(~read_label_column(labels)[0].missing())
    given = [X, *([] if y is None else [y]), *more]
    kept = tuple(rows_of(each, rows) for each in given)
    return kept if len(kept) > 1 else kept[0]


def rows_of(X: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of a table, as the same type of table."""
    import narwhals.stable.v1 as nw

    if isinstance(X, Source):
        return X.take(rows)
    if isinstance(X, Mapping):
        return {name: rows_of(column, rows) for name, column in X.items()}
    if isinstance(X, list | tuple):
        return [X[i] for i in rows]
    if is_sparse(X):
        return X.tocsr()[rows]
    if nw.dependencies.is_into_dataframe(X) or nw.dependencies.is_into_series(X):
        return nw.to_native(nw.from_native(X, eager_only=True, allow_series=True)[rows.tolist()])
    return np.asarray(X)[rows]
