"""
The way of EM
=============

A mixture of two normals with known deviation. The start is bad on purpose; each step moves both means to the rows for
which they are responsible.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import GaussianMixture

rng = np.random.default_rng(2)
x = np.concatenate([rng.normal(0, 1, 40), rng.normal(5, 1, 60)])[:, None]
model = GaussianMixture(2, covariance="fixed", sigma=1, init=[[-2.0], [-1.0]]).fit(x, record=True)
steps = model.steps(x)
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
grid = np.linspace(-4, 9, 300)
left.hist(x.ravel(), 30, density=True, color="#dddddd")
for k in (0, 1, 3, len(steps) - 1):
    means = steps[k].parameters["means"].ravel()
    density = np.exp(-0.5 * (grid[:, None] - means) ** 2).sum(axis=1) / 2 / np.sqrt(2 * np.pi)
    left.plot(grid, density, label=f"step {k}", color=plt.cm.viridis(0.9 - 0.8 * k / len(steps)))
left.legend(frameon=False)
left.set_xlabel("x")
paths = np.array([step.parameters["means"].ravel() for step in steps])
right.plot(paths, marker=".")
right.set_xlabel("step")
right.set_ylabel("means")
plt.show()
