"""The registry: the model names that a file may hold, and where each lives."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bayeskit.errors import ModelFileError

# Name in the file → "module:class". A file can only ask for a class that stands here.
MODELS: dict[str, str] = {
    "AODE": "bayeskit.classify.aode:AODE",
    "BayesianNetwork": "bayeskit.network.network:BayesianNetwork",
    "CategoricalNB": "bayeskit.classify.categorical_nb:CategoricalNB",
    "GaussianNB": "bayeskit.classify.gaussian_nb:GaussianNB",
    "KDB": "bayeskit.classify.kdb:KDB",
    "NaiveBayes": "bayeskit.classify.naive:NaiveBayes",
    "ODE": "bayeskit.classify.ode:ODE",
    "SPODE": "bayeskit.classify.spode:SPODE",
    "TAN": "bayeskit.classify.tan:TAN",
}


def model_class(name: str) -> type[Any]:
    """Return the class that a model file calls ``name``; any other name is refused before anything is imported."""
    if name not in MODELS:
        raise ModelFileError(f"{name!r} is not a model that this bayeskit knows; it knows {', '.join(sorted(MODELS))}.")
    module, _, attribute = MODELS[name].partition(":")
    found: type[Any] = getattr(import_module(module), attribute)
    return found
