"""
λ as a belief: from prior to posterior
======================================

Adding λ to each count is what Bayes' rule gives from a Beta prior. With few throws the prior decides, with many the
coin does.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import beta

heads = np.linspace(0, 1, 400)
throws = [(0, 0), (7, 3), (70, 30)]
fig, axes = plt.subplots(1, 3, figsize=(9, 3), sharex=True, layout="constrained")
for ax, (n_heads, n_tails) in zip(axes, throws, strict=True):
    for smoothing, color in ((1, "#0072B2"), (10, "#D55E00")):
        density = beta(n_heads + smoothing, n_tails + smoothing).pdf(heads)
        estimate = (n_heads + smoothing) / (n_heads + n_tails + 2 * smoothing)
        ax.plot(heads, density, color=color, label=f"λ = {smoothing}")
        ax.axvline(estimate, color=color, linestyle=":")
    ax.set_title(f"{n_heads} heads, {n_tails} tails")
    ax.set_xlabel("P(heads)")
    ax.set_ylim(0)
axes[0].set_ylabel("density")
axes[0].legend(frameon=False)
plt.show()
