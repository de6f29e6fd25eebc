"""scikit-learn's CategoricalNB over our counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.alpha_parameters import AlphaParameters
from bayeskit.classify.naive_classifier import NaiveClassifier
from bayeskit.counts.table import TableCounts
from bayeskit.errors import TableError, TooLargeError
from bayeskit.kinds import Estimation
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.naive_beliefs import NaiveBeliefs
from bayeskit.learn.parameters import at_least
from bayeskit.table.column import Coded, Column
from bayeskit.table.matrix import Matrix, refuse_negative
from bayeskit.table.read import Source
from bayeskit.table.schema import Schema, Variable

# 1 GiB of counts
_MOST_CELLS = 1 << 27


@dataclass(eq=False, repr=False)
class CategoricalNB(AlphaParameters, NaiveClassifier):
    """Categorical naive Bayes with scikit-learn's names, parameters and fitted attributes.

    Every column holds the whole numbers 0, 1, … of its categories, all of which count as possible up to the largest.
    Missing cells are allowed, and a category that was not seen in fit is left out of the product, where
    scikit-learn raises an IndexError.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in :class:`MultinomialNB`; ``alpha`` is one number.
    min_categories : int or array of shape (n_features,), optional
        The least number of categories of each column.

    Attributes
    ----------
    category_count_ : list of arrays of shape (n_classes, n_categories)
        Rows of each class with each category, feature by feature.
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        Rows of each class, and log P(c).
    feature_log_prob_ : list of arrays of shape (n_classes, n_categories)
        log P(x_j | c), feature by feature.
    n_categories_ : array of shape (n_features,)
        Number of categories of each column.

    Examples
    --------
    >>> from bayeskit import CategoricalNB
    >>> model = CategoricalNB().fit([[0, 1], [1, 0], [1, 1]], [0, 0, 1])
    >>> model.category_count_[0]
    array([[1, 1],
           [0, 1]])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "alpha": at_least(0),
        "min_categories": (
            "a whole number of at least 1, one for each feature, or None",
            lambda least: least is None or (np.asarray(least).dtype.kind in "iu" and np.min(least) >= 1),
        ),
    }

    _: KW_ONLY
    min_categories: Any = None

    def _count(self, rows: Labelled, schema: Schema | None, before: TableCounts | None = None) -> TableCounts:
        source = rows.source
        given = np.asarray(1 if self.min_categories is None else self.min_categories)
        if given.ndim and given.shape != (len(source.names),):
            raise TableError(f"'min_categories' should have shape ({len(source.names)},); got {given.shape}.")
        source = _whole(source)
        counts = learn_counts(source, rows.y, rows.classes, rows.weight, "categorical", like=schema)
        variables = []
        for known, least in zip(counts.schema, np.broadcast_to(given, len(source.names)).tolist(), strict=True):
            size = max(least, *(int(value) + 1 for value in known.values[-1:]), 1)
            if size * len(counts.classes) > _MOST_CELLS:
                raise TooLargeError(
                    f"column '{known.name}' holds the category {size - 1}, and CategoricalNB keeps a table of all "
                    "categories up to the largest; number them from 0, or use NaiveBayes(kinds='categorical')."
                )
            variables.append(Variable(known.name, "categorical", tuple(range(size)), declared=True))
        return counts.widen(counts.schema.with_variables(variables), counts.classes)

    @property
    def _settings(self) -> Estimation:
        return Estimation(smoothing=float(self._check_alpha()))

    def _log_penalty(self, counts: TableCounts, beliefs: NaiveBeliefs) -> float:
        return beliefs.log_penalty(counts, self._settings, self._prior)

    def _reads_in_place(self, X: Any, beliefs: Any) -> bool:
        if not super()._reads_in_place(X, beliefs) or X.dtype.kind == "f":
            return False
        refuse_negative(Matrix(X, None), type(self).__name__)
        return True

    def _read_features(self, X: Any) -> Source:
        return _whole(super()._read_features(X))

    @property
    def category_count_(self) -> list[NDArray[Any]]:
        """Rows of each class with each category, feature by feature."""
        values = self.counts_.values
        return [n.T for n in np.split(values.n_value, values.offsets[1:-1])]

    @property
    def feature_log_prob_(self) -> list[NDArray[np.float64]]:
        """Log P(x_j | c), feature by feature."""
        return [rows[:-2].T for rows in self._beliefs.parameters]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """Number of categories of each column."""
        return np.array([variable.n_values for variable in self.schema_])

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.positive_only = True
        tags.input_tags.string = False


def _whole(source: Source) -> Source:
    # Fractions are cut off, as scikit-learn does when it reads the table as integers.
    if source.array is not None:
        refuse_negative(Matrix(source.array, None), "CategoricalNB")
        if source.array.dtype.kind == "f":
            return replace(source, array=np.trunc(source.array))
        return source
    columns: list[Column] = []
    for j, name in enumerate(source.names):
        column = source.column(j)
        if isinstance(column, Coded) and not column.levels:  # every cell is missing
            columns.append(column)
            continue
        if isinstance(column, Coded):
            raise TableError(
                f"column '{name}' holds {column.levels[0]!r}; CategoricalNB takes whole numbers, "
                "NaiveBayes takes any table."
            )
        refuse_negative(Matrix(column.values[:, None], (name,)), "CategoricalNB")
        columns.append(replace(column, values=np.trunc(column.values)) if column.values.dtype.kind == "f" else column)
    return replace(source, columns=tuple(columns))
