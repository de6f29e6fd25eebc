"""What a column can be, one file per kind: its estimate, log-density, draws, grid, free parameters and title."""

from bayeskit.kinds.kind import Estimation, Family, Grid, Kind, Statistics, Training
from bayeskit.kinds.registry import kind_of, kinds, number_words, words

__all__ = [
    "Estimation",
    "Family",
    "Grid",
    "Kind",
    "Statistics",
    "Training",
    "kind_of",
    "kinds",
    "number_words",
    "words",
]
