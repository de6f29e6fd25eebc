"""
How much λ?
===========

Log-loss on rows left out over λ: too little believes every zero, too much forgets the table.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import NaiveBayes, datasets

heart = datasets.load_heart()
texts = {name: column for name, column in heart.items() if isinstance(column[0], str)}
fig, ax = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
grid = np.geomspace(0.01, 300, 25)
for n, color in ((30, "#D55E00"), (100, "#009E73"), (303, "#0072B2")):
    part = {name: column[:n] for name, column in texts.items()}
    losses = [
        NaiveBayes(smoothing=lam).fit(part, target="disease").leave_one_out(part, target="disease").log_loss
        for lam in grid
    ]
    ax.semilogx(grid, losses, color=color, label=f"{n} rows")
ax.set_xlabel("λ")
ax.set_ylabel("log-loss on rows left out")
ax.legend(frameon=False)
plt.show()
