"""The kinds of columns, one file per kind: its estimate, log-density, draws, grid, free parameters and title."""

from bayeskit.kinds.kind import Estimation, Family, FitContext, Grid, Kind, Statistics
from bayeskit.kinds.registry import kind_of, kinds, number_words, words

__all__ = [
    "Estimation",
    "Family",
    "FitContext",
    "Grid",
    "Kind",
    "Statistics",
    "kind_of",
    "kinds",
    "number_words",
    "words",
]
