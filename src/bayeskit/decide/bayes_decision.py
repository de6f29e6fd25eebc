"""BayesDecision: any classifier that gives probabilities, made to decide at least cost."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone, is_classifier
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, column_or_1d

from bayeskit.decide.decision_file import decision_to_parts, parts_of_decision
from bayeskit.decide.loss import Loss, read_loss, with_reject
from bayeskit.decide.regions import Region, regions, warn_of_useless_reject
from bayeskit.decide.risk import bayes_action, expected_loss, risk
from bayeskit.errors import BayeskitError, BayeskitWarning
from bayeskit.io.model_files import save
from bayeskit.learn.model import not_fitted
from bayeskit.learn.state import change_of, learned
from bayeskit.table.labels import read_label_column, refuse_missing_labels


def _has(name: str) -> Callable[[Any], bool]:
    def check(self: Any) -> bool:
        getattr(self.estimator, name)  # its own error says what is missing
        return True

    return check


@dataclass(frozen=True, eq=False)
class DecisionState:
    """The fitted classifier, and the loss in terms of its classes."""

    estimator: Any
    loss: Loss

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, as the estimator orders them."""
        classes: NDArray[Any] = self.estimator.classes_
        return classes

    @property
    def actions(self) -> NDArray[Any]:
        """The names of the actions."""
        return self.loss.action_labels()

    @property
    def regions(self) -> tuple[Region, ...] | None:
        """For two classes, the best action for each interval of P(second class)."""
        return regions(self.loss) if len(self.loss.classes) == 2 else None


