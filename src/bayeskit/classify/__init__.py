"""Classifiers with scikit-learn's interface, one model a file."""
