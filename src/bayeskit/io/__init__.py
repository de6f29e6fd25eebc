"""The model file (.bayes): a checked container of JSON and arrays, and the registry of what may be inside."""
