"""Bins as a scikit-learn transformer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeskit.defaults import BINS
from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.discretize import METHODS, learn_edges, learn_mdl_edges
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.schema import bin_names


@dataclass(frozen=True, eq=False)
class DiscretizerState:
    """The inner edges of each column, and the columns."""

    edges: list[NDArray[np.float64]]
    bin_names: list[tuple[str, ...]]
    columns: dict[str, Any]  # what scikit-learn notes of the columns: their number, and their names if they have names


class _Columns(BaseEstimator):
    """What scikit-learn reads a table for, and notes its columns on."""


_Columns.__name__ = "Discretizer"  # as its messages say


class Discretizer(TransformerMixin, BaseEstimator):
    """Put numeric columns into bins, learned on the rows of ``fit`` only.

    Bin b of a column holds ``edges_[j][b - 1] <= x < edges_[j][b]``. A missing cell (NaN) stays missing.

    Parameters
    ----------
    method : {"mdl", "equal-width", "equal-frequency"}, default "mdl"
        "mdl" cuts where the classes are best separated (Fayyad & Irani 1993) and needs ``y``.
    bins : int, default 10
        The largest number of bins; "mdl" chooses the number itself.

    Attributes
    ----------
    edges_ : list of arrays
        The inner edges of each column.
    bin_names_ : list of tuples
        The bins of each column, as text.

    Examples
    --------
    >>> X = [[1.0], [2.0], [3.0], [4.0], [7.0], [8.0], [9.0], [10.0]]
    >>> bins = Discretizer().fit(X, [0, 0, 0, 0, 1, 1, 1, 1])
    >>> bins.bin_names_
    [('(-inf, 5.5)', '[5.5, inf)')]
    >>> bins.transform([[5.0], [5.5], [float("nan")]]).ravel()
    array([ 0.,  1., nan])
    """

    def __init__(self, method: str = "mdl", *, bins: int = BINS) -> None:
        self.method = method
        self.bins = bins

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the edges; "mdl" needs the class labels ``y``, and ``sample_weight`` says how often a row counts."""
        if self.method not in METHODS:
            raise BayeskitError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}.")
        bins: Any = self.bins
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise BayeskitError(f"bins must be a whole number of at least 1; got {self.bins!r}.")
        columns = _Columns()
        X = validate_data(columns, X, dtype=np.float64, ensure_all_finite="allow-nan")
        weight = read_weight(sample_weight, len(X))
        if self.method == "mdl":
            if y is None:
                raise TableError(
                    "Discretizer(method='mdl') requires y to be passed, but the target y is None; bins by "
                    "'equal-width' or 'equal-frequency' need none."
                )
            labels, codes = read_labels(y, len(X))
            edges = learn_mdl_edges(list(X.T), codes, len(labels), weight)
        else:
            if weight is not None:  # a row without weight is as if it were not there
                X, weight = X[weight > 0], weight[weight > 0]
            edges = [learn_edges(column, self.method, int(self.bins), weight) for column in X.T]
        cuts = [np.array(each) for each in edges]
        self._state = DiscretizerState(cuts, [bin_names(each) for each in edges], dict(vars(columns)))
        return self

    @property
    def edges_(self) -> list[NDArray[np.float64]]:
        """The inner edges of each column."""
        return self._fitted.edges

    @property
    def bin_names_(self) -> list[tuple[str, ...]]:
        """The bins of each column, as text."""
        return self._fitted.bin_names

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return int(self._fitted.columns["n_features_in_"])

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns' names, where they have names."""
        columns = self._fitted.columns
        if "feature_names_in_" not in columns:
            raise AttributeError("the columns came without names.")
        return np.asarray(columns["feature_names_in_"])

    @property
    def _fitted(self) -> DiscretizerState:
        check_is_fitted(self)
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the number of each cell's bin, as floats so that a missing cell can stay NaN."""
        state, columns = self._fitted, _Columns()
        columns.__dict__.update(state.columns)
        X = validate_data(columns, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        out = np.empty_like(X)
        for j, edges in enumerate(state.edges):
            out[:, j] = np.searchsorted(edges, X[:, j], side="right")
        out[np.isnan(X)] = np.nan
        return np.asarray(out)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns, which do not change."""
        check_is_fitted(self)
        if hasattr(self, "feature_names_in_"):
            if input_features is not None and list(input_features) != list(self.feature_names_in_):
                raise BayeskitError("input_features is not equal to feature_names_in_")
            return np.asarray(self.feature_names_in_)
        if input_features is not None:
            if len(input_features) != self.n_features_in_:
                raise BayeskitError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(input_features)}"
                )
            return np.asarray(input_features, dtype=object)
        return np.array([f"x{j}" for j in range(self.n_features_in_)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = self.method == "mdl"
        return tags
