"""
How TAN chooses its tree
========================

The conditional mutual information of each pair of features, given the class; the framed cells are the edges of the
tree, numbered as it grew.
"""

import matplotlib.pyplot as plt

from bayeskit import TAN, datasets
from bayeskit.plot.canvas import choose_fonts

melons = {name: column for name, column in datasets.load_watermelon().items() if name not in ("密度", "含糖率")}
model = TAN(smoothing=1).fit(melons, target="好瓜")
names = list(model.schema_.names)
fig, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
ax.imshow(model.information_, cmap="Blues", vmin=0)
for k, step in enumerate(model.steps_):
    if step.parent is not None:
        i, j = sorted((names.index(step.parent), names.index(step.feature)))
        ax.add_patch(plt.Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor="#D55E00", linewidth=2))
        ax.text(j, i, f"{k}", ha="center", va="center", bbox={"boxstyle": "circle", "facecolor": "white"})
ax.set_xticks(range(len(names)), names)
ax.set_yticks(range(len(names)), names)
ax.set_title("I(x; y | class)")
choose_fonts(ax)
plt.show()
