"""The distribution of one variable given its parents, one file per kind."""
