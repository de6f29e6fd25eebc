"""Bins as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from bayeskit.errors import BayeskitError, TableError
from bayeskit.table.discretize import METHODS, learn_edges, learn_mdl_edges
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.schema import bin_names


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

    def __init__(self, method: str = "mdl", *, bins: int = 10) -> None:
        self.method = method
        self.bins = bins

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the edges; "mdl" needs the class labels ``y``, and ``sample_weight`` says how often a row counts."""
        if self.method not in METHODS:
            raise BayeskitError(f"method must be one of {', '.join(METHODS)}; got {self.method!r}.")
        bins: Any = self.bins
        if isinstance(bins, bool) or not isinstance(bins, int | np.integer) or bins < 1:
            raise BayeskitError(f"bins must be a whole number of at least 1; got {self.bins!r}.")
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan")
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
        self.edges_ = [np.array(cuts) for cuts in edges]
        self.bin_names_ = [bin_names(cuts) for cuts in edges]
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Return the number of each cell's bin, as floats so that a missing cell can stay NaN."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, ensure_all_finite="allow-nan", reset=False)
        out = np.empty_like(X)
        for j, edges in enumerate(self.edges_):
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
