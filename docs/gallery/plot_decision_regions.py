"""
Losses move the border
======================

The same posterior with three losses. What is drawn is the risk of each action over P(ill); the lowest line is taken,
and the border moves to the left as a miss becomes dearer. The third has a way out: ask an expert.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit.decide.risk import bayes_action, risk

p = np.linspace(0, 1, 401)
posterior = np.stack([1 - p, p], axis=1)
losses = {
    "0-1": [[0, 1], [1, 0]],
    "a miss costs 5": [[0, 1], [5, 0]],
    "ask for 0.3": [[0, 1, 0.3], [5, 0, 0.3]],
}
names = ("send home", "treat", "ask")
fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, (title, loss) in zip(axes, losses.items(), strict=True):
    costs, action = risk(posterior, np.array(loss)), bayes_action(posterior, np.array(loss))
    for a in range(costs.shape[1]):
        color = ("#0072B2", "#D55E00", "#009E73")[a]
        ax.plot(p, costs[:, a], color=color, label=names[a])
        ax.fill_between(p, 0, 1.2, where=action == a, color=color, alpha=0.12)
    ax.set_ylim(0, 1.2)
    ax.set_title(title)
    ax.set_xlabel("P(ill)")
axes[0].set_ylabel("risk")
axes[2].legend(frameon=False)
plt.show()
