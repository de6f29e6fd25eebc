"""The registry: the names of models and statistics that a file may hold, and where each lives."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bayeskit import _MODELS
from bayeskit.errors import ModelFileError

# Name in the file → "module:class". A file can only name a class that is listed here or below.
MODELS: dict[str, str] = {name: f"{module}:{name}" for name, module in _MODELS.items()}

# Counts that were made in one place and are added in another.
STATISTICS: dict[str, str] = {
    "AutoCounts": "bayeskit.classify.auto.counts:AutoCounts",
    "AutoTextCounts": "bayeskit.classify.auto_text.counts:AutoTextCounts",
    "FamilyCounts": "bayeskit.counts.families:FamilyCounts",
    "FeatureCounts": "bayeskit.counts.features:FeatureCounts",
    "GaussianCounts": "bayeskit.counts.gaussian:GaussianCounts",
    "GraphCounts": "bayeskit.counts.graph_counts:GraphCounts",
    "SequenceCounts": "bayeskit.sequence.counts:SequenceCounts",
    "TableCounts": "bayeskit.counts.table:TableCounts",
    "TokenCounts": "bayeskit.counts.tokens:TokenCounts",
}


def model_class(name: str) -> type[Any]:
    """Return the class that a model file calls ``name``; any other name is refused before anything is imported."""
    place = {**MODELS, **STATISTICS}.get(name)
    if place is None:
        raise ModelFileError(f"{name!r} is not a model that this bayeskit knows; it knows {', '.join(sorted(MODELS))}.")
    module, _, attribute = place.partition(":")
    found: type[Any] = getattr(import_module(module), attribute)
    return found


def estimator_named(name: str) -> type[Any]:
    """Return the class of that name with scikit-learn's base classes, where it is a model."""
    plain = model_class(name)
    if not hasattr(plain, "_role"):  # a statistic, a network, or a class that scikit-learn's are the base of already
        return plain
    found: type[Any] = import_module("bayeskit.learn.estimator").estimator_class(plain)
    return found
