"""The base of every model: parameters, and one state once it is fitted. It knows no scikit-learn."""

from __future__ import annotations

from copy import deepcopy
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bayeskit.io.model_files import save
from bayeskit.io.registry import model_class
from bayeskit.learn.checks import check_columns, in_order
from bayeskit.learn.parameters import from_json, refuse_parameters, to_json
from bayeskit.table.read import Source, read_converted, read_table
from bayeskit.table.schema import Schema


class Model:
    """A model as a plain object: its parameters, and what it learned in ``_state``.

    ``_state`` is the only attribute besides the parameters. Everything that a fit finds goes into a new state, which is
    assigned last: a call that fails in any way leaves a fitted model as it was. Public attributes with an underscore at
    the end are properties that read the state.

    A model needs nothing of scikit-learn, whose import takes longer than most predictions: the command and the page
    load and ask models as they are. The estimators of `bayeskit` are these classes with scikit-learn's base classes
    added (:func:`bayeskit.learn.estimator.estimator_class`).
    """

    # Which mixin of scikit-learn the estimator has.
    _role: ClassVar[Literal["classifier", "clusterer", "regressor"] | None] = None
    # Each parameter's check: name → what it must be, in words, and the test of it.
    _rules: ClassVar[dict[str, tuple[str, Any]]] = {}

    _state: Any

    # -- parameters -------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in sorted(signature(type(self)).parameters)}

    def _as_settings(self) -> Self:
        """Return an unfitted plain model with the current parameters; changing them later does not change it."""
        parameters = self.get_params(deep=False)
        # A function stays itself: jieba's, for one, belongs to an object that cannot be copied.
        model: Self = plain_class(self)(**{k: v if callable(v) else deepcopy(v) for k, v in parameters.items()})
        return model

    def _checked_settings(self) -> Self:
        refuse_parameters(self, self._rules)
        return self._as_settings()

    def _set_tags(self, tags: Any) -> None:
        """Say in scikit-learn's tags what the model takes."""

    # -- what was learned -------------------------------------------------------------------------------------------

    @property
    def _is_fitted(self) -> bool:
        return "_state" in self.__dict__

    @property
    def _fitted(self) -> Any:
        """The state; an error where the model is not fitted."""
        try:
            return self.__dict__["_state"]
        except KeyError:
            raise not_fitted(self) from None

    def _refuse_unfitted(self) -> None:
        if "_state" not in self.__dict__:  # each call counts where rows are asked about one by one
            raise not_fitted(self)

    def _now(self) -> Self:
        """Return the value that predicts: a plain model with this state, and the settings that it was learned with.

        Later calls, in this thread or in others, do not change it.
        """
        try:  # written out, since rows may be asked about one by one
            state = self.__dict__["_state"]
        except KeyError:
            raise not_fitted(self) from None
        settings = state.settings
        model = object.__new__(settings.__class__)
        model.__dict__ = held = settings.__dict__.copy()
        held["_state"] = state
        return model  # type: ignore[no-any-return]

    @property
    def target_(self) -> str | None:
        """The column that held the labels, where ``target`` named it."""
        return self._fitted.target  # type: ignore[no-any-return]

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return len(self._fitted.schema)

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The columns' names, where they have names."""
        schema = self._fitted.schema
        if not schema.named:
            raise AttributeError("the columns came without names.")
        return np.array(schema.names, dtype=object)

    def _read_features(self, X: Any) -> Source:
        """Read rows in terms of the columns of the fit."""
        state = self._fitted
        names = state.schema.names
        source = read_table(X) if state.schema.conversions is None else read_converted(X, state.schema, state.target)
        if state.target is not None and source.named and state.target in source.names:
            source = source.without(state.target)  # fitted with target=: the whole table may come again
        source = in_order(X, source, names)
        check_columns(source, names, state.schema.named, type(self).__name__)
        return source

    @classmethod
    def _class_named(cls, name: str) -> type[Any]:
        """Return another class of the registry, as plain as this one."""
        return model_class(name)


class SavedModel(Model):
    """A model that is written to a file, and comes back from it."""

    @property
    def schema_(self) -> Schema:
        """Name, kind and values of each column."""
        return self._fitted.schema  # type: ignore[no-any-return]

    def save(self, path: str | PathLike[str], *, force: bool = False) -> None:
        """Write the model to a file that :func:`bayeskit.load` reads; an old file is replaced only at the end.

        A file that bayeskit did not write is refused, unless ``force`` says that it may be replaced.
        """
        self._refuse_unfitted()
        save(self, path, force=force)

    def _to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what goes into a model file: fields for JSON, and arrays."""
        model = self._now()
        meta, arrays = model._learned_parts()
        header = {
            "parameters": self._parameters_json(),
            "settings": model._parameters_json(),
            "target": model._state.target,
        }
        return {**meta, **header}, arrays

    @classmethod
    def _from_parts(cls, meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """Read what :meth:`_to_parts` gave; the file may be untrusted."""
        settings = plain_class(cls)(**cls._parameters_of(meta["settings"]))
        refuse_parameters(settings, cls._rules)
        target = meta["target"]
        if target is not None and not isinstance(target, str):
            raise TypeError("the target is not a column name")
        state = settings._restored(meta, arrays, target)
        model = cls(**cls._parameters_of(meta["parameters"]))
        model._state = state
        return model

    def _parameters_json(self) -> dict[str, Any]:
        return to_json(self.get_params(deep=False))

    @classmethod
    def _parameters_of(cls, data: dict[str, Any]) -> dict[str, Any]:
        return from_json(data)

    def _learned_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what was learned, as fields and arrays; called on a plain fitted model."""
        raise NotImplementedError

    def _restored(self, meta: dict[str, Any], arrays: dict[str, NDArray[Any]], target: str | None) -> Any:
        """Return the state that :meth:`_learned_parts` wrote, checking each part; called on the settings."""
        raise NotImplementedError


def plain_class(model: Any) -> type[Any]:
    """Return the class of a model without scikit-learn's base classes; a class that a user derived is its own.

    >>> from bayeskit import NaiveBayes
    >>> plain_class(NaiveBayes).__module__
    'bayeskit.classify.naive_bayes'
    """
    kind = model if isinstance(model, type) else type(model)
    plain: type[Any] = kind.__dict__.get("_plain", kind)
    return plain


def not_fitted(model: Any) -> Exception:
    """Return scikit-learn's error for a model that is not fitted."""
    from sklearn.exceptions import NotFittedError

    error: Exception = NotFittedError(
        f"This {type(model).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments before using "
        "this estimator."
    )
    return error


def accuracy(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """Return the share of rows that a model predicts rightly, as scikit-learn counts them."""
    from sklearn.metrics import accuracy_score

    return float(accuracy_score(y, model.predict(X), sample_weight=sample_weight))
