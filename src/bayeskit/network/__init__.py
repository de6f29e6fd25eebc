"""Bayesian networks: a directed acyclic graph with one conditional table a variable."""

from bayeskit.network.infer.evidence import Marginal
from bayeskit.network.network import BayesianNetwork

__all__ = ["BayesianNetwork", "Marginal"]
