"""A classifier that also learns from rows without labels, by EM."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import get_tags

from bayeskit.errors import BayeskitError, TableError, warn_caller
from bayeskit.estimate.em import expectation_maximisation
from bayeskit.estimate.history import History
from bayeskit.learn.checks import rows_and_labels, split_target
from bayeskit.learn.model import not_fitted
from bayeskit.learn.parameters import at_least, refuse_parameters
from bayeskit.learn.state import learned
from bayeskit.progress import Progress
from bayeskit.table.labels import read_weight
from bayeskit.table.read import read_table


@dataclass(frozen=True, eq=False)
class SemiSupervisedState:
    """The fitted classifier, how EM went, and the label of each row."""

    estimator: Any
    history: History
    transduction: NDArray[Any]  # (n_rows,)
    is_table: bool

    @property
    def classes(self) -> NDArray[Any]:
        """The class labels."""
        return np.asarray(self.estimator.classes_)


@dataclass(eq=False, repr=False)
class SemiSupervised(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""A classifier of this library, fitted by EM to rows with and without labels.

    .. math:: \sum_{i \in L} \log P(x_i, y_i) + λ \sum_{i \in U} \log P(x_i) + \log P(θ)

    never decreases, with the prior :math:`P(θ)` that corresponds to the smoothing. A classifier whose estimates do not
    maximize such an objective (kernel densities, a structure that is chosen anew in each step) is refused.

    The E-step gives each row without a label to all classes, by the posterior of the model so far; the M-step counts it
    for each of them with that share.
    Rows without a label are those whose label is None or NaN.

    Parameters
    ----------
    estimator : NaiveBayes, CategoricalNB, GaussianBayes or TextClassifier
        The classifier; :attr:`estimator_` is a fitted copy, which can be used and saved separately.
    weight : float, default 1.0
        λ, the weight of a row without a label. Lower it where there are many of them and the classes do not match the
        clusters of the rows.
    tol : float, default 1e-6
        Stop when a step improves the objective by less than this per row.
    max_iter : int, default 100
        The largest number of steps; reaching it gives a warning.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    history_ : History
        The objective before each step and at the end, and why EM stopped.
    transduction_ : array of shape (n_rows,)
        The given label of each row, or the most probable one.

    References
    ----------
    Nigam, McCallum, Thrun & Mitchell (2000), Text classification from labeled and unlabeled documents using EM, Machine
    Learning 39, 103–134, table 3 and section 5.3.1 for the weight.

    Examples
    --------
    >>> from bayeskit import NaiveBayes
    >>> table = {"wind": ["weak", "weak", "strong", "strong", "weak", "strong"], "sky": list("aabbab")}
    >>> model = SemiSupervised(NaiveBayes()).fit(table, ["yes", None, "no", None, None, None])
    >>> model.transduction_.tolist()
    ['yes', 'yes', 'no', 'no', 'yes', 'no']
    """

    _rules: ClassVar[dict[str, tuple[str, Any]]] = {
        "weight": at_least(0),
        "tol": at_least(0),
        "max_iter": at_least(1, whole=True),
    }

    estimator_ = learned("estimator", "The fitted classifier.")
    history_ = learned("history", "The objective before each step and at the end, and why EM stopped.")
    transduction_ = learned("transduction", "The given label of each row, or the most probable one.")
    classes_ = learned("classes", "The class labels.")

    estimator: Any
    _: KW_ONLY
    weight: float = 1.0
    tol: float = 1e-6
    max_iter: int = 100

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        target: str | None = None,
        progress: Progress | None = None,
        record: bool = False,
    ) -> Self:
        """Learn from rows of which some have labels.

        Parameters
        ----------
        X : table, or list of texts
            As the estimator takes it.
        y : array of shape (n_rows,), optional
            The labels; None or NaN where there is none.
        sample_weight : array of shape (n_rows,), optional
            How often each row counts.
        target : str, optional
            The column of a table that holds the labels.
        progress : callable, optional
            Called with a :class:`bayeskit.progress.Step` after each step of EM.
        record : bool, default False
            Keep the classifier before the first step and after each, as ``history_.parameters``.
        """
        refuse_parameters(self, self._rules)
        self._refuse_estimator()
        X, y = rows_and_labels(X, y, target, type(self).__name__, split_target)
        rows = _Rows.read(self.estimator, X, y, sample_weight)
        learner = clone(self.estimator)
        if "calibrate" in learner.get_params(deep=False):
            learner.set_params(calibrate=False)  # classes that a model gave itself cannot tell how sure it may be
        labelled = learner.fit(rows.take(rows.known), rows.labels(rows.known), rows.weights(rows.known))
        history = History("em", (0.0,), "every row has a label", True)
        if len(rows.hidden) and self.weight > 0:
            labelled, history = self._climb(labelled, rows, progress, record)
        self._state = SemiSupervisedState(labelled, history, rows.filled(labelled), rows.is_table)
        return self

    def _refuse_estimator(self) -> None:
        name = type(self.estimator).__name__
        if not hasattr(self.estimator, "_log_penalty"):
            raise BayeskitError(
                "SemiSupervised takes a classifier of bayeskit that learns from counts and maximizes likelihood times "
                f"prior: NaiveBayes(), CategoricalNB(), GaussianBayes() or TextClassifier(); got {name}."
            )
        if getattr(self.estimator, "class_weight", None) is not None:
            raise BayeskitError(
                f"{name} has class_weight, with which no likelihood is maximized; use sample_weight in fit instead."
            )

    def _climb(self, labelled: Any, rows: _Rows, progress: Progress | None, record: bool) -> tuple[Any, History]:
        labelled_counts = labelled.counts_
        hidden, known = rows.take(rows.hidden), rows.take(rows.known)
        share = self.weight * rows.plain_weights(rows.hidden)
        truth = np.searchsorted(labelled.classes_, rows.labels(rows.known))
        weight = rows.plain_weights(rows.known)
        parameters = labelled.get_params(deep=False)
        if "min_count" in parameters:  # a word that is seen once, in a text without a label, counts λ
            parameters["min_count"] = parameters["min_count"] * min(1.0, self.weight)

        def shared(posterior: NDArray[np.float64]) -> Any:
            total = labelled_counts
            for c, label in enumerate(labelled.classes_):
                part = share * posterior[:, c]
                if part.any():
                    given = np.full(len(part), label, dtype=labelled.classes_.dtype)
                    total = total + labelled.count(hidden, given, part, schema=total.schema)
            return total

        def log_penalty(model: Any) -> float:
            return float(model._state.settings._log_penalty(model.counts_, model._beliefs))

        def believed(counts: Any) -> Any:
            return type(labelled).from_counts(counts, **parameters)

        def expect(model: Any) -> tuple[Any, float]:
            joint = model.predict_joint_log_proba(hidden)
            peak = joint.max(axis=1, keepdims=True)
            posterior = np.exp(joint - peak)
            total = posterior.sum(axis=1, keepdims=True)
            log = float(share @ (peak + np.log(total))[:, 0])
            seen = model.predict_joint_log_proba(known)[np.arange(len(truth)), truth]
            return shared(posterior / total), log + float(weight @ seen) + log_penalty(model)

        log_penalty(labelled)  # refuses what EM cannot use before it starts
        # The model of the labelled rows knows only their values and words; the history begins when all are known.
        at_start = shared(labelled.predict_proba(hidden))
        if hasattr(labelled, "_fixed_in_em"):
            parameters |= labelled._fixed_in_em(at_start)
        start = believed(at_start)
        result = expectation_maximisation(
            start,
            expect,
            believed,
            tol=self.tol * float(share.sum() + weight.sum()),
            max_iter=self.max_iter,
            progress=progress,
            record=record,
        )
        return result.parameters, result.history

    # -- use --------------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each row."""
        return np.asarray(self.estimator_.predict(X))

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Return P(c | x), of shape (n_rows, n_classes)."""
        return np.asarray(self.estimator_.predict_proba(X))

    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c | x), of shape (n_rows, n_classes)."""
        return np.asarray(self.estimator_.predict_log_proba(X))

    @property
    def n_iter_(self) -> int:
        """The number of EM steps."""
        return max(int(self.history_.n_steps), 1)

    @property
    def n_features_in_(self) -> int:
        """The number of columns of the table; texts have none."""
        if not self._fitted.is_table:
            raise AttributeError("texts have no columns.")
        return int(self._fitted.estimator.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns' names, where they have names."""
        if not self._fitted.is_table:
            raise AttributeError("texts have no columns.")
        return np.asarray(self._fitted.estimator.feature_names_in_)

    @property
    def _fitted(self) -> Any:
        if "_state" not in self.__dict__:
            raise not_fitted(self)
        return self._state

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags = inner.classifier_tags
        return tags


class _Rows:
    """Rows of a table or texts, split into those with a label and those without."""

    def __init__(self, X: Any, y: NDArray[Any], weight: NDArray[np.float64] | None, is_table: bool) -> None:
        self.X, self.y, self.weight, self.is_table = X, y, weight, is_table
        missing = np.array([label is None or label != label for label in y.tolist()], dtype=bool)
        counts = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        self.known, self.hidden = np.flatnonzero(~missing & counts), np.flatnonzero(missing & counts)
        if not len(self.known):
            raise TableError("no row has a label, so there are no classes to learn; LatentClass finds groups without.")

    @classmethod
    def read(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> _Rows:
        is_table = get_tags(estimator).input_tags.two_d_array
        if is_table:
            X = read_table(X)
        elif isinstance(X, str) or not hasattr(X, "__len__"):
            raise TableError(f"SemiSupervised takes texts as a list; got {type(X).__name__}.")
        else:
            X = list(X)
        n_rows = X.n_rows if is_table else len(X)
        y = y.to_pandas() if hasattr(y, "to_pandas") else y
        labels = np.asarray(y, dtype=object)
        if labels.ndim == 2 and labels.shape[1] == 1:
            warn_caller(
                "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                "(n_samples,), for example using ravel().",
                DataConversionWarning,
            )
            labels = labels[:, 0]
        if labels.ndim != 1:
            raise TableError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
        if len(labels) != n_rows:
            raise TableError(f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(labels)}]")
        return cls(X, labels, read_weight(sample_weight, n_rows), is_table)

    def take(self, rows: NDArray[Any]) -> Any:
        return self.X.take(rows) if self.is_table else [self.X[i] for i in rows.tolist()]

    def labels(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.array(self.y[rows].tolist())

    def weights(self, rows: NDArray[Any]) -> NDArray[np.float64] | None:
        return None if self.weight is None else self.weight[rows]

    def plain_weights(self, rows: NDArray[Any]) -> NDArray[np.float64]:
        return np.ones(len(rows)) if self.weight is None else self.weight[rows]

    def filled(self, model: Any) -> NDArray[Any]:
        """Return the label of each row, predicted where there is none."""
        labels = np.array(self.y, dtype=object)
        missing = np.flatnonzero([label is None or label != label for label in self.y.tolist()])
        if len(missing):
            labels[missing] = model.predict(self.take(missing))
        return np.array(labels.tolist())
