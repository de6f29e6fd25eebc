"""Bayesian networks: a directed acyclic graph with one conditional distribution per variable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.network.infer.evidence import Marginal
    from bayeskit.network.network import BayesianNetwork

__all__ = ["BayesianNetwork", "Marginal"]

# Loaded at first use: a classifier needs the graph (`dag`) and not the engines.
_PUBLIC = {"BayesianNetwork": "bayeskit.network.network", "Marginal": "bayeskit.network.infer.evidence"}


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
