"""
Filtering and smoothing
=======================

Umbrellas on some days, none on others. The filter knows the days so far, the smoother all of them.
"""

import matplotlib.pyplot as plt

from bayeskit import DynamicNetwork

net = DynamicNetwork(
    "rain[t-1]->rain[t]; rain[t]->umbrella[t]",
    tables={
        "rain[0]": [0.5, 0.5],
        "rain[t]": [[0.7, 0.3], [0.3, 0.7]],
        "umbrella[t]": [[0.8, 0.2], [0.1, 0.9]],
    },
)
seen = ["yes", "yes", "no", "yes", "yes", None, None, "no", "no", "yes"]
fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.plot(net.filter({"umbrella": seen}).of("rain", "yes"), marker="o", color="#0072B2", label="filter")
ax.plot(net.smooth({"umbrella": seen}).of("rain", "yes"), marker="s", color="#D55E00", label="smoother")
for day, state in enumerate(seen):
    ax.text(day, 1.06, {"yes": "umbrella", "no": "none", None: "?"}[state], ha="center", fontsize=8)
ax.set_ylim(0, 1.15)
ax.set_xlabel("day")
ax.set_ylabel("P(rain)")
ax.legend(frameon=False, loc="lower left")
plt.show()
