"""Classifiers of other libraries in a comparison: they read a frame or an array, and give probabilities."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.base import BayesClassifier
from bayeskit.classify.feature_model import FeatureModel
from bayeskit.classify.table_classifier import TableClassifier
from bayeskit.errors import BayeskitError
from bayeskit.learn.labelled import Labelled
from bayeskit.table.column import Coded
from bayeskit.table.read import Source


def is_outside(model: Any) -> bool:
    """Return whether a classifier must be given a frame or an array: all but our own that read any table."""
    return isinstance(model, FeatureModel) or not isinstance(model, BayesClassifier | TableClassifier)


def as_given(source: Source) -> Any:
    """Return a table as other libraries read it: an array where it came as one, or else a pandas frame.

    >>> from bayeskit.table.read import read_table
    >>> as_given(read_table(np.array([[1.0, 2.0]])))
    array([[1., 2.]])
    """
    columns = [source.column(j) for j in range(len(source.names))]
    numbers = [column.values for column in columns if not isinstance(column, Coded)]
    if not source.named and len(numbers) == len(columns):
        return source.array if source.array is not None else np.column_stack(numbers)
    try:
        pd: Any = import_module("pandas")
    except ImportError:
        raise BayeskitError("it reads frames, and pandas is not installed (pip install pandas).") from None
    cells = {}
    for name, column in zip(source.names, columns, strict=True):
        if not isinstance(column, Coded):
            cells[name] = column.values
            continue
        codes = np.where(column.missing(), -1, column.codes.astype(np.int64))
        category = pd.Categorical.from_codes(codes, list(column.levels))
        cells[name] = category if column.declared else category.astype(object)
    return pd.DataFrame(cells)


class OutsideClassifier:
    """An estimator of another library, fitted on rows that were read."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    @classmethod
    def fit(cls, model: Any, rows: Labelled) -> Self:
        """Fit a copy of a model; what it raises becomes the reason why it takes no part."""
        from sklearn.base import clone

        table = as_given(rows.source)
        try:
            return cls(clone(model).fit(table, rows.classes[rows.y]))
        except Exception as error:
            raise BayeskitError(f"it cannot be fitted: {_first_line(error)}") from error

    @property
    def classes_(self) -> NDArray[Any]:
        """The class labels."""
        return np.asarray(self.estimator.classes_)

    def predict_proba(self, source: Source) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        try:
            return np.asarray(self.estimator.predict_proba(as_given(source)), dtype=np.float64)
        except Exception as error:
            raise BayeskitError(f"it cannot predict: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return f"{type(error).__name__}: {said[0]}" if said else type(error).__name__
