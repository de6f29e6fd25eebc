"""Sequences: hidden Markov models, classes of sequences and dynamic Bayesian networks, on the same counts."""
