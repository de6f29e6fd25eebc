"""Why a model believes what it believes: evidence, the next question, and what would turn a decision."""

from bayeskit.explain.evidence import Explanation, Explanations, explain, explain_rows
from bayeskit.explain.questions import feature_relevance, value_of_information
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
