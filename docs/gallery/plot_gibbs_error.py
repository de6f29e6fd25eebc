"""
Gibbs and the optimal answer
============================

Where the best answer is wrong with probability r, an answer that is drawn from the posterior is wrong with
2 r (1 − r), and so is the nearest neighbour with very many rows: never more than twice as often.
"""

import matplotlib.pyplot as plt
import numpy as np

r = np.linspace(0, 0.5, 101)
fig, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
ax.plot(r, r, color="#0072B2", label="optimal")
ax.plot(r, 2 * r * (1 - r), color="#D55E00", label="Gibbs, nearest neighbour")
ax.plot(r, 2 * r, ":", color="#8c8c8c", label="twice the optimal")
ax.set_xlabel("error of the optimal answer")
ax.set_ylabel("error")
ax.set_ylim(0, 0.75)
ax.legend(frameon=False)
plt.show()
