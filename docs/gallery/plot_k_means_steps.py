"""
k-means moving
==============

Every step gives each row to the nearest mean, then moves each mean to the middle of its rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import KMeans

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(m, 0.8, (40, 2)) for m in ((0, 0), (4, 0), (2, 3))])
start = [[0.0, -1.0], [1.0, -1.5], [-1.0, -0.5]]
steps = KMeans(3, init=start).fit(x, record=True).steps(x)
shown = [0, 1, 2, len(steps) - 1]
fig, axes = plt.subplots(1, len(shown), figsize=(11, 2.9), sharex=True, sharey=True, layout="constrained")
colors = np.array(["#0072B2", "#D55E00", "#009E73"])
for ax, k in zip(axes, shown, strict=True):
    ax.scatter(*x.T, s=8, c=colors[steps[k].responsibilities.argmax(axis=1)], alpha=0.6)
    ax.scatter(*steps[k].parameters["means"].T, s=120, marker="X", c=colors, edgecolor="black")
    ax.set_title(f"step {k}")
plt.show()
