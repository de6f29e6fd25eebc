"""Minimum description length for decision trees: the code, its lengths, pruning, encoder and decoder."""
