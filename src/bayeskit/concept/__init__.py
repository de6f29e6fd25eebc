"""Hypotheses: priors and posteriors, version spaces, MAP and Bayes optimal answers, least squares, MDL."""

from bayeskit.concept.attributes import Hierarchy, Range, Values
from bayeskit.concept.conjunctions import Conjunction, ConjunctionSpace
from bayeskit.concept.rules import bayes_rule, product_rule, sum_rule, total_probability

__all__ = [
    "Conjunction",
    "ConjunctionSpace",
    "Hierarchy",
    "Range",
    "Values",
    "bayes_rule",
    "product_rule",
    "sum_rule",
    "total_probability",
]
