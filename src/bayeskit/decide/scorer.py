"""The scorer ``mean_loss``: the mean cost of decisions on labelled rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metadata_routing import MetadataRequest

from bayeskit.decide.loss import Loss, read_loss, with_reject
from bayeskit.decide.risk import bayes_action, realised_loss
from bayeskit.errors import BayeskitError


class MeanLoss:
    """A scorer that returns minus the mean loss of a classifier's decisions, so that greater is better.

    ``scoring=mean_loss`` takes the loss from a `BayesDecision`; ``scoring=mean_loss.using(loss)`` gives one to any
    classifier with ``predict_proba``. ``sample_weight`` and ``loss`` (one matrix per row) may be routed to it.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> mean_loss.using([[0, 1], [50, 0]])(model, [[0.5], [4.5]], [1, 1])
    -25.0
    """

    def __init__(self, fixed: tuple[Any, Any] | None = None) -> None:
        # The loss and the reject to score by, or None for those of the estimator.
        self._fixed = fixed
        self._request = MetadataRequest(owner="mean_loss")
        for name in ("sample_weight", "loss"):
            self._request.score.add_request(param=name, alias=None)

    def using(self, loss: Any, reject: Any = None) -> MeanLoss:
        """Return a scorer with a loss of its own, for classifiers that have none."""
        return MeanLoss((loss, reject))

    def __call__(
        self, estimator: Any, X: Any, y_true: Any, sample_weight: NDArray[Any] | None = None, loss: Any = None
    ) -> float:
        """Return minus the mean loss of the estimator's decisions for X, where ``y_true`` is the truth."""
        read = self._read(estimator, loss)
        actions = bayes_action(estimator.predict_proba(X), read)
        weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        priced = read.with_absent()
        if self._is_zero_one(estimator, loss):
            priced = _any_is_wrong(priced, y_true)
        return -float(np.average(realised_loss(_numbers(y_true, priced.classes), actions, priced), weights=weights))

    def set_score_request(self, **requests: bool | str | None) -> MeanLoss:
        """Return a scorer that asks for ``sample_weight`` or ``loss`` when metadata is routed."""
        asking = MeanLoss(self._fixed)
        for name, alias in requests.items():
            if name not in ("sample_weight", "loss"):
                raise TypeError(f"mean_loss can ask for sample_weight and loss; got {name!r}.")
            asking._request.score.add_request(param=name, alias=alias)
        return asking

    def get_metadata_routing(self) -> MetadataRequest:
        """Return what this scorer asks for."""
        return self._request

    def __repr__(self) -> str:
        return "mean_loss" if self._fixed is None else "mean_loss.using(loss)"

    def _read(self, estimator: Any, loss: Any) -> Loss:
        if loss is None and self._fixed is None:
            model_loss = getattr(estimator, "loss_", None)
            if not isinstance(model_loss, Loss):
                raise BayeskitError(
                    f"mean_loss needs the loss of {type(estimator).__name__}; wrap it in BayesDecision, or "
                    "score with mean_loss.using(loss)."
                )
            return model_loss
        fixed, reject = self._fixed or (None, getattr(estimator, "reject", None))
        return with_reject(read_loss(fixed if loss is None else loss, estimator.classes_), reject)

    def _is_zero_one(self, estimator: Any, loss: Any) -> bool:
        given = getattr(estimator, "loss", None) if self._fixed is None else self._fixed[0]
        return loss is None and given is None


def _any_is_wrong(loss: Loss, y: Any) -> Loss:
    """Return a 0-1 loss with a row for each further truth in y: predictions there are always wrong."""
    further = tuple(name for name in np.unique(np.asarray(y)).tolist() if name not in loss.classes)
    row = np.array([loss.matrix[0, k] if action == loss.reject else 1.0 for k, action in enumerate(loss.actions)])
    return replace(
        loss, classes=(*loss.classes, *further), matrix=np.concatenate([loss.matrix, np.tile(row, (len(further), 1))])
    )


def _numbers(y: Any, classes: tuple[Any, ...]) -> NDArray[np.int64]:
    """Return the positions of the true classes; a class that is not in the loss is an error."""
    number = {name: k for k, name in enumerate(classes)}
    labels = np.asarray(y)
    names, places = np.unique(labels, return_inverse=True)
    unknown = [name for name in names.tolist() if name not in number]
    if unknown:
        raise BayeskitError(f"the truth {unknown[0]!r} is not among the classes of the loss, {list(classes)}.")
    return np.array([number[name] for name in names.tolist()], dtype=np.int64)[places]


mean_loss = MeanLoss()
