"""
What an unknown cell costs
==========================

A patient's posterior as the columns become known one after another. Cells that are not known yet are summed out, so
every step is a proper answer to the question so far.
"""

# %%
# The model and a patient whom it has not seen: the row is unlearned first.
import matplotlib.pyplot as plt

from bayeskit import NaiveBayes, datasets

heart = datasets.load_heart()
row = 106
patient = {name: column[row] for name, column in heart.items()}
model = NaiveBayes().fit(heart, target="disease").unlearn(patient, target="disease")

# %%
# Reveal the columns in the order of the table.
known = dict.fromkeys(model.feature_names_in_)
steps, belief = ["nothing"], [model.predict_proba(known)[0, 1]]
for name in known:
    known[name] = patient[name]
    steps.append(f"{name}: {patient[name]}")
    belief.append(model.predict_proba(known)[0, 1])

# %%
figure, axes = plt.subplots(figsize=(7, 4.5), layout="constrained")
axes.plot(belief, range(len(steps)), "o-", color="tab:blue")
axes.axvline(0.5, color="0.7", linewidth=1)
axes.set(xlim=(0, 1), yticks=range(len(steps)), yticklabels=steps, xlabel="P(disease | what is known)")
axes.set_title(f"The truth is: disease {patient['disease']}", loc="left")
axes.invert_yaxis()
plt.show()
