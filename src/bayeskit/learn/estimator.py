"""Estimators: the models of this library with scikit-learn's base classes.

A model (:class:`bayeskit.learn.model.Model`) is plain: it is loaded and predicts without scikit-learn. The public
classes, such as ``bayeskit.NaiveBayes``, are made here when they are first asked for: each inherits from its model and
from scikit-learn's ``BaseEstimator`` and mixin, and adds nothing else.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin, RegressorMixin

from bayeskit.learn.model import Model

_MIXINS: dict[str | None, tuple[type[Any], ...]] = {
    "classifier": (ClassifierMixin,),
    "clusterer": (ClusterMixin,),
    "regressor": (RegressorMixin,),
    None: (),
}


class _Face:
    """What an estimator asks scikit-learn's classes first, and its model second."""

    get_params = BaseEstimator.get_params
    __repr__ = BaseEstimator.__repr__

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        self._set_tags(tags)  # type: ignore[attr-defined]
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return "_state" in self.__dict__

    @classmethod
    def _class_named(cls, name: str) -> type[Any]:
        from bayeskit.io.registry import estimator_named

        return estimator_named(name)


@cache
def estimator_class(model: type[Model]) -> type[Any]:
    """Return the estimator of a model.

    >>> from bayeskit.classify.tan import TAN
    >>> estimator_class(TAN).__mro__[2] is TAN, issubclass(estimator_class(TAN), BaseEstimator)
    (True, True)
    """
    # Pickles find it under its public name.
    names = {"__module__": "bayeskit", "__qualname__": model.__qualname__, "__doc__": model.__doc__, "_plain": model}
    return type(model.__name__, (_Face, model, *_MIXINS[model._role], BaseEstimator), names)


def as_estimator(model: Any) -> Any:
    """Return the estimator of a plain model, with the same parameters and the same state."""
    if not isinstance(model, Model) or isinstance(model, BaseEstimator):
        return model
    kind = estimator_class(type(model))  # type: ignore[arg-type]
    estimator = object.__new__(kind)
    estimator.__dict__ = dict(model.__dict__)
    return estimator
