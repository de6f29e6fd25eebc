"""Statistics → probabilities."""
