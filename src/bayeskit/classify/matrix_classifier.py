"""Base of naive Bayes over matrices of counts: one weight for each feature and class."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from bayeskit._kernels import LinearScorer, Score, count_classes, count_dense, count_sparse, n_threads
from bayeskit.classify.alpha_parameters import AlphaParameters
from bayeskit.classify.leave_one_out import NEEDS_LABELS, LeavesOneOut
from bayeskit.classify.posteriors import Posteriors
from bayeskit.classify.questions import Explains
from bayeskit.counts.features import FeatureCounts, FeatureNames
from bayeskit.counts.left_out import LeftOut
from bayeskit.decide.posterior import log_posterior
from bayeskit.decide.protocol import JointTerms
from bayeskit.errors import ImpossibleEvidenceError, TableError
from bayeskit.estimate.event_models import EventModel, FeatureRows, FeatureSums
from bayeskit.estimate.prior import class_prior
from bayeskit.explain.model_summary import ModelSummary, listed
from bayeskit.learn.checks import check_columns, keep_weighted, rows_and_labels, split_target, target_of
from bayeskit.learn.labelled import Labelled
from bayeskit.table.labels import read_labels, read_weight
from bayeskit.table.matrix import Matrix, columns_of_numbers, largest, read_matrix, refuse_negative


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


class MatrixClassifier(AlphaParameters, LeavesOneOut, Posteriors, Explains):
    """A classifier whose log-joint is linear in the features of a matrix, dense or sparse."""

    _statistic = FeatureCounts

    @property
    @abstractmethod
    def _event(self) -> EventModel:
        """How a row comes from its class."""

    # -- reading and counting ---------------------------------------------------------------------------------------

    def _read_rows(self, X: Any, y: Any, sample_weight: Any, target: str | None, schema: Any) -> Any:
        target = target_of(X, y, target)
        X, y = rows_and_labels(X, y, target, type(self).__name__, split_matrix)
        matrix = self._read(X, schema)
        weight = read_weight(sample_weight, matrix.shape[0])
        classes, codes = read_labels(y, matrix.shape[0])
        matrix, classes, codes, weight = keep_weighted(matrix, classes, codes, weight)
        return SimpleNamespace(matrix=matrix, y=codes, classes=classes, weight=weight, target=target)

    def _scanned_rows(self, rows: Labelled, schema: Any) -> Any:
        matrix = self._read(columns_of_numbers(rows.source), None)
        return SimpleNamespace(matrix=matrix, y=rows.y, classes=rows.classes, weight=rows.weight, target=rows.target)

    def _count(self, rows: Any, schema: Any, before: Any = None) -> FeatureCounts:
        matrix, n_classes = rows.matrix, len(rows.classes)
        names = schema if schema is not None else FeatureNames(matrix.shape[1], matrix.names)
        n_class = count_classes(rows.y, rows.weight, n_classes)
        return FeatureCounts(names, rows.classes, n_class, self._sum(matrix, rows.y, rows.weight, n_classes))

    # What is above the threshold counts as one, and the rest as nothing; None sums the numbers themselves.
    _threshold: float | None = None

    def _sum(self, matrix: Matrix, y: NDArray[Any], weight: NDArray[Any] | None, n_classes: int) -> NDArray[Any]:
        data, ones = matrix.data, (self._threshold is not None, self._threshold or 0.0)
        if matrix.is_sparse:
            return count_sparse(data.indptr, data.indices, data.data, y, weight, n_classes, matrix.shape[1], *ones)
        return count_dense(data, y, weight, n_classes, *ones)

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
        self._refuse_values(matrix)
        return matrix

    def _refuse_values(self, matrix: Matrix) -> None:
        refuse_negative(matrix, type(self).__name__)

    def _features(self, matrix: Matrix) -> Matrix:
        """Return what is summed and scored of a matrix."""
        return matrix

    # -- estimating and predicting ----------------------------------------------------------------------------------

    def _sums(self, counts: FeatureCounts) -> FeatureSums:
        alpha, n_features = self._check_alpha(len(counts.schema)), len(counts.schema)
        n, n_class = counts.n_feature.astype(np.float64), counts.n_class.astype(np.float64)
        return FeatureSums(n, n_class, np.broadcast_to(alpha, n_features))

    def _check(self, counts: FeatureCounts) -> None:
        super()._check(counts)
        with np.errstate(over="ignore"):
            finite = np.isfinite(counts.n_feature.sum())
        if not finite:
            column = counts.schema.names[int(np.abs(counts.n_feature).max(axis=0).argmax())]
            raise TableError(f"column '{column}' holds numbers so large that their sum overflows; use a larger unit.")

    def _believe(self, counts: FeatureCounts) -> FeatureBeliefs:
        with np.errstate(divide="ignore"):
            log_prior = np.log(class_prior(counts.n_class, self._prior, 0.0, counts.classes))
        return FeatureBeliefs(log_prior, *self._event.weights(self._sums(counts), log_prior))

    def _score(self, X: Any, result: Score) -> NDArray[Any]:
        scores: NDArray[Any] = self._beliefs.score(self._features(self._read(X, self.counts_.schema)), result)
        return scores

    def log_joint_terms(self, X: Any) -> JointTerms:
        """Return the term of each feature in log P(x, c), of shape (n_rows, n_features, n_classes)."""
        rows, beliefs = self._dense(X), self._beliefs
        known = ~np.isnan(rows)
        return JointTerms(beliefs.bias, np.where(known, rows, 0.0)[:, :, None] * beliefs.weight.T, known)

    def _dense(self, X: Any) -> NDArray[np.float64]:
        matrix = self._read(X, self.counts_.schema, finite=False)
        return np.asarray(matrix.data.toarray() if matrix.is_sparse else matrix.data, dtype=np.float64)

    def _parts_left_out(self, X: Any, y: Any, sample_weight: Any, target: str | None) -> Iterator[tuple[Any, ...]]:
        X, y = rows_and_labels(X, y, target, type(self).__name__, split_matrix, NEEDS_LABELS)
        matrix = self._features(self._read(X, self.counts_.schema))
        yield matrix, y, read_weight(sample_weight, matrix.shape[0]), matrix.shape[0]

    def _log_joint_left_out(self, rows: Matrix, left: LeftOut, log_prior: NDArray[np.float64]) -> NDArray[np.float64]:
        settings: Any = self._state.settings
        data = sparse.csr_array(rows.data, dtype=np.float64, copy=True)
        data.eliminate_zeros()
        indptr, feature = np.asarray(data.indptr, dtype=np.int64), np.asarray(data.indices, dtype=np.int64)
        counted = data.data * np.repeat(left.taken_out, np.diff(indptr))
        cells = FeatureRows(indptr, feature, data.data, counted, left, log_prior)
        log_joint: NDArray[np.float64] = settings._event.log_joint_left_out(settings._sums(self.counts_), cells)
        return log_joint

    # -- what was learned -------------------------------------------------------------------------------------------

    def summary(self) -> ModelSummary:
        """Return a printable summary: the classes with their rows and probabilities."""
        model = self._now()
        classes = [str(label) for label in model.classes_.tolist()]
        rows, prior = np.asarray(model.counts_.n_class, dtype=np.float64), np.exp(model._beliefs.log_prior)
        facts = {"classes": classes, "rows": dict(zip(classes, rows.tolist(), strict=True))}
        title = f"{type(self).__name__}: {model.n_features_in_} features, {len(classes)} classes"
        return ModelSummary(title, facts, listed(tuple(classes), np.stack([rows, prior], axis=1), ("rows", "P(c)")))

    @property
    def feature_count_(self) -> NDArray[Any]:
        """The sum of each feature over the rows of each class, of shape (n_classes, n_features)."""
        return np.asarray(self.counts_.n_feature)

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """Log P(x_j | c), of shape (n_classes, n_features)."""
        return np.asarray(self._beliefs.log_prob)

    def _set_tags(self, tags: Any) -> None:
        super()._set_tags(tags)
        tags.input_tags.sparse = True
        tags.input_tags.positive_only = True
        tags.classifier_tags.poor_score = True


def split_matrix(X: Any, target: str) -> tuple[dict[str, NDArray[Any]], Any]:
    """Return the columns of a table besides one, as numbers, and that one as labels."""
    source, y = split_target(X, target)
    return columns_of_numbers(source), y
