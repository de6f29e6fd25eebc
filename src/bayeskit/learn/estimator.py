"""The base classes of all estimators: scikit-learn's, which are imported when an estimator is needed.

A fitted model that is loaded and predicts needs nothing of scikit-learn, whose import takes longer than most
predictions. So the classes below inherit from small ones until :func:`bring_base_classes` puts
scikit-learn's in their place, once and for all models. That happens

- at once, where scikit-learn is imported already,
- when an estimator is taken from `bayeskit` (``from bayeskit import NaiveBayes``),
- when a loaded model is asked for what only an estimator has: tags, metadata routing, a score, a repr.

From then on every model inherits from ``sklearn.base.BaseEstimator``, those that were loaded before included.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from inspect import signature
from threading import RLock
from typing import TYPE_CHECKING, Any

# What a loaded model does not have by itself, and an estimator has.
_OF_ESTIMATORS = re.compile(r"set_params|\w+_metadata_rout\w+|_get_metadata_request|set_\w+_request|_repr_\w+_")


class _PlainEstimator:
    """The part of ``BaseEstimator`` that prediction needs; anything else imports scikit-learn."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        if deep:  # a parameter may be an estimator itself
            bring_base_classes()
            return self.get_params()
        return {name: getattr(self, name) for name in sorted(signature(type(self)).parameters)}

    def __repr__(self) -> str:
        bring_base_classes()
        return repr(self)

    def __getattr__(self, name: str) -> Any:
        if _OF_ESTIMATORS.fullmatch(name):
            bring_base_classes()
            return getattr(self, name)
        return object.__getattribute__(self, name)  # says again why it is not there


class _PlainMixin:
    """Placeholder of a mixin."""


if TYPE_CHECKING:
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin
else:
    BaseEstimator = _PlainEstimator
    ClassifierMixin = ClusterMixin = RegressorMixin = _PlainMixin


class Estimator(BaseEstimator):
    """Inherits from ``sklearn.base.BaseEstimator`` as soon as it is needed."""

    def __sklearn_tags__(self) -> Any:
        bring_base_classes()
        return super().__sklearn_tags__()


class Classifier(ClassifierMixin):
    """Inherits from ``sklearn.base.ClassifierMixin`` as soon as it is needed."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy."""
        bring_base_classes()
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        bring_base_classes()
        return super().__sklearn_tags__()


class Clusterer(ClusterMixin):
    """Inherits from ``sklearn.base.ClusterMixin`` as soon as it is needed."""

    def __sklearn_tags__(self) -> Any:
        bring_base_classes()
        return super().__sklearn_tags__()


class Regressor(RegressorMixin):
    """Inherits from ``sklearn.base.RegressorMixin`` as soon as it is needed."""

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R², the share of the variance of y that is explained."""
        bring_base_classes()
        return float(super().score(X, y, sample_weight))

    def __sklearn_tags__(self) -> Any:
        bring_base_classes()
        return super().__sklearn_tags__()


_lock = RLock()


def bring_base_classes() -> None:
    """Import scikit-learn and make its base classes those of every model, if they are not yet."""
    from sklearn import base

    with _lock:
        if issubclass(Estimator, base.BaseEstimator):
            return
        Classifier.__bases__ = (base.ClassifierMixin,)
        Clusterer.__bases__ = (base.ClusterMixin,)
        Regressor.__bases__ = (base.RegressorMixin,)
        Estimator.__bases__ = (base.BaseEstimator,)
        for model in _subclasses(Estimator):
            # What Python would have called when the class was made: it adds set_fit_request and its kin.
            base.BaseEstimator.__init_subclass__.__func__(model)


def _subclasses(of: type[Any]) -> Iterator[type[Any]]:
    yield of
    for model in of.__subclasses__():
        yield from _subclasses(model)


def not_fitted(model: Any) -> Exception:
    """Return scikit-learn's error for a model that is not fitted."""
    from sklearn.exceptions import NotFittedError

    error: Exception = NotFittedError(
        f"This {type(model).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
        "this estimator."
    )
    return error


if "sklearn.base" in sys.modules:
    bring_base_classes()
