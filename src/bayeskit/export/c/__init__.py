"""A classifier as one C99 file: the arrays of the model, and the functions that walk them."""

from bayeskit.export.c import score  # defining its target lists it

__all__ = ["score"]
