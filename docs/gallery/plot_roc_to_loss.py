"""
From ROC to loss
================

Each threshold is a point of the ROC curve and a cost. The best threshold depends on what a miss costs.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import AODE, datasets
from bayeskit.decide.curves import curves

heart = datasets.load_heart()
ill = np.array([label == "yes" for label in heart["disease"]])
p = np.exp(AODE().fit(heart, target="disease").leave_one_out(heart, target="disease").log_posterior)[:, 1]
curve = curves(p, ill)
fig, (left, right) = plt.subplots(1, 2, figsize=(8.5, 3.4), layout="constrained")
left.plot(curve.false_positive_rate, curve.recall, color="black")
left.set_xlabel("false alarms")
left.set_ylabel("found")
cut = np.linspace(0, 1, 201)
for miss, color in ((1, "#0072B2"), (5, "#D55E00"), (10, "#009E73")):
    cost = [np.where(ill, miss * (p < t), p >= t).mean() for t in cut]
    best = int(np.argmin(cost))
    right.plot(cut, cost, color=color, label=f"a miss costs {miss}")
    right.plot(cut[best], cost[best], "o", color=color)
    treated = p >= cut[best]
    left.plot((treated & ~ill).sum() / (~ill).sum(), (treated & ill).sum() / ill.sum(), "o", color=color)
right.set_xlabel("threshold on P(ill)")
right.set_ylabel("cost per patient")
right.legend(frameon=False)
plt.show()
