"""Explanations of predictions: log-odds by feature, value of information, and what-if."""

from bayeskit.explain.explanation import Explanation, Explanations
from bayeskit.explain.log_odds import explain, explain_rows
from bayeskit.explain.relevance import feature_relevance, value_of_information
from bayeskit.explain.what_if import WhatIf, what_if

__all__ = [
    "Explanation",
    "Explanations",
    "WhatIf",
    "explain",
    "explain_rows",
    "feature_relevance",
    "value_of_information",
    "what_if",
]
