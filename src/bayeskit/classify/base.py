"""The life of a counting classifier: count, believe, predict; add, merge and take away rows; save and load."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from bayeskit.classify.parameters import from_json, refuse_parameters, to_json
from bayeskit.classify.tell import domain_of, summarise
from bayeskit.classify.validate import (
    check_columns,
    in_order,
    in_place,
    keep_weighted,
    refuse_target_among_features,
    split_target,
)
from bayeskit.decide.known import Domain
from bayeskit.errors import BayeskitWarning, ImpossibleEvidenceError, MergeError, TableError
from bayeskit.estimate.naive import Score
from bayeskit.explain.evidence import Explanation, Explanations, explain, explain_rows
from bayeskit.explain.summary import Summary
from bayeskit.io.files import save
from bayeskit.table.encode import encode, refuse_infinite, refuse_uncountable
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.read import Source, read_table, read_values
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


class Beliefs(Protocol):
    """What a model believes once it has counted; it scores rows."""

    in_place: bool
    log_prior: NDArray[np.float64]

    def score(
        self, table: list[NDArray[Any]] | NDArray[Any], result: Score, *, fallback: bool = False
    ) -> tuple[NDArray[Any], int, int]:
        """Return the scores, the first impossible row and the first row with an infinite number (or -1)."""
        ...


class BayesClassifier(ClassifierMixin, BaseEstimator):
    """A classifier that learns from counts.

    A model says how it counts (:meth:`_count`) and what it believes then (:meth:`_believe`); the rest of its life is
    the same for all and stands here. New state is made first and put in place last, so that a call that fails leaves a
    fitted model as it was.
    """

    # How values and rows of probability zero are met; models that leave the choice to the user have parameters for it.
    unseen: str = "ignore"
    impossible: str = "error"
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

    # -- learning ---------------------------------------------------------------------------------------------------

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
        self._adopt(counts if before is None else before + counts, target or getattr(self, "_target", None))
        if before is None:
            self._say_what_is_frozen()
        return self

    def _say_what_is_frozen(self) -> None:
        binned = [variable.name for variable in self.schema_ if variable.kind == "binned"]
        if binned:
            warnings.warn(
                f"the bins of {', '.join(map(repr, binned[:5]))}{' …' if len(binned) > 5 else ''} were cut on the "
                "first batch and stay as they are; make the first batch large, or fit bins on all rows at once.",
                BayeskitWarning,
                stacklevel=3,
            )

    def merge(self, other: Self) -> Self:
        """Learn what another fitted model of this kind has learned, as if its rows had come here."""
        self._refuse_unfitted()
        if type(other) is not type(self):
            raise MergeError(
                f"a {type(self).__name__} merges with a {type(self).__name__}; got {type(other).__name__}."
            )
        other._refuse_unfitted()
        self._adopt(self.counts_ + other.counts_, self._target)
        return self

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

    # -- prediction -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        codes = self._score(X, Score.CLASS)
        return np.asarray(self.classes_[codes])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        return self._score(X, Score.POSTERIOR)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        return self._score(X, Score.LOG_POSTERIOR)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c), of shape (n_rows, n_classes)."""
        return self._score(X, Score.LOG_JOINT)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x) of each row; low values mark rows unlike those of the fit."""
        return self._score(X, Score.LOG_EVIDENCE)

    def _score(self, X: Any, result: Score) -> NDArray[Any]:
        self._refuse_unfitted()
        beliefs: Beliefs = self._beliefs
        table = X if self._reads_in_place(X) else self._encode(X)
        scores, impossible, infinite = beliefs.score(table, result, fallback=self.impossible == "prior")
        if infinite >= 0:
            source = self._read_features(X)
            for j, name in enumerate(self.schema_.names):
                column = source.column(j)
                refuse_infinite(getattr(column, "values", np.empty(0)), name)
        if impossible >= 0:
            way_out = " Pass impossible='prior' to answer such rows with the prior." * (
                "impossible" in self.get_params()
            )
            raise ImpossibleEvidenceError(
                f"row {impossible}: no class can give this x, since under each of them some value has probability 0: a "
                f"value that smoothing > 0 would allow, or a number too far out.{way_out}"
            )
        return scores

    def _reads_in_place(self, X: Any) -> bool:
        # The quick way for arrays: the kernel reads the numbers as they are.
        return (
            self._beliefs.in_place
            and self.unseen != "error"
            and in_place(X, self.n_features_in_)
            and not self.schema_.named
        )

    def _encode(self, X: Any) -> list[NDArray[Any]]:
        source = self._read_features(X)
        columns = encode(source, self.schema_, unseen_is_error=self.unseen == "error")
        for column, variable in zip(columns, self.schema_, strict=True):
            if variable.kind == "poisson":
                refuse_uncountable(column, variable.name)
        return columns

    def _read_features(self, X: Any) -> Source:
        source = read_table(X)
        if self._target is not None and source.named and self._target in source.names:
            source = source.without(self._target)  # fitted with target=: the whole table may come again
        source = in_order(X, source, self.schema_.names)
        check_columns(source, self.schema_.names, self.schema_.named, type(self).__name__)
        return source

    # -- likelihood -------------------------------------------------------------------------------------------------

    def score(self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None) -> float:
        """Return the share of rows whose class is predicted right."""
        if target is not None:
            X, y = split_target(X, read_table(X), target)
        return float(super().score(X, y, sample_weight))

    def log_likelihood(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return Σ log P(x, y) over the rows, by the natural logarithm."""
        self._refuse_unfitted()
        if target is not None:
            source, y = split_target(X, read_table(X), target)
            X = source
        elif y is None:
            raise TableError("the likelihood of rows needs their labels: pass y, or target='column'.")
        log_joint = self.predict_joint_log_proba(X)
        labels, codes = read_labels(y, len(log_joint))
        strange = [label for label in labels.tolist() if label not in self.classes_.tolist()]
        if strange:
            raise TableError(
                f"y holds the class {strange[0]!r}, which was not seen in fit; seen: {self.classes_.tolist()}."
            )
        column = np.searchsorted(self.classes_, labels)[codes]
        return float(log_joint[np.arange(len(log_joint)), column].sum())

    def aic(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return log-likelihood − free parameters: higher is better, as in bnlearn."""
        return self.log_likelihood(X, y, target=target) - float(self.n_parameters_)

    def bic(self, X: Any, y: Any = None, *, target: str | None = None) -> float:
        """Return log-likelihood − ½ ln N · free parameters: higher is better, as in bnlearn."""
        log_likelihood = self.log_likelihood(X, y, target=target)
        return log_likelihood - 0.5 * float(np.log(read_table(X).n_rows)) * float(self.n_parameters_)

    # -- decisions and explanations ---------------------------------------------------------------------------------

    def explain(
        self, row: Any, classes: tuple[Any, Any] | None = None, order: Sequence[str] | None = None
    ) -> Explanation:
        """Explain one row: the prior log-odds of two classes, and what each feature adds to them.

        Parameters
        ----------
        row : dict, list, 1-D array, Series, or table with one row
            What to explain; a dict may leave features out.
        classes : (a, b), optional
            The classes to compare; by default the most probable one and the runner-up.
        order : sequence of str, optional
            The features in the order in which they are revealed; by default that of the table.
        """
        self._refuse_unfitted()
        return explain(self, row, classes, order)

    def explain_rows(self, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
        """Explain every row of a table, as :meth:`explain` does one."""
        self._refuse_unfitted()
        return explain_rows(self, X, classes)

    def summary(self) -> Summary:
        """Return priors, the most telling values of each class, bins, rows counted and missing rates, to print."""
        self._refuse_unfitted()
        return self._summary()

    def _summary(self) -> Summary:
        unknown = np.full(len(self.schema_), np.nan)
        return summarise(self, np.asarray(self.counts_.n_class), unknown, {})

    def _domains(self) -> list[Domain]:
        """Return the values that each column takes; a model with densities gives grids over them."""
        self._refuse_unfitted()
        return [domain_of(variable) for variable in self.schema_]

    def _log_joint(self, columns: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
        """Return log P(x, c) for columns of plain values in which None is missing."""
        names = self.schema_.names
        read = tuple(read_values(column.tolist(), name) for column, name in zip(columns, names, strict=True))
        encoded = encode(Source(names, self.schema_.named, len(read[0]), read), self.schema_)
        scores: NDArray[np.float64] = self._beliefs.score(encoded, Score.LOG_JOINT)[0]
        return scores

    # -- files and housekeeping --------------------------------------------------------------------------------------

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
