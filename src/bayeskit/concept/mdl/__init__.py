"""Minimum description length for decision trees: the code, its lengths, the cutting back, encoder and decoder."""
