"""
Two rules, two ways uphill
==========================

Gradient steps of a sigmoid unit on raw inputs: by the cross-entropy and by the squared error. Both start at 0; the
squared error has the extra factor p (1 − p) and lags behind.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import SigmoidUnit

x, labels = {"x": np.array([-3.0, -2, -1, 1, 2, 3])}, [0, 0, 1, 0, 1, 1]
fig, ax = plt.subplots(figsize=(5.5, 3.6), layout="constrained")
for rule, color in (("cross-entropy", "#0072B2"), ("squared-error", "#D55E00")):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the steps are counted, not walked to the end
        unit = SigmoidUnit(rule=rule, standardize=False, learning_rate=0.1, max_iter=40).fit(x, labels, record=True)
    ax.plot([step.parameters[0] for step in unit.histories_[0].steps], marker=".", color=color, label=rule)
ax.set_xlabel("step")
ax.set_ylabel("w")
ax.legend(frameon=False)
plt.show()
