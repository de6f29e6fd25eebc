"""
A support vector machine that decides by cost
=============================================

Any classifier with probabilities can be wrapped. Left: a discriminative model (SVM). Right: a generative one
(Gaussians). Filled: the decision when a missed Chinstrap costs 8.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from bayeskit import BayesDecision, GaussianBayes, datasets

penguins = datasets.load_penguins()
keep = [i for i, s in enumerate(penguins["species"]) if s != "Gentoo" and penguins["bill_length_mm"][i] is not None]
x = np.array([[penguins[name][i] for name in ("bill_length_mm", "bill_depth_mm")] for i in keep])
species = np.array([penguins["species"][i] for i in keep])
loss = {"Adelie": {"Adelie": 0, "Chinstrap": 1}, "Chinstrap": {"Adelie": 8, "Chinstrap": 0}}
machine = CalibratedClassifierCV(make_pipeline(StandardScaler(), SVC()), cv=3, ensemble=False)
grid = np.stack(np.meshgrid(np.linspace(32, 60, 120), np.linspace(15, 22, 120)), axis=-1)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
for ax, model in zip(axes, (machine, GaussianBayes()), strict=True):
    decision = BayesDecision(model, loss=loss).fit(x, species)
    p = decision.predict_proba(grid.reshape(-1, 2))[:, 1].reshape(120, 120)
    chosen = (decision.predict(grid.reshape(-1, 2)) == "Chinstrap").reshape(120, 120)
    ax.contourf(grid[..., 0], grid[..., 1], chosen, levels=[-0.5, 0.5, 1.5], colors=["white", "#fbe0d0"])
    ax.contour(grid[..., 0], grid[..., 1], p, levels=[0.5], colors="black", linestyles="--")
    for name, color in (("Adelie", "#0072B2"), ("Chinstrap", "#D55E00")):
        ax.scatter(*x[species == name].T, s=10, color=color, label=name)
    ax.set_title("SVM" if model is machine else "Gaussians")
    ax.set_xlabel("bill length (mm)")
axes[0].set_ylabel("bill depth (mm)")
axes[0].legend(frameon=False)
plt.show()
