"""scikit-learn's BernoulliNB over our counts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bayeskit._kernels import count_dense, count_sparse
from bayeskit.classify.feature_model import FeatureBeliefs, FeatureModel, alpha_rule
from bayeskit.counts.features import FeatureCounts
from bayeskit.decide.protocol import JointTerms
from bayeskit.errors import TableError
from bayeskit.estimate.features_left_out import FeatureSums, LeftRows, bernoulli_left_out
from bayeskit.table.matrix import Matrix


class BernoulliNB(FeatureModel):
    r"""Bernoulli naive Bayes with scikit-learn's names, parameters and fitted attributes.

    .. math:: P(x_j = 1 \mid c) = p_{cj} = \frac{N_{cj} + α}{N_c + 2α}, \quad
              P(x \mid c) = \prod_j p_{cj}^{x_j} (1 - p_{cj})^{1 - x_j}

    An absent feature counts as evidence too.

    Parameters
    ----------
    alpha : float or array of shape (n_features,), default 1.0
        λ, added to each count.
    force_alpha : bool, default True
        If False, an ``alpha`` below 1e-10 is raised to 1e-10, as scikit-learn does.
    binarize : float or None, default 0.0
        Numbers above it are 1, the others 0; None if the matrix already holds only 0 and 1.
    fit_prior : bool, default True
        Whether P(c) is the relative frequencies or uniform.
    class_prior : array of shape (n_classes,), optional
        P(c), given.

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
        "alpha": alpha_rule(),
        "binarize": (
            "a number of at least 0, or None",
            lambda b: b is None or (isinstance(b, int | float | np.number) and not isinstance(b, bool) and b >= 0),
        ),
    }

    def __init__(
        self,
        *,
        alpha: Any = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: Any = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior

    def _prepare(self, matrix: Matrix) -> Matrix:
        if self.binarize is not None:
            return matrix
        values = matrix.values
        if values.size and not np.isin(values[~np.isnan(values)] if values.dtype.kind == "f" else values, (0, 1)).all():
            raise TableError(
                "with binarize=None the matrix must hold 0 and 1 only; pass binarize=0.0 to set numbers above 0 to 1."
            )
        return matrix

    def _sum(self, matrix: Matrix, y: NDArray[Any], weight: NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
        data, threshold = matrix.data, float(self.binarize or 0.0)
        if matrix.is_sparse:
            parts = (data.indptr, data.indices, data.data)
            return count_sparse(*parts, y, weight, n_classes, matrix.shape[1], True, threshold)
        return count_dense(data, y, weight, n_classes, True, threshold)

    def _believe(self, counts: FeatureCounts) -> FeatureBeliefs:
        alpha = self._check_alpha(len(counts.schema))
        n_class = counts.n_class.astype(np.float64)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            log_all = np.log(n_class + 2 * alpha)
            present = np.log(counts.n_feature + alpha) - log_all
            # From the counts, and not as 1 − p, which rounds to nothing where p is near 1.
            absent = np.log(np.maximum(n_class - counts.n_feature, 0.0) + alpha) - log_all
            present[np.isnan(present)] = absent[np.isnan(absent)] = np.log(0.5)  # a class without a row says nothing
            log_prior = self._log_prior(counts)
            bias = log_prior + absent.sum(axis=1)
            weight = present - absent
        if np.isneginf(absent).any():
            return _CertainBeliefs(log_prior, present, weight, bias, absent)
        return FeatureBeliefs(log_prior, present, weight, bias)

    def _score(self, X: Any, wanted: Any) -> NDArray[Any]:
        self._refuse_unfitted()
        matrix = self._read(X, self.counts_.schema)
        return self._beliefs.score(self._ones(matrix), wanted)  # type: ignore[no-any-return]

    def _log_joint_left_out(self, sums: FeatureSums, rows: LeftRows) -> NDArray[np.float64]:
        return bernoulli_left_out(sums, rows)

    def _features(self, matrix: Matrix) -> Matrix:
        return self._ones(matrix)

    def _ones(self, matrix: Matrix) -> Matrix:
        threshold = float(self._believed_with["binarize"] or 0.0)
        if not matrix.is_sparse:
            return Matrix((matrix.data > threshold).astype(np.float64), matrix.names)
        ones = matrix.data.copy()
        ones.data = (ones.data > threshold).astype(np.float64)
        return Matrix(ones, matrix.names)

    def log_joint_terms(self, X: Any) -> JointTerms:
        """Return log P(x_j | c) of each feature, present or absent, of shape (n_rows, n_features, n_classes)."""
        self._refuse_unfitted()
        beliefs: FeatureBeliefs = self._beliefs
        matrix = self._read(X, self.counts_.schema, finite=False)
        rows = np.asarray(matrix.data.toarray() if matrix.is_sparse else matrix.data, dtype=np.float64)
        known = ~np.isnan(rows)
        there = (np.where(known, rows, 0.0) > float(self._believed_with["binarize"] or 0.0))[:, :, None]
        present = beliefs.log_prob.T
        terms = np.where(there, present, present - beliefs.weight.T) * known[:, :, None]
        return JointTerms(beliefs.log_prior, terms, known)

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.positive_only = False


class _CertainBeliefs(FeatureBeliefs):
    """Probabilities with alpha = 0 in which a feature is certain: −∞ for a row without it."""

    def __init__(self, log_prior: Any, log_prob: Any, weight: Any, bias: Any, absent: Any) -> None:
        super().__init__(log_prior, log_prob, weight, bias)
        object.__setattr__(self, "absent", absent)

    def __post_init__(self) -> None:
        """No compiled scorer: the terms are added feature by feature."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _CertainBeliefs, (self.log_prior, self.log_prob, self.weight, self.bias, self.absent)  # type: ignore[attr-defined]

    def score(self, matrix: Matrix, wanted: Any) -> NDArray[Any]:
        from bayeskit._kernels import Score
        from bayeskit.decide.posterior import log_posterior

        rows = np.asarray(matrix.data.toarray() if matrix.is_sparse else matrix.data, dtype=bool)
        absent: NDArray[np.float64] = self.absent  # type: ignore[attr-defined]
        terms = [np.where(rows, self.log_prob[c], absent[c]).sum(axis=1) for c in range(len(self.log_prior))]
        log_joint = np.stack(terms, axis=1) + self.log_prior
        if wanted == Score.LOG_JOINT:
            return log_joint
        logs = log_posterior(log_joint)
        if wanted == Score.CLASS:
            return np.asarray(log_joint.argmax(axis=1))
        return np.exp(logs) if wanted == Score.POSTERIOR else logs
