"""
From a posterior to a decision, and why
=======================================

The same model decides otherwise when a miss costs more than a false alarm; the evidence for one patient; whether the
probabilities can be trusted.
"""

# %%
# A model fitted to every second patient, and two losses.
import matplotlib.pyplot as plt
import numpy as np

from bayeskit import BayesDecision, NaiveBayes, datasets, plot

heart = datasets.load_heart()
columns = {name: np.array(column, dtype=object) for name, column in heart.items()}
train = {name: column[::2].tolist() for name, column in columns.items()}
test = {name: column[1::2].tolist() for name, column in columns.items()}
y_train, y_test = train.pop("disease"), test.pop("disease")
miss_is_dear = {"yes": {"yes": 0, "no": 10}, "no": {"yes": 1, "no": 0}}
models = {
    "0-1 loss": BayesDecision(NaiveBayes()).fit(train, y_train),
    "a miss costs 10": BayesDecision(NaiveBayes(), loss=miss_is_dear).fit(train, y_train),
}

# %%
# What each of them costs, when a miss costs 10.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
cost = models["a miss costs 10"].loss_.matrix
for ax, (title, model) in zip(axes, models.items(), strict=True):
    decided = model.predict(test)
    counts = [[int(np.sum((np.array(y_test) == t) & (decided == a))) for a in model.classes_] for t in model.classes_]
    plot.confusion_matrix(counts, model.classes_, loss=cost, title=title, ax=ax)

# %%
# Why the model believes what it believes of one patient: each bar is a weight of evidence.
model = models["0-1 loss"].estimator_
plot.waterfall(model.explain({name: column[3] for name, column in test.items()}))

# %%
# Naive Bayes is too sure of itself where features say the same thing twice.
plot.reliability_curve(np.array(y_test) == "yes", model.predict_proba(test)[:, 1], bins=5, label="naive Bayes")
plt.show()
