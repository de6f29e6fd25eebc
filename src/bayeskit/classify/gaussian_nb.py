"""scikit-learn's GaussianNB over our counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit.classify.naive_classifier import NaiveClassifier
from bayeskit.counts.left_out import LeftOut
from bayeskit.counts.moments import Moments
from bayeskit.counts.table import TableCounts
from bayeskit.errors import TableError
from bayeskit.estimate.gaussian import column_spread, gaussian_like_sklearn, normal_parameters
from bayeskit.estimate.prior import class_prior
from bayeskit.kinds.kind import LEFT_OUT_ROWS
from bayeskit.learn.counting import learn_counts
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.naive_beliefs import NaiveBeliefs
from bayeskit.learn.parameters import at_least
from bayeskit.table.schema import Schema


@dataclass(eq=False, repr=False)
class GaussianNB(NaiveClassifier):
    """Gaussian naive Bayes with scikit-learn's names, parameters and fitted attributes.

    Every column is Gaussian, the prior is the data's, and after ``fit`` the numbers are scikit-learn's: a share of the
    *largest* variance of a column is added to every variance, so a column of large scale can hide small ones
    (:class:`NaiveBayes` does not do this). Intended differences: missing cells are allowed; weights count in
    ``epsilon_`` too; and ``partial_fit`` takes it from all rows so far, where scikit-learn takes it from each batch,
    so that any split of the rows gives the numbers of one ``fit``.

    Parameters
    ----------
    priors : array of shape (n_classes,), optional
        P(c); by default the relative frequencies.
    var_smoothing : float, default 1e-9
        The share of the largest variance of a column that is added to all variances.

    Attributes
    ----------
    class_count_, class_prior_ : arrays of shape (n_classes,)
        Rows of each class, and P(c).
    theta_, var_ : arrays of shape (n_classes, n_features)
        Mean and variance of each column in each class.
    epsilon_ : float
        The number that is added to each variance.

    Examples
    --------
    >>> from bayeskit import GaussianNB
    >>> GaussianNB().fit([[-1.0], [-2.0], [1.0], [3.0]], [0, 0, 1, 1]).theta_
    array([[-1.5],
           [ 2. ]])
    """

    _same_classes_only: ClassVar[bool] = True
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {"var_smoothing": at_least(0)}

    _: KW_ONLY
    priors: Any = None
    var_smoothing: float = 1e-9

    def _count(self, rows: Labelled, schema: Schema | None, before: TableCounts | None = None) -> TableCounts:
        counts = learn_counts(rows.source, rows.y, rows.classes, rows.weight, "gaussian", like=schema)
        for variable in counts.schema:
            if not variable.is_numeric:
                raise TableError(
                    f"column '{variable.name}' is missing in every row, so that it has no mean; leave it out, or use "
                    "NaiveBayes, which does without it."
                )
        return counts

    @property
    def _smoothed_prior(self) -> tuple[Any, Any]:
        return "data" if self.priors is None else self.priors, 0.0

    def _believe(self, counts: TableCounts) -> NaiveBeliefs:
        with np.errstate(divide="ignore"):  # a class that was announced and has no row is impossible
            log_prior = np.log(class_prior(counts.n_class, *self._smoothed_prior, counts.classes))
        mean, variance, _ = gaussian_like_sklearn(counts.moments, self.var_smoothing)
        return NaiveBeliefs(counts.schema, log_prior, tuple(normal_parameters(mean, variance)))

    def _log_joint_left_out(
        self, rows: list[NDArray[Any]], left: LeftOut, log_prior: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        log_joint, smoothing = log_prior.copy(), self._believed_with["var_smoothing"]
        moments: Moments = self.counts_.moments
        for first in range(0, len(left), LEFT_OUT_ROWS):
            part = slice(first, first + LEFT_OUT_ROWS)
            cells = [np.asarray(column[part], dtype=np.float64) for column in rows]
            known = [left.taken_out[part] * ~np.isnan(x) for x in cells]

            def without(j: int, cells: Any = cells, known: Any = known, y: Any = left.y[part]) -> Moments:
                return moments.take(np.array([j])).without_each(np.nan_to_num(cells[j]), y, known[j])

            # ε is a share of the largest variance among all columns, so the columns are gone through twice.
            largest = np.max([column_spread(without(j))[1] for j in range(len(cells))], axis=0)  # (n_rows, 1)
            for j, x in enumerate(cells):
                mean, variance, _ = gaussian_like_sklearn(without(j), smoothing, largest)
                term = -0.5 * np.log(2 * np.pi * variance) - (x[:, None] - mean) ** 2 / (2 * variance)
                log_joint[part] += np.where(np.isnan(x)[:, None], 0.0, term)
        return log_joint

    @property
    def _learns_prior(self) -> bool:
        return self.priors is None

    def _estimates(self) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
        model = self._now()
        return gaussian_like_sklearn(model.counts_.moments, model._believed_with["var_smoothing"])

    @property
    def theta_(self) -> NDArray[np.float64]:
        """Mean of each column in each class, of shape (n_classes, n_features)."""
        return self._estimates()[0].T

    @property
    def var_(self) -> NDArray[np.float64]:
        """Variance of each column in each class, of shape (n_classes, n_features)."""
        return self._estimates()[1].T

    @property
    def epsilon_(self) -> float:
        """The number that is added to each variance: ``var_smoothing`` times the largest variance of a column."""
        return self._estimates()[2]

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.categorical = False
        tags.input_tags.string = False
