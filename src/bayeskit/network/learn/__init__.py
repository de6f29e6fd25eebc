"""Learning Bayesian networks: tables from counts, also with hidden cells, and structure from scores and tests."""
