"""
The year in which the Nile fell
===============================

A hidden Markov model with two states over the annual flow of the Nile; the states are found by EM.
"""

# %%
import matplotlib.pyplot as plt

from bayeskit import HiddenMarkov, datasets

nile = datasets.load_nile()
model = HiddenMarkov(2, transitions="left-to-right").fit(nile, time="year")
print(model.summary())

# %%
# Above the flow, with the mean of the state of each year; below P(state | all years). The change comes with 1899,
# three years before the first dam at Aswan was finished.
figure, axes = plt.subplots(2, 1, figsize=(9, 5), sharex=True, layout="constrained")
states = model.predict(nile)
means = model.tables_["flow"].values[0]
axes[0].plot(nile["year"], nile["flow"], color="0.4", linewidth=1)
axes[0].step(nile["year"], means[states], where="mid", color="#D55E00", linewidth=2)
axes[0].set_ylabel("flow (10⁸ m³)")
axes[0].set_title("Flow of the Nile at Aswan", loc="left")
model.plot(nile, ax=axes[1])
axes[1].set_xlabel("year")
plt.show()
