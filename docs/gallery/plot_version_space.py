"""
The version space as a lattice
==============================

What is left of 973 hypotheses after four days, the general ones above, the special one below (Mitchell, figure 2.3).
"""

import matplotlib.pyplot as plt

from bayeskit import CandidateElimination, datasets, plot

space = CandidateElimination().fit(datasets.load_enjoy_sport(declared=True), target="enjoy")
plot.lattice(space.hypotheses())
plt.show()
