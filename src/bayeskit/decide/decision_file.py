"""What a `BayesDecision` puts into its file: the fitted model, and the loss by names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from bayeskit.decide.loss import Loss
from bayeskit.errors import ModelFileError
from bayeskit.io.expect import expect_array, expect_field
from bayeskit.io.registry import MODELS, estimator_named, model_class
from bayeskit.learn.model import plain_class

PREFIX = "model_"


def decision_to_parts(decision: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the fields and arrays of a fitted decision; an estimator that cannot be saved is an error."""
    frozen = isinstance(decision.estimator_, FrozenEstimator)
    fitted = decision.estimator_.estimator if frozen else decision.estimator_
    name = type(fitted).__name__
    if name not in MODELS or plain_class(fitted) is not model_class(name) or isinstance(fitted, type(decision)):
        raise ModelFileError(
            f"the estimator is a {type(fitted).__module__}.{name}, which cannot be saved in a model file; "
            "save it with pickle."
        )
    model_meta, model_arrays = fitted._to_parts()
    read: Loss = decision.loss_.with_absent()
    meta = {
        "model": name,
        "meta": model_meta,
        "frozen": frozen,
        "zero_one": decision.loss is None,
        "truths": _names(read.classes),
        "actions": _names(read.actions),
        "rejects": read.reject is not None,  # the last action
    }
    return meta, {**{PREFIX + key: array for key, array in model_arrays.items()}, "loss": read.matrix}


def parts_of_decision(meta: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[Any, bool, Any, Any]:
    """Return the fitted model, whether it is frozen, the loss as a dict or None, and the reject as ``{name: cost}``."""
    name = expect_field(meta, "model", str)
    if name not in MODELS or name == "BayesDecision":
        raise ModelFileError(f"{name!r} is not a model that a decision can be made over.")
    model_arrays = {key[len(PREFIX) :]: array for key, array in arrays.items() if key.startswith(PREFIX)}
    kind = estimator_named(name)
    if not hasattr(kind, "_from_parts"):
        raise ModelFileError(f"{name!r} is not a model that a decision can be made over.")
    fitted = kind._from_parts(expect_field(meta, "meta", dict), model_arrays)
    if not hasattr(fitted, "predict_proba"):
        raise ModelFileError(f"a {name} gives no probabilities.")
    truths, actions = _names(expect_field(meta, "truths", list)), _names(expect_field(meta, "actions", list))
    matrix = expect_array(arrays, "loss", np.float64, (len(truths), len(actions)))
    if len(set(truths)) < len(truths) or len(set(actions)) < len(actions):
        raise ModelFileError("a truth or an action of the loss has two rows or columns.")
    reject = None
    if expect_field(meta, "rejects", bool):
        if not actions or not truths or (matrix[:, -1] != matrix[0, -1]).any():
            raise ModelFileError("the cost of rejecting is not one number.")
        reject = {actions[-1]: float(matrix[0, -1])}
        actions, matrix = actions[:-1], matrix[:, :-1]
    loss = {truth: dict(zip(actions, costs, strict=True)) for truth, costs in zip(truths, matrix.tolist(), strict=True)}
    return fitted, expect_field(meta, "frozen", bool), None if expect_field(meta, "zero_one", bool) else loss, reject


def _names(names: Any) -> list[Any]:
    for name in names:
        if not isinstance(name, str | int | float):
            raise ModelFileError(f"a class or an action must be text or a number in a file; got {name!r}.")
    return list(names)
