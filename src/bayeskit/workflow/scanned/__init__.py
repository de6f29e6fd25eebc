"""Training and comparing on tables of any size: a sample of rows, and counts of all rows fold by fold."""
