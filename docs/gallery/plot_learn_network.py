"""
Learning a network: steps of EM and of a search
===============================================

EM and gradient ascent climb to the same place; hill-climbing gains most with its first arcs.
"""

# %%
# Tables of the asia network from 1000 cases in which a third of the cells is hidden.
import matplotlib.pyplot as plt
import numpy as np

from bayeskit import datasets, learn_structure
from bayeskit.network import HillClimb, Tabu

asia = datasets.load_asia()
rng = np.random.default_rng(0)
cases = asia.sample(1000, random_state=0)
hidden = {name: [None if rng.random() < 1 / 3 else value for value in column] for name, column in cases.items()}

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for way in ("em", "gradient"):
    asia.fitted(hidden, missing=way, start="data").history.plot(axes[0])
axes[0].set_title("hidden cells", loc="left")

# %%
# The structure from 5000 complete cases, by two searches.
cases = asia.sample(5000, random_state=1)
for method in (HillClimb(), Tabu(length=20)):
    learn_structure(cases, method).history.plot(axes[1])
axes[1].set_title("structure", loc="left")
plt.show()
