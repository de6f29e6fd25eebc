"""The life of a model: its parameters, what it is given, fit, partial_fit, merge, unlearn, save and load."""
