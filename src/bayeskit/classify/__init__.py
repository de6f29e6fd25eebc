"""Classifiers with scikit-learn's interface, one model per file."""
