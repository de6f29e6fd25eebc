"""A naive Bayes classifier as an ONNX graph: an input per column, log-densities, labels and probabilities."""
