"""Base of naive Bayes over matrices of counts: one weight for each feature and class."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayeskit._kernels import LinearScorer, Score, count_classes, count_dense, count_sparse, n_threads
from bayeskit.classify.leave_one_out import LeaveOneOut, codes_under, losses, possible
from bayeskit.counts.features import FeatureCounts, FeatureNames
from bayeskit.decide.posterior import log_posterior
from bayeskit.decide.protocol import JointTerms
from bayeskit.errors import ImpossibleEvidenceError, TableError
from bayeskit.estimate.features_left_out import FeatureSums, LeftRows
from bayeskit.estimate.prior import class_prior
from bayeskit.explain.explanation import Explanation, Explanations
from bayeskit.explain.log_odds import explain, explain_rows
from bayeskit.learn.checks import check_columns, split_target
from bayeskit.learn.labelled import Labelled
from bayeskit.learn.learner import Learner
from bayeskit.learn.left_out import log_prior_left_out
from bayeskit.learn.parameters import LARGEST_PSEUDO_COUNT
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.matrix import Matrix, largest, read_matrix, refuse_negative

_LEAST_ALPHA = 1e-10


@dataclass(frozen=True)
class FeatureBeliefs:
    """log P(x, c) = bias(c) + Σ_j x_j · weight(c, j)."""

    log_prior: NDArray[np.float64]  # (n_classes,)
    log_prob: NDArray[np.float64]  # (n_classes, n_features), as scikit-learn shows it
    weight: NDArray[np.float64]  # (n_classes, n_features)
    bias: NDArray[np.float64]  # (n_classes,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_scorer", LinearScorer(self.weight.T, self.bias))
        object.__setattr__(self, "_finite", bool(np.isfinite(self.weight).all()))

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled scorer is made anew wherever the beliefs are unpickled.
        return FeatureBeliefs, (self.log_prior, self.log_prob, self.weight, self.bias)

    def score(self, matrix: Matrix, wanted: Score) -> NDArray[Any]:
        """Score the rows of a matrix; a row with probability 0 under every class is an error that names it."""
        if matrix.values.dtype.kind == "f":
            self._refuse_overflow(matrix)
        if matrix.is_sparse or not self._finite:  # type: ignore[attr-defined]
            rows = matrix.data if matrix.is_sparse else sparse.csr_array(matrix.data)
            threads = n_threads(rows.nnz * len(self.bias) // 8)
            parts = (rows.indptr, rows.indices, rows.data)
            scores, impossible = self._scorer.score(*parts, wanted, False, [], threads)  # type: ignore[attr-defined]
            if impossible >= 0:
                raise ImpossibleEvidenceError(
                    f"row {impossible}: x has probability 0 under every class; alpha > 0 gives "
                    "every feature a probability above 0."
                )
            return np.asarray(scores)
        log_joint = matrix.data @ self.weight.T + self.bias
        if wanted == Score.LOG_JOINT:
            return np.asarray(log_joint)
        if wanted == Score.CLASS:
            return np.asarray(log_joint.argmax(axis=1))
        logs = log_posterior(log_joint)
        return np.exp(logs) if wanted == Score.POSTERIOR else logs

    def _refuse_overflow(self, matrix: Matrix) -> None:
        if not matrix.values.size:
            return
        most = np.where(np.isfinite(self.weight), np.abs(self.weight), 0.0).sum(axis=1).max(initial=1.0)
        with np.errstate(over="ignore"):
            if np.isfinite(max(matrix.values.max(), -matrix.values.min()) * most):
                return
        row, j, value = largest(matrix) if matrix.values.max() >= -matrix.values.min() else largest(matrix, -1)
        raise TableError(
            f"column '{matrix.name(j)}', row {row} holds {value:g}, so large that the score of the row overflows; "
            "use a larger unit."
        )


class FeatureModel(Learner):
    """A classifier whose log-joint is linear in the features of a matrix, dense or sparse."""

    _role = "classifier"
    _statistic = FeatureCounts
    # Set where a feature is one or zero: what is above the threshold is one.
    _binarised: bool = False

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: Any

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Any) -> Any:
        who = type(self).__name__
        if target is not None:
            if y is not None:
                raise TableError(f"give the labels once: either y or target='{target}'.")
            X, y = split_matrix(X, target)
        elif y is None:
            raise TableError(f"This {who} estimator requires y to be passed, but the target y is None.")
        matrix = self._read(X, schema)
        weight = read_weight(sample_weight, matrix.shape[0])
        classes, codes = read_labels(y, matrix.shape[0])
        if weight is not None and not weight.all():  # rows of zero weight are as if they were not there
            rows = np.flatnonzero(weight)
            kept, codes = np.unique(codes[rows], return_inverse=True)
            matrix, classes, weight = matrix.take(rows), classes[kept], np.ascontiguousarray(weight[rows])
        return SimpleNamespace(matrix=matrix, y=codes, classes=classes, weight=weight, target=target)

    def _scanned_rows(self, rows: Labelled, schema: Any) -> Any:
        X = {name: _numbers(rows.source.column(j), name) for j, name in enumerate(rows.source.names)}
        matrix = self._read(X, None)
        return SimpleNamespace(matrix=matrix, y=rows.y, classes=rows.classes, weight=rows.weight, target=rows.target)

    def _count(self, rows: Any, schema: Any, before: Any = None) -> FeatureCounts:
        matrix, n_classes = rows.matrix, len(rows.classes)
        names = schema if schema is not None else FeatureNames(matrix.shape[1], matrix.names)
        n_class = count_classes(rows.y, rows.weight, n_classes)
        return FeatureCounts(names, rows.classes, n_class, self._sum(matrix, rows.y, rows.weight, n_classes))

    def _sum(self, matrix: Matrix, y: NDArray[Any], weight: NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
        data = matrix.data
        if matrix.is_sparse:
            parts = (data.indptr, data.indices, data.data)
            return count_sparse(*parts, y, weight, n_classes, matrix.shape[1], False, 0.0)
        return count_dense(data, y, weight, n_classes, False, 0.0)

    def _read(self, X: Any, schema: Any, *, finite: bool = True) -> Matrix:
        who = type(self).__name__
        matrix = read_matrix(X, who, finite=finite)
        if schema is not None:
            if schema.named or matrix.names is not None:
                check_columns(FeatureNames(matrix.shape[1], matrix.names), schema.names, schema.named, who)  # type: ignore[arg-type]
            elif matrix.shape[1] != len(schema):
                raise TableError(
                    f"X has {matrix.shape[1]} features, but {who} is expecting {len(schema)} features as input."
                )
        return self._prepare(matrix)

    def _prepare(self, matrix: Matrix) -> Matrix:
        refuse_negative(matrix, type(self).__name__)
        return matrix

    def _frozen_by(self, schema: Any) -> frozenset[str]:
        return frozenset()

    # -- estimating -------------------------------------------------------------------------------------------------

    def _check(self, counts: FeatureCounts) -> None:
        self._refuse_large_sums(counts)
        self._check_alpha(len(counts.schema))
        self._log_prior(counts)
        if np.min(self.alpha) < _LEAST_ALPHA and not self.force_alpha:
            warnings.warn(
                f"alpha too small will result in numeric errors, setting alpha = {_LEAST_ALPHA:.1e}. "
                "Use `force_alpha=True` to keep alpha unchanged.",
                UserWarning,
                stacklevel=4,
            )

    @staticmethod
    def _refuse_large_sums(counts: FeatureCounts) -> None:
        if counts.n_feature.dtype.kind != "f":
            return
        with np.errstate(over="ignore"):
            if np.isfinite(counts.n_feature.sum()):
                return
        column = counts.schema.names[int(np.abs(counts.n_feature).max(axis=0).argmax())]
        raise TableError(f"column '{column}' holds numbers so large that their sum overflows; use a larger unit.")

    def _check_alpha(self, n_features: int | None = None) -> NDArray[np.float64]:
        """Return α as it is used; an array must have one number per feature. scikit-learn's tests ask for this name."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        n_features = len(self.counts_.schema) if n_features is None and alpha.ndim else n_features
        if alpha.ndim > 1:
            raise ValueError(f"alpha should be a number or one number per feature; got shape {alpha.shape}.")
        if alpha.ndim and alpha.shape != (n_features,):
            raise ValueError(
                "When alpha is an array, it should contains `n_features`. "
                f"Got {alpha.shape[0]} elements instead of {n_features}."
            )
        if alpha.ndim and alpha.min() < 0:
            raise ValueError("All values in alpha must be greater than 0.")
        return alpha if self.force_alpha else np.maximum(alpha, _LEAST_ALPHA)

    @property
    def _prior(self) -> Any:
        return self.class_prior if self.class_prior is not None else "data" if self.fit_prior else "uniform"

    def _log_prior(self, counts: FeatureCounts) -> NDArray[np.float64]:
        with np.errstate(divide="ignore"):
            return np.log(class_prior(counts.n_class, self._prior, 0.0, counts.classes))

    # -- predicting -------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return np.asarray(self.classes_[self._score(X, Score.CLASS)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        return self._score(X, Score.POSTERIOR)

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        return self._score(X, Score.LOG_POSTERIOR)

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(x, c), of shape (n_rows, n_classes)."""
        return self._score(X, Score.LOG_JOINT)

    def _score(self, X: Any, wanted: Score) -> NDArray[Any]:
        self._refuse_unfitted()
        beliefs: FeatureBeliefs = self._beliefs
        return beliefs.score(self._read(X, self.counts_.schema), wanted)

    def log_joint_terms(self, X: Any) -> JointTerms:
        """Return the term of each feature in log P(x, c), of shape (n_rows, n_features, n_classes)."""
        self._refuse_unfitted()
        beliefs: FeatureBeliefs = self._beliefs
        matrix = self._read(X, self.counts_.schema, finite=False)
        rows = np.asarray(matrix.data.toarray() if matrix.is_sparse else matrix.data, dtype=np.float64)
        known = ~np.isnan(rows)
        terms = np.where(known, rows, 0.0)[:, :, None] * beliefs.weight.T
        return JointTerms(beliefs.bias, terms, known)

    def explain(self, row: Any, classes: tuple[Any, Any] | None = None, order: Any = None) -> Explanation:
        """Explain one row: the prior log-odds of two classes, and the change by each feature."""
        self._refuse_unfitted()
        return explain(self, row, classes, order)

    def explain_rows(self, X: Any, classes: tuple[Any, Any] | None = None) -> Explanations:
        """Explain every row of a matrix, as :meth:`explain` does one."""
        self._refuse_unfitted()
        return explain_rows(self, X, classes)

    def leave_one_out(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, target: str | None = None
    ) -> LeaveOneOut:
        """Return error, log-loss and RMSE on the rows of the fit, each predicted by the sums of the other rows.

        As :meth:`bayeskit.NaiveBayes.leave_one_out`: one pass subtracts each row, of which one copy is left out.

        Examples
        --------
        >>> from bayeskit import MultinomialNB
        >>> X, y = [[2, 0, 1], [0, 3, 0], [1, 0, 0], [0, 1, 0]], ["a", "b", "a", "b"]
        >>> MultinomialNB().fit(X, y).leave_one_out(X, y).error
        0.0
        """
        model = self._now()
        if target is not None:
            X, y = split_matrix(X, target)
        elif y is None:
            raise TableError("leave_one_out needs the labels of the rows: pass y, or target='column'.")
        matrix = model._features(model._read(X, model.counts_.schema))
        weight = read_weight(sample_weight, matrix.shape[0])
        codes = codes_under(model.classes_, y, weight, matrix.shape[0])
        settings: Any = model._state.settings
        rows = model._left_rows(matrix, codes, weight, settings._prior)
        counts, alpha = model.counts_, settings._check_alpha(len(model.counts_.schema))
        sums = FeatureSums(
            counts.n_feature.astype(np.float64),
            counts.n_class.astype(np.float64),
            np.broadcast_to(alpha, len(counts.schema)),
        )
        log_joint = settings._log_joint_left_out(sums, rows)
        return losses(log_posterior(possible(log_joint, rows.log_prior)), codes, weight)

    def _left_rows(
        self, matrix: Matrix, y: NDArray[np.int64], weight: NDArray[np.float64] | None, prior: Any
    ) -> LeftRows:
        data = sparse.csr_array(matrix.data, dtype=np.float64, copy=True)
        data.eliminate_zeros()
        own = np.ones(len(y)) if weight is None else np.minimum(weight, 1.0)
        counted = data.data * np.repeat(own, np.diff(data.indptr))
        log_prior = log_prior_left_out(self.counts_, 0.0, prior, y, own)
        features = np.asarray(data.indices, dtype=np.int64)
        return LeftRows(np.asarray(data.indptr, dtype=np.int64), features, data.data, counted, y, own, log_prior)

    def _features(self, matrix: Matrix) -> Matrix:
        """Return what is summed of a matrix."""
        return matrix

    @abstractmethod
    def _log_joint_left_out(self, sums: FeatureSums, rows: LeftRows) -> NDArray[np.float64]:
        """Return log P(x, c), of shape (n_rows, n_classes), each row by the sums of the others."""

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def class_count_(self) -> NDArray[Any]:
        """Rows of each class, or their weight."""
        return np.asarray(self.counts_.n_class)

    @property
    def feature_count_(self) -> NDArray[Any]:
        """The sum of each feature over the rows of each class, of shape (n_classes, n_features)."""
        return np.asarray(self.counts_.n_feature)

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """Log P(c)."""
        return self._beliefs.log_prior  # type: ignore[no-any-return]

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """Log P(x_j | c), of shape (n_classes, n_features)."""
        return self._beliefs.log_prob  # type: ignore[no-any-return]

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True


def split_matrix(X: Any, target: str) -> tuple[dict[str, NDArray[Any]], Any]:
    """Return the columns of a table besides one, as numbers, and that one as labels."""
    source, y = split_target(X, target)
    return {name: _numbers(source.column(j), name) for j, name in enumerate(source.names)}, y


def _numbers(column: Any, name: str) -> NDArray[Any]:
    if not hasattr(column, "values"):
        raise TableError(f"column {name!r} holds {column.levels[0]!r}; a matrix of counts takes numbers.")
    return np.asarray(column.values)


def alpha_rule() -> tuple[str, Any]:
    """Return the rule that alpha is a number of at least 0, or an array of such."""

    def holds(alpha: Any) -> bool:
        if isinstance(alpha, bool | str) or alpha is None:
            return False
        try:
            numbers = np.asarray(alpha, dtype=np.float64)
        except (TypeError, ValueError):
            return False
        return bool((numbers <= LARGEST_PSEUDO_COUNT).all() and (numbers.ndim > 0 or numbers >= 0))

    return f"a finite number from 0 to {LARGEST_PSEUDO_COUNT:g}, or an array with one per feature", holds
