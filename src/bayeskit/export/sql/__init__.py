"""A classifier as one SELECT: the cells, their codes, sums of logarithms, labels and probabilities."""

from bayeskit.export.sql import dialects, score  # defining them lists them

__all__ = ["dialects", "score"]
