"""A classifier as an ONNX graph: an input per column, log-scores, labels and probabilities."""

from bayeskit.export.onnx import score  # defining its target lists it

__all__ = ["score"]
