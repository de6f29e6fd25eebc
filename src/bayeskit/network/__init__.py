"""Bayesian networks: a directed acyclic graph with one conditional distribution per variable."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayeskit.network.cpd.equation import Equation as Equation
    from bayeskit.network.cpd.function_table import Table as Table
    from bayeskit.network.cpd.gaussian import ConditionalGaussian as ConditionalGaussian
    from bayeskit.network.cpd.gaussian import LinearGaussian as LinearGaussian
    from bayeskit.network.cpd.logistic import Logistic as Logistic
    from bayeskit.network.cpd.logistic import Probit as Probit
    from bayeskit.network.cpd.noisy import NoisyAdder as NoisyAdder
    from bayeskit.network.cpd.noisy import NoisyAnd as NoisyAnd
    from bayeskit.network.cpd.noisy import NoisyMax as NoisyMax
    from bayeskit.network.cpd.noisy import NoisyOr as NoisyOr
    from bayeskit.network.cpd.ranked import Ranked as Ranked
    from bayeskit.network.cpd.tree_table import TreeTable as TreeTable
    from bayeskit.network.infer.evidence import Marginal as Marginal
    from bayeskit.network.learn.methods.best import Best as Best
    from bayeskit.network.learn.methods.chow_liu import ChowLiu as ChowLiu
    from bayeskit.network.learn.methods.exact import Exact as Exact
    from bayeskit.network.learn.methods.ges import GES as GES
    from bayeskit.network.learn.methods.hill_climb import HillClimb as HillClimb
    from bayeskit.network.learn.methods.k2 import K2 as K2
    from bayeskit.network.learn.methods.mmhc import MMHC as MMHC
    from bayeskit.network.learn.methods.order import OrderSearch as OrderSearch
    from bayeskit.network.learn.methods.pc import PC as PC
    from bayeskit.network.learn.methods.tabu import Tabu as Tabu
    from bayeskit.network.learn.pag import PAG as PAG
    from bayeskit.network.learn.scores.bdeu import BDeuScore as BDeuScore
    from bayeskit.network.learn.scores.bds import BDs as BDs
    from bayeskit.network.learn.scores.bge import BGe as BGe
    from bayeskit.network.learn.scores.ebic import EBIC as EBIC
    from bayeskit.network.network import BayesianNetwork as BayesianNetwork

# Loaded at first use: a classifier needs the graph (`dag`) and not the engines.
_PUBLIC = {
    "BDeuScore": "bayeskit.network.learn.scores.bdeu",
    "BDs": "bayeskit.network.learn.scores.bds",
    "BGe": "bayeskit.network.learn.scores.bge",
    "EBIC": "bayeskit.network.learn.scores.ebic",
    "BayesianNetwork": "bayeskit.network.network",
    "Best": "bayeskit.network.learn.methods.best",
    "ChowLiu": "bayeskit.network.learn.methods.chow_liu",
    "Equation": "bayeskit.network.cpd.equation",
    "Exact": "bayeskit.network.learn.methods.exact",
    "GES": "bayeskit.network.learn.methods.ges",
    "HillClimb": "bayeskit.network.learn.methods.hill_climb",
    "K2": "bayeskit.network.learn.methods.k2",
    "MMHC": "bayeskit.network.learn.methods.mmhc",
    "Marginal": "bayeskit.network.infer.evidence",
    "OrderSearch": "bayeskit.network.learn.methods.order",
    "ConditionalGaussian": "bayeskit.network.cpd.gaussian",
    "LinearGaussian": "bayeskit.network.cpd.gaussian",
    "Logistic": "bayeskit.network.cpd.logistic",
    "Probit": "bayeskit.network.cpd.logistic",
    "NoisyAdder": "bayeskit.network.cpd.noisy",
    "NoisyAnd": "bayeskit.network.cpd.noisy",
    "NoisyMax": "bayeskit.network.cpd.noisy",
    "NoisyOr": "bayeskit.network.cpd.noisy",
    "Ranked": "bayeskit.network.cpd.ranked",
    "Table": "bayeskit.network.cpd.function_table",
    "TreeTable": "bayeskit.network.cpd.tree_table",
    "PAG": "bayeskit.network.learn.pag",
    "PC": "bayeskit.network.learn.methods.pc",
    "Tabu": "bayeskit.network.learn.methods.tabu",
}

__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PUBLIC[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
