"""Learning with Bayes' rule: count, then believe, then decide."""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public name → the module that holds it. Loaded at first use, so that `import bayeskit` costs next to nothing.
_PUBLIC = {
    "AODE": "bayeskit.classify.aode",
    "BayesDecision": "bayeskit.decide.bayes_decision",
    "BayesianNetwork": "bayeskit.network.network",
    "CategoricalNB": "bayeskit.classify.categorical_nb",
    "Discretiser": "bayeskit.table.bins",
    "GaussianNB": "bayeskit.classify.gaussian_nb",
    "KDB": "bayeskit.classify.kdb",
    "NaiveBayes": "bayeskit.classify.naive",
    "ODE": "bayeskit.classify.ode",
    "SPODE": "bayeskit.classify.spode",
    "TAN": "bayeskit.classify.tan",
    "bayes_risk": "bayeskit.decide.bayes_risk",
    "compare": "bayeskit.classify.compare",
    "feature_relevance": "bayeskit.explain.questions",
    "load": "bayeskit.io.files",
    "mean_loss": "bayeskit.decide.scorer",
    "threads": "bayeskit._kernels.threads",
    "value_of_information": "bayeskit.explain.questions",
    "what_if": "bayeskit.explain.what_if",
}
_STAGES = ("datasets", "errors", "explain", "plot")

__all__ = ["__version__", *_PUBLIC, *_STAGES]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        value = getattr(import_module(_PUBLIC[name]), name)
    elif name in _STAGES:
        value = import_module(f"bayeskit.{name}")
    else:
        raise AttributeError(f"module 'bayeskit' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
