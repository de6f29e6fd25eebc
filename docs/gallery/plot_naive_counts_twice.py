"""
Naive Bayes counts a copy twice
===============================

The same column again and again: the evidence does not change, the posterior does. AODE is moved less.
"""

import matplotlib.pyplot as plt

from bayeskit import AODE, NaiveBayes, datasets

tennis = datasets.load_tennis()
day = {"outlook": "sunny", "temperature": "cool", "humidity": "high", "wind": "strong"}
fig, ax = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for model, color in ((NaiveBayes(smoothing=1), "#D55E00"), (AODE(smoothing=1), "#0072B2")):
    beliefs = []
    for copies in range(6):
        more = {f"outlook {k}": tennis["outlook"] for k in range(copies)}
        row = {**day, **dict.fromkeys(more, "sunny")}
        beliefs.append(model.fit({**tennis, **more}, target="play").predict_proba(row)[0, 0])
    ax.plot(beliefs, marker="o", color=color, label=type(model).__name__)
ax.set_xlabel("copies of one column")
ax.set_ylabel("P(no)")
ax.set_ylim(0.5, 1)
ax.legend(frameon=False)
plt.show()
