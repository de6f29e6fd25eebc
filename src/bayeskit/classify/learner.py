"""How a counting model learns: fit, add, merge and take away rows, save and load."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from os import PathLike
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError

from bayeskit.classify.parameters import from_json, refuse_parameters, to_json
from bayeskit.classify.validate import (
    check_columns,
    in_order,
    keep_weighted,
    refuse_target_among_features,
    split_target,
)
from bayeskit.errors import BayeskitWarning, MergeError, TableError
from bayeskit.io.files import save
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.read import Source, read_table
from bayeskit.table.schema import Schema


class Counts(Protocol):
    """Sufficient statistics: a value that knows its schema and classes, adds and subtracts."""

    schema: Schema
    classes: NDArray[Any]

    @property
    def n_class(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        ...

    def __add__(self, other: Any) -> Self: ...
    def __sub__(self, other: Any) -> Self: ...


class Learner(BaseEstimator):
    """A model that learns from counts.

    It says how it counts (:meth:`_count`) and what it believes then (:meth:`_believe`); the rest is the same for all
    and stands here. New state is made first and put in place last, so that a call that fails leaves a fitted model as
    it was.
    """

    # Each parameter's check: name → what it must be, in words, and the test of it.
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {}

    @abstractmethod
    def _count(
        self, source: Source, y: NDArray[Any], classes: NDArray[Any], weight: NDArray[np.float64] | None, like: Any
    ) -> Any:
        """Count a table; ``like`` holds the counts of earlier rows, whose kinds and bins are kept, or None."""

    @abstractmethod
    def _believe(self, counts: Any) -> Any:
        """Turn counts into beliefs, by the parameters of this moment."""

    @abstractmethod
    def _counts_from_file(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Any:
        """Read the counts that ``counts_.to_parts()`` wrote."""

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Learn from a table and its labels, forgetting what was learned before.

        Parameters
        ----------
        X : table
            NumPy array, pandas or polars frame, Arrow table, or dict of lists. Text, categories and booleans are
            categorical, numbers are numeric, NaN / None / null is missing.
        y : array of shape (n_rows,), optional
            The labels; left out when ``target`` names the column that holds them.
        sample_weight : array of shape (n_rows,), optional
            How often each row counts.
        target : str, optional
            The column of ``X`` that holds the labels.

        Returns
        -------
        self
        """
        refuse_parameters(self, self._rules)
        counts, target = self._learn(X, y, sample_weight, target, None)
        self._adopt(counts, target)
        self._said_frozen: set[str] = set()
        return self

    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> Self:
        """Learn from more rows; new values and new classes may come. Parameters are those of :meth:`fit`.

        ``classes`` announces classes that have not come yet; they take part in the smoothed prior.
        """
        refuse_parameters(self, self._rules)
        before = getattr(self, "counts_", None)
        counts, target = self._learn(X, y, sample_weight, target, before)
        if classes is not None:
            counts = self._announce(counts, read_labels(classes)[0], first=before is None)
        self._adopt(counts if before is None else self._plus(before, counts), target or getattr(self, "_target", None))
        said: set[str] = set() if before is None else getattr(self, "_said_frozen", set())
        self._said_frozen = said | self._say_what_is_frozen(said)
        return self

    def _say_what_is_frozen(self, said: set[str]) -> set[str]:
        """Warn of what later rows will not change, each thing once, and return what was said."""
        binned = [variable.name for variable in self.schema_ if variable.kind == "binned"]
        new = [name for name in binned if f"bins of {name}" not in said]
        if new:
            warnings.warn(
                f"the bins of {', '.join(map(repr, new[:5]))}{' …' if len(new) > 5 else ''} were cut on the "
                "first batch and stay as they are; make the first batch large, or fit bins on all rows at once.",
                BayeskitWarning,
                stacklevel=3,
            )
        return {f"bins of {name}" for name in new}

    def merge(self, other: Self) -> Self:
        """Learn what another fitted model of this kind has learned, as if its rows had come here."""
        self._refuse_unfitted()
        if type(other) is not type(self):
            raise MergeError(
                f"a {type(self).__name__} merges with a {type(self).__name__}; got {type(other).__name__}."
            )
        other._refuse_unfitted()
        self._adopt(self._plus(self.counts_, other.counts_), self._target)
        return self

    def _plus(self, ours: Any, theirs: Any) -> Any:
        return ours + theirs

    def unlearn(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> Self:
        """Take rows away again that were learned before; counts are then exactly those of the other rows."""
        self._refuse_unfitted()
        counts, _ = self._learn(X, y, sample_weight, target, self.counts_)
        rest = self.counts_ - counts
        if not rest.n_class.sum() > 0:
            raise TableError(
                "unlearn would take away every row, and a model of nothing cannot predict; make a new one."
            )
        self._adopt(rest, self._target)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, target: str | None, like: Any) -> tuple[Any, str | None]:
        source = read_table(X)
        if target is not None:
            if y is not None:
                raise TableError(f"give the labels once: either y or target='{target}'.")
            source, y = split_target(X, source, target)
        elif y is None:
            raise TableError(f"This {type(self).__name__} estimator requires y to be passed, but the target y is None.")
        else:
            if isinstance(y, str):
                raise TableError(f"y is the text {y!r}; to name the column that holds the labels, pass target={y!r}.")
            refuse_target_among_features(X, source, y)
        if like is not None:
            source = in_order(X, source, like.schema.names)
            check_columns(source, like.schema.names, like.schema.named, type(self).__name__)
        weight = read_weight(sample_weight, source.n_rows)
        classes, codes = read_labels(y, source.n_rows)
        source, classes, codes, weight = keep_weighted(source, classes, codes, weight)
        return self._count(source, codes, classes, weight, like), target

    def _announce(self, counts: Any, classes: NDArray[Any], first: bool) -> Any:
        strange = sorted(set(counts.classes.tolist()) - set(classes.tolist()), key=str)
        if first and strange:
            raise TableError(
                f"The target label(s) {strange} in y do not exist in the initial classes {classes.tolist()}."
            )
        return counts.declare(classes)

    def _adopt(self, counts: Any, target: str | None) -> None:
        beliefs = self._believe(counts)
        self.counts_ = counts
        self.schema_ = counts.schema
        self.classes_ = counts.classes
        self.n_features_in_ = len(counts.schema)
        if counts.schema.named:
            self.feature_names_in_ = np.array(counts.schema.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self._beliefs = beliefs
        self._believed_with = self.get_params(deep=False)
        self._target = target

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to a file that :func:`bayeskit.load` reads; an old file stays whole until the end."""
        self._refuse_unfitted()
        save(self, path)

    def _to_file(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        meta, arrays = self.counts_.to_parts()
        own = {
            "parameters": to_json(self.get_params(deep=False)),
            "believed_with": to_json(self._believed_with),
            "target": self._target,
        }
        return {**meta, **own}, arrays

    @classmethod
    def _from_file(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        model = cls(**from_json(meta["believed_with"]))
        refuse_parameters(model, cls._rules)
        target = meta["target"]
        if target is not None and not isinstance(target, str):
            raise TypeError("the target is no column name")
        model._adopt(model._counts_from_file(meta, arrays), target)
        model.set_params(**from_json(meta["parameters"]))
        return model

    def _refuse_unfitted(self) -> None:
        if not hasattr(self, "counts_"):
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments "
                "before using this estimator."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "counts_")