class BayesDecision(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    r"""A classifier that takes the action of least risk.

    .. math:: h(x) = \arg\min_a R(a \mid x), \qquad R(a \mid x) = \sum_j \lambda(c_j, a) \, P(c_j \mid x)

    It works with every scikit-learn classifier that has ``predict_proba``. The decisions are as good as those
    probabilities are, so calibrate an overconfident classifier first (``CalibratedClassifierCV``).

    Parameters
    ----------
    estimator : classifier
        The classifier that gives P(c given x). It is cloned; ``FrozenEstimator(fitted)`` keeps one that is fitted
        already.
    loss : None, matrix, frame or dict, default=None
        λ(truth, action). Rows are the truth and columns the action; a dict reads ``{truth: {action: cost}}``. None is
        0-1 loss. Actions need not be the classes. Negative losses are gains. A dict or frame may name classes that the
        rows of a fold, or a frozen estimator, do not have; `mean_loss` counts their cost where they occur.
    reject : None, float or dict, default=None
        The cost of the further action ``"reject"``, such as asking a human; ``{"ask a human": 0.2}`` also names it.

    Attributes
    ----------
    estimator_ : classifier
        The fitted estimator.
    classes_ : array
        The classes, as the estimator orders them.
    loss_ : Loss
        The loss as it was read, reject included.
    actions_ : array
        The names of the actions.
    regions_ : tuple of Region, or None
        For two classes, the best action for each interval of P(second class), in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import CategoricalNB
    >>> X, y = np.array([[0], [0], [0], [1], [1], [1]]), ["well", "well", "well", "well", "well", "ill"]
    >>> costs = {"ill": {"send home": 50, "treat": 0}, "well": {"send home": 0, "treat": 1}}
    >>> doctor = BayesDecision(CategoricalNB(), loss=costs).fit(X, y)
    >>> doctor.predict_proba([[1]]).round(2)
    array([[0.24, 0.76]])
    >>> doctor.predict([[1]]), doctor.decide([[1]])
    (array(['well'], dtype='<U4'), array(['treat'], dtype='<U9'))
    """

    estimator_ = learned("estimator", "The fitted estimator.")
    loss_ = learned("loss", "The loss as it was read, reject included.")
    classes_ = learned("classes", "The classes, as the estimator orders them.")
    actions_ = learned("actions", "The names of the actions.")
    regions_ = learned("regions", "For two classes, the best action for each interval of P(second class).")

    def __init__(self, estimator: Any, *, loss: Any = None, reject: Any = None) -> None:
        self.estimator = estimator
        self.loss = loss
        self.reject = reject

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the estimator; ``params`` go to its ``fit``, by metadata routing where that is switched on."""
        self._check_estimator()
        y = column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 else y
        classes = _classes(y)
        if isinstance(self.estimator, FrozenEstimator):
            check_is_fitted(self.estimator)
            _warn_of_unknown_classes(classes, self.estimator.classes_)
            classes = self.estimator.classes_
        read = self._read_loss(classes)
        fitted = clone(self.estimator).fit(X, y, **self._routed("fit", params))
        if not np.array_equal(fitted.classes_, classes):  # a class whose rows all weigh 0 is none to some classifiers
            read = self._read_loss(fitted.classes_)
        self._state = DecisionState(fitted, read)
        return self

    @available_if(_has("partial_fit"))
    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None, **params: Any) -> Self:
        """Add a batch to the estimator; the first call needs all ``classes``.

        Where the estimator takes new classes in later batches, the loss must name them; otherwise the batch is an
        error.
        """
        self._check_estimator()
        given = {} if classes is None else {"classes": classes}
        with change_of(self):
            state: DecisionState | None = self.__dict__.get("_state")
            if state is None:
                read = self._read_loss(_classes(y if classes is None else classes))
                estimator = clone(self.estimator)
            else:
                # A copy, so that a batch that fails half-way leaves the fitted classifier as it was.
                read, estimator = state.loss, deepcopy(state.estimator)
                new = np.setdiff1d(_classes(y), state.classes)
                if len(new):
                    read = self._read_loss(np.union1d(state.classes, new))
            estimator = estimator.partial_fit(X, y, **given, **self._routed("partial_fit", params))
            self._state = DecisionState(estimator, read)
        return self

    def predict(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return a class for each row: that of least risk where the actions are classes, else the most probable.

        A reject is not a class, so it is left out here, as is a class that only the loss names; `decide` returns them.
        """
        posterior = self._posterior(X, "predict", params)
        read: Loss = self.loss_
        labels: NDArray[Any] = self.classes_
        others = {action for action in read.actions if read.reject is None or action != read.reject}
        # A class that no row of the fit had is no answer either; `decide` may give it.
        keep = [k for k, action in enumerate(read.actions) if action in others and action in read.classes]
        actions = tuple(read.actions[k] for k in keep)
        if not keep or not others <= {*read.classes, *read.absent}:
            return np.asarray(labels[bayes_action(posterior, read_loss(None, read.classes))])
        classes_only = Loss(read.classes, actions, np.ascontiguousarray(read.matrix[:, keep]))
        numbers = np.array([read.classes.index(action) for action in actions])
        return np.asarray(labels[numbers[bayes_action(posterior, classes_only)]])

    def decide(self, X: Any, loss: Any = None) -> NDArray[Any]:
        """Return the name of the action of least risk for each row.

        ``loss`` replaces that of the model for this call, and may give each row its own as an array of shape (n_rows,
        n_classes, n_actions).
        """
        read = self._loss_for(loss)
        chosen: NDArray[Any] = read.action_labels()[bayes_action(self._posterior(X), read)]
        return chosen

    def risk(self, X: Any, loss: Any = None) -> NDArray[np.float64]:
        """Return R(a given x) for each row and action, shape (n_rows, n_actions)."""
        return risk(self._posterior(X), self._loss_for(loss))

    def expected_loss(self, X: Any, loss: Any = None) -> NDArray[np.float64]:
        """Return the risk of the action that `decide` takes in each row."""
        return expected_loss(self._posterior(X), self._loss_for(loss))

    @available_if(_has("predict_proba"))
    def predict_proba(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return the probabilities that the estimator gives."""
        check_is_fitted(self)
        posterior: NDArray[Any] = self.estimator_.predict_proba(X, **self._routed("predict_proba", params))
        return posterior

    @available_if(_has("predict_log_proba"))
    def predict_log_proba(self, X: Any, **params: Any) -> NDArray[Any]:
        """Return the log-probabilities that the estimator gives."""
        check_is_fitted(self)
        logs: NDArray[Any] = self.estimator_.predict_log_proba(X, **self._routed("predict_log_proba", params))
        return logs

    def summary(self) -> str:
        """Return the loss and, for two classes, the threshold that is equivalent to it."""
        check_is_fitted(self)
        read: Loss = self.loss_
        lines = [f"BayesDecision over {type(self.estimator_).__name__}: what each action costs"]
        for truth, costs in zip(read.classes, read.matrix, strict=True):
            pairs = ", ".join(f"{action} {cost:g}" for action, cost in zip(read.actions, costs, strict=True))
            lines.append(f"  truth {truth}: {pairs}")
        lines += [
            f"  {region.action} for P({read.classes[1]}) from {region.low:.6g} to {region.high:.6g}"
            for region in self.regions_ or ()
        ]
        return "\n".join(lines)

    # -- files ------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the classifier and the loss to a file that :func:`bayeskit.load` reads.

        The estimator must be a model of bayeskit; any other cannot be saved in a model file, only with pickle. A loss
        given as a matrix or a frame is loaded as an equal dict. A file that bayeskit did not write is refused, unless
        ``force`` says that it may be replaced.
        """
        check_is_fitted(self)
        save(self, path, force=force)

    def _to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        return decision_to_parts(self)

    @classmethod
    def _from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`_to_parts` gave; the file may be untrusted."""
        fitted, frozen, loss, reject = parts_of_decision(meta, arrays)
        model = cls(FrozenEstimator(fitted) if frozen else clone(fitted), loss=loss, reject=reject)
        read = model._read_loss(fitted.classes_)
        model._state = DecisionState(FrozenEstimator(fitted) if frozen else fitted, read)
        return model

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata goes to the estimator."""
        mapping = MethodMapping().add(caller="fit", callee="fit").add(caller="partial_fit", callee="partial_fit")
        mapping = mapping.add(caller="predict", callee="predict_proba").add(caller="score", callee="predict_proba")
        mapping = mapping.add(caller="predict_proba", callee="predict_proba")
        mapping = mapping.add(caller="predict_log_proba", callee="predict_log_proba")
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        return router.add(estimator=self.estimator, method_mapping=mapping)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.classifier_tags.multi_class = inner.classifier_tags is None or inner.classifier_tags.multi_class
        tags.non_deterministic = inner.non_deterministic
        return tags

    @property
    def n_features_in_(self) -> int:
        """The number of features that the estimator was fitted on."""
        check_is_fitted(self)
        return int(self.estimator_.n_features_in_)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the features that the estimator was fitted on."""
        names: NDArray[Any] = self.estimator_.feature_names_in_
        return names

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    @property
    def _fitted(self) -> DecisionState:
        if "_state" not in self.__dict__:
            raise not_fitted(self)
        return self._state

    def _check_estimator(self) -> None:
        if not hasattr(self.estimator, "predict_proba") or not is_classifier(self.estimator):
            raise BayeskitError(
                f"BayesDecision needs a classifier with predict_proba; {type(self.estimator).__name__} has none. "
                "CalibratedClassifierCV around it gives probabilities."
            )

    def _read_loss(self, classes: NDArray[Any]) -> Loss:
        read = read_loss(self.loss, classes)
        if read.per_row:
            raise BayeskitError(
                "a loss with one matrix per row belongs to rows, not to the model; pass it to decide(X, loss=…)."
            )
        read = with_reject(read, self.reject)
        warn_of_useless_reject(read)
        return read

    def _loss_for(self, loss: Any) -> Loss:
        check_is_fitted(self)
        read: Loss = self.loss_
        return read if loss is None else with_reject(read_loss(loss, read.classes), self.reject)

    def _posterior(self, X: Any, method: str = "predict", params: dict[str, Any] | None = None) -> NDArray[Any]:
        check_is_fitted(self)
        routed = self._routed(method, params or {}, callee="predict_proba")
        posterior: NDArray[Any] = self.estimator_.predict_proba(X, **routed)
        return posterior

    def _routed(self, method: str, params: dict[str, Any], callee: str | None = None) -> dict[str, Any]:
        if not params or not get_config()["enable_metadata_routing"]:
            return params
        routed: dict[str, Any] = process_routing(self, method, **params).estimator[callee or method]
        return routed


def _classes(y: Any) -> NDArray[Any]:
    """Return the classes as scikit-learn orders them; all other checks of y are left to the estimator."""
    labels = column_or_1d(y)
    refuse_missing_labels(read_label_column(labels)[0].missing())
    check_classification_targets(labels)
    return np.asarray(unique_labels(labels))


def _warn_of_unknown_classes(classes: NDArray[Any], known: NDArray[Any]) -> None:
    """Warn that a frozen estimator never predicts some of the classes of y."""
    strange = [name for name in classes.tolist() if name not in np.asarray(known).tolist()]
    if strange:
        warnings.warn(
            f"y holds the class {strange[0]!r}, which the frozen estimator was not fitted on; its classes are "
            f"{np.asarray(known).tolist()}, and gives every other class the probability 0.",
            BayeskitWarning,
            stacklevel=3,
        )
