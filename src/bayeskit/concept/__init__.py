"""Hypotheses: priors and posteriors, version spaces, MAP and Bayes optimal answers, least squares, MDL."""

from bayeskit.concept.attributes import Hierarchy, Range, Values
from bayeskit.concept.conjunctions import Conjunction, ConjunctionSpace
from bayeskit.concept.rules import bayes_rule, product_rule, sum_rule, total_probability
from bayeskit.concept.sigmoid_network import SigmoidNetwork

__all__ = [
    "Conjunction",
    "ConjunctionSpace",
    "Hierarchy",
    "Range",
    "SigmoidNetwork",
    "Values",
    "bayes_rule",
    "product_rule",
    "sum_rule",
    "total_probability",
]
