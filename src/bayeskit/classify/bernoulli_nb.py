"""scikit-learn's BernoulliNB over our counts."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from bayeskit.classify.matrix_classifier import MatrixClassifier
from bayeskit.decide.protocol import JointTerms
from bayeskit.errors import TableError
from bayeskit.estimate.event_models import Bernoulli
from bayeskit.table.matrix import Matrix


@dataclass(eq=False, repr=False)
class BernoulliNB(MatrixClassifier):
    r"""Bernoulli naive Bayes with scikit-learn's names, parameters and fitted attributes.

    .. math:: P(x_j = 1 \mid c) = p_{cj} = \frac{N_{cj} + α}{N_c + 2α}, \quad
              P(x \mid c) = \prod_j p_{cj}^{x_j} (1 - p_{cj})^{1 - x_j}

    An absent feature counts as evidence too.

    Parameters
    ----------
    alpha, force_alpha, fit_prior, class_prior
        As in :class:`MultinomialNB`.
    binarize : float or None, default 0.0
        Numbers above it are 1, the others 0; None if the matrix already holds only 0 and 1.

    Attributes
    ----------
    class_count_, class_log_prior_ : arrays of shape (n_classes,)
        Rows of each class, and log P(c).
    feature_count_, feature_log_prob_ : arrays of shape (n_classes, n_features)
        Rows of each class in which each feature is 1, and log P(x_j = 1 | c).

    Examples
    --------
    >>> from bayeskit import BernoulliNB
    >>> model = BernoulliNB().fit([[2, 0], [0, 3], [1, 0]], ["a", "b", "a"])
    >>> model.feature_count_
    array([[2, 0],
           [0, 1]])
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        **MatrixClassifier._rules,
        "binarize": (
            "a number of at least 0, or None",
            lambda b: b is None or (isinstance(b, int | float | np.number) and not isinstance(b, bool) and b >= 0),
        ),
    }
    _event = Bernoulli()

    _: KW_ONLY
    binarize: float | None = 0.0

    @property
    def _threshold(self) -> float:  # type: ignore[override]
        return float(self.binarize or 0.0)

    def _refuse_values(self, matrix: Matrix) -> None:
        values = matrix.values
        if self.binarize is None and not np.isin(values[~np.isnan(values)], (0, 1)).all():
            raise TableError(
                "with binarize=None the matrix must hold 0 and 1 only; pass binarize=0.0 to set numbers above 0 to 1."
            )

    def _features(self, matrix: Matrix) -> Matrix:
        ones = matrix.data > self._state.settings._threshold
        return Matrix(ones.astype(np.float64), matrix.names)

    def _score(self, X: Any, result: Any) -> Any:
        ones = self._features(self._read(X, self.counts_.schema))
        if self._beliefs.weight.shape[1] > ones.shape[1]:  # absent features have weights of their own
            present = ones.data.toarray() if ones.is_sparse else ones.data
            ones = Matrix(sparse.csr_array(np.hstack([present, 1.0 - present])), None)
        return self._beliefs.score(ones, result)

    def log_joint_terms(self, X: Any) -> JointTerms:
        """Return log P(x_j | c) of each feature, present or absent, of shape (n_rows, n_features, n_classes)."""
        rows, beliefs = self._dense(X), self._beliefs
        known, present, n_features = ~np.isnan(rows), beliefs.log_prob.T, rows.shape[1]
        two = beliefs.weight.shape[1] > n_features
        absent = beliefs.weight.T[n_features:] if two else present - beliefs.weight.T
        there = np.where(known, rows, 0.0) > self._state.settings._threshold
        terms = np.where(there[:, :, None], present, absent)
        return JointTerms(beliefs.log_prior, np.where(known[:, :, None], terms, 0.0), known)

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.positive_only = False
