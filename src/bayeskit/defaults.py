"""The defaults that several models share: one value per idea; where two values are meant, the reason stands here."""

from typing import Final

# λ: the pseudo-count of each value, Laplace's rule.
SMOOTHING: Final = 1.0
# λ of classifiers whose features have parents (ODE, SPODE, TAN, KDB, AODE): their tables have fewer rows per cell, and
# 1 would outweigh them. On 56 public tables it has the least error of the six values tried (benchmarks/ACCURACY.md).
FAMILY_SMOOTHING: Final = 0.25

# P(c): with the same pseudo-count as the tables, (N_c + λ) / (N + Kλ).
PRIOR: Final = "smoothed"
# P(c) as a relative frequency, N_c / N: of models that have no λ (GaussianBayes, AutoBayes), and of TextClassifier, as
# in Mitchell's table 6.2, where λ belongs to words.
FREQUENCY_PRIOR: Final = "data"

# The largest number of bins of a numeric column.
BINS: Final = 10
# Of a column of a network that is learned: a variable may have several parents, and a table grows with the product of
# their bins.
NETWORK_BINS: Final = 5

# A value that was not seen in fit counts as missing: one strange cell should not stop the prediction of a whole table.
UNSEEN: Final = "ignore"
# The states of a network are part of its definition, so another one is a mistake in the table.
NETWORK_UNSEEN: Final = "error"

# What the tables of one call may take; more is refused before it starts.
MAX_MEMORY: Final = "4 GiB"
# Of a question that is put to the page: it answers several at a time, each in a process of its own.
STUDIO_MEMORY: Final = "2 GiB"
