"""
AODE is an average
==================

P(good melon) of each SPODE, with the named feature as super-parent, and of their average.
"""

import matplotlib.pyplot as plt

from bayeskit import AODE, SPODE, datasets
from bayeskit.plot.canvas import choose_fonts

melons = {name: column for name, column in datasets.load_watermelon().items() if name not in ("密度", "含糖率")}
melon = {name: column[5] for name, column in melons.items() if name != "好瓜"}
each = [SPODE(name, smoothing=1).fit(melons, target="好瓜").predict_proba(melon)[0, 1] for name in melon]
both = AODE(smoothing=1).fit(melons, target="好瓜").predict_proba(melon)[0, 1]
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
ax.bar(range(len(each)), each, color="#56B4E9")
ax.set_xticks(range(len(each)), list(melon))
ax.axhline(both, color="#D55E00", label=f"AODE {both:.3f}")
ax.set_ylabel("P(是 | melon)")
ax.set_ylim(0, 1.15)
ax.legend(frameon=False)
choose_fonts(ax)
plt.show()
