"""
Least squares is maximum likelihood
===================================

If each number is a line plus normal noise, the most likely line is the one of least squared error (Mitchell,
figure 6.2). The curves are the density of the noise at some points.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import LeastSquares

rng = np.random.default_rng(3)
x = np.linspace(0, 10, 14)
d = 1 + 0.6 * x + rng.normal(0, 0.9, len(x))
line = LeastSquares().fit({"x": x}, d)
fig, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.plot(x, 1 + 0.6 * x, color="#8c8c8c", label="target f")
ax.plot(x, line.predict({"x": x}), "--", color="#0072B2", label="least squares = most likely")
ax.plot(x, d, "o", color="black", markersize=4)
spread = np.linspace(-2.7, 2.7, 100)
for at in x[1::4]:
    middle = float(line.predict({"x": [at]})[0])
    ax.plot(at + 0.9 * np.exp(-(spread**2) / (2 * 0.81)), middle + spread, color="#D55E00", linewidth=1)
    ax.plot([at, at], [middle - 2.7, middle + 2.7], color="#D55E00", linewidth=0.5)
ax.set_xlabel("x")
ax.set_ylabel("d")
ax.legend(frameon=False)
plt.show()
