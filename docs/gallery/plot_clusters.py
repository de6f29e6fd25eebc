"""
Clusters of penguins, and how EM finds them
===========================================

A Gaussian mixture over four measurements with missing cells; BIC chooses the number of clusters.
"""

# %%
import matplotlib.pyplot as plt

from bayeskit import GaussianMixture, datasets

birds = datasets.load_penguins()
numbers = {name: birds[name] for name in ("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g")}
model = GaussianMixture(covariance="tied").fit(numbers)
print(model.summary())

# %%
# Ellipses of one and two deviations in two of the columns, and the climb of the objective for three
# shapes of covariance with as many clusters.
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
model.plot(numbers, columns=("bill_length_mm", "flipper_length_mm"), ax=axes[0])
axes[0].set_title(f"{model.n_components_} clusters by BIC", loc="left")
for covariance in ("full", "tied", "diagonal"):
    history = GaussianMixture(model.n_components_, covariance=covariance).fit(numbers).history_
    axes[1].plot(range(len(history.objective)), history.objective, marker="o", markersize=3, label=covariance)
axes[1].set_xlabel("step")
axes[1].set_ylabel("log-likelihood with its penalty")
axes[1].legend(frameon=False)
axes[1].set_title("EM never falls", loc="left")
plt.show()
