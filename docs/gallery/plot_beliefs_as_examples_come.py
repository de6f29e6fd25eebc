"""
Beliefs as examples come
========================

The posterior over all 973 hypotheses of EnjoySport, before the first example and after each (Mitchell, figure 6.1).
What an example rules out loses its probability to those that remain; six are left.
"""

import matplotlib.pyplot as plt

from bayeskit import BruteForceMAP, datasets, plot

learner = BruteForceMAP().fit(datasets.load_enjoy_sport(declared=True), target="enjoy", record=True)
titles = ["prior", *(f"example {step.row + 1}" for step in learner.steps_[1:])]
plot.belief_panels([step.posterior for step in learner.steps_], titles)
plt.show()
