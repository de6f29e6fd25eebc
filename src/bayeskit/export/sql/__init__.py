"""A classifier as one SELECT: the cells, their codes, sums of logarithms, labels and probabilities."""
