"""
What each member of AutoBayes sees
==================================

Three classes on two numbers: a ring, a bar that leans, and a spot between them. The networks see bins, the Gaussians
see ellipses, the trees see boxes. The pool takes each as far as it is right about rows that were left out of it: the
bars on the right are its weights. Errors and log-losses are those of rows that none of the models has seen.
"""

import numpy as np
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb

from bayeskit import AODE, AutoBayes, NaiveBayes

COLOURS = np.array([to_rgb(colour) for colour in ("#0072B2", "#D55E00", "#009E73")])


def draw_rows(n, rng):
    """Return rows and their classes."""
    y = rng.integers(0, 3, n)
    angle, along = rng.uniform(0, 2 * np.pi, n), rng.normal(0, 1.3, n)
    ring = np.stack([2.6 * np.cos(angle), 2.0 * np.sin(angle)], axis=1) + rng.normal(0, 0.3, (n, 2))
    bar = np.stack([along, 0.8 * along], axis=1) + rng.normal(0, 0.3, (n, 2))
    spot = np.array([0.9, -0.8]) + rng.normal(0, 0.35, (n, 2))
    return np.choose(y[:, None], [ring, bar, spot]), y


rng = np.random.default_rng(0)
X, y = draw_rows(1200, rng)
X_test, y_test = draw_rows(6000, rng)
pool = AutoBayes().fit(X, y)
models = {
    "naive Bayes": NaiveBayes().fit(X, y),
    "AODE": AODE().fit(X, y),
    "AutoBayes, fast (no trees)": AutoBayes("fast").fit(X, y),
    "AutoBayes": pool,
}
side = np.linspace(-3.8, 3.8, 140)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
shown = rng.choice(len(X), 250, replace=False)

fig, axes = plt.subplots(1, 5, figsize=(13, 2.9), layout="constrained", width_ratios=[1, 1, 1, 1, 1.1])
for ax, (name, model) in zip(axes[:4], models.items(), strict=True):
    picture = (model.predict_proba(grid) @ (0.25 + 0.75 * COLOURS)).reshape(len(side), len(side), 3)
    ax.imshow(np.clip(picture, 0, 1), origin="lower", extent=(-3.8, 3.8, -3.8, 3.8), interpolation="bilinear")
    ax.scatter(*X[shown].T, c=COLOURS[y[shown]], s=5, edgecolors="white", linewidths=0.3)
    p = model.predict_proba(X_test)[np.arange(len(y_test)), y_test]
    error = np.mean(model.predict(X_test) != y_test)
    ax.set_title(f"{name}\nerror {100 * error:.1f} %, log-loss {-np.log(p).mean():.3f}", fontsize=9)
    ax.set(xticks=[], yticks=[])

members = pool.members_
axes[4].barh(list(members), list(members.values()), color="#56B4E9")
for place, (name, weight) in enumerate(members.items()):
    axes[4].text(weight + 0.01, place, f"alone {pool.left_out_loss_[name]:.3f}", va="center", fontsize=8)
axes[4].set_xlim(0, 1.6 * max(members.values()))
axes[4].invert_yaxis()
axes[4].tick_params(labelsize=8)
axes[4].set_title(f"weights in the pool\nlog-loss on rows left out: pool {pool.left_out_loss_['pool']:.3f}", fontsize=9)
axes[4].spines[["top", "right"]].set_visible(False)
plt.show()
