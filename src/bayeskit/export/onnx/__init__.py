"""A naive Bayes classifier as an ONNX graph: an input per column, log-densities, labels and probabilities."""

from bayeskit.export.onnx import score  # defining its target lists it

__all__ = ["score"]
