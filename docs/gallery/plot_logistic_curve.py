"""
The logistic curve
==================

Log-odds that are linear in x make a probability that bends like an S. The dots are labels, the curve is learned.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import LogisticRegression

rng = np.random.default_rng(1)
x = rng.normal(0, 2, 60)
labels = (x + rng.normal(0, 1.2, 60) > 0).astype(int)
model = LogisticRegression().fit({"x": x}, labels)
grid = np.linspace(-6, 6, 200)
fig, axes = plt.subplots(1, 2, figsize=(8.5, 3.2), layout="constrained")
axes[0].plot(grid, model.intercept_[0] + model.coef_[0, 0] * grid, color="#0072B2")
axes[0].axhline(0, color="#8c8c8c", linewidth=0.8)
axes[0].set_ylabel("log-odds")
axes[1].plot(grid, model.predict_proba({"x": grid})[:, 1], color="#0072B2")
axes[1].plot(x, labels, "|", color="black", markersize=12)
axes[1].set_ylabel("P(1 | x)")
for ax in axes:
    ax.set_xlabel("x")
plt.show()
