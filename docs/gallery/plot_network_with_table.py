"""
A network with its table
========================

The campfire network and the table of one variable, given its two parents (Mitchell, figure 6.3).
"""

import matplotlib.pyplot as plt

from bayeskit import datasets, plot

plot.network_table(datasets.load_campfire(), "Campfire")
plt.show()
