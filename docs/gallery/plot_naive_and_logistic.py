"""
Naive Bayes against logistic regression
=======================================

Both draw a border of the same form. Naive Bayes makes an assumption and comes near its best with few rows; logistic
regression makes less of one and gains for longer (Ng and Jordan 2002). Each point is the mean error on rows that were
not trained on, over 12 draws of training rows.
"""

import warnings

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer

from bayeskit import LogisticRegression, NaiveBayes, datasets

heart = datasets.load_heart()
disease = np.array(heart.pop("disease"))
cancer = load_breast_cancer()
tables = {
    "heart disease, 13 mixed columns": (heart, disease),
    "breast cancer, 10 columns": ({f"x{j}": cancer.data[:, j].tolist() for j in range(10)}, cancer.target),
}
models = {
    "naive Bayes": NaiveBayes,
    # A weak prior: with few rows the classes are separated, and maximum likelihood does not exist.
    "logistic regression": lambda: LogisticRegression(l2=1e-3, solver="newton", tol=1e-4, standard_errors=False),
}


def error(make, table, y, n, rng):
    """The mean error on the other rows, over draws of n training rows that have every class."""
    errors = []
    while len(errors) < 12:
        order = rng.permutation(len(y))
        train, test = ({k: [v[i] for i in rows] for k, v in table.items()} for rows in (order[:n], order[n:]))
        if len(np.unique(y[order[:n]])) == 2:
            errors.append(np.mean(make().fit(train, y[order[:n]]).predict(test) != y[order[n:]]))
    return np.mean(errors)


fig, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a draw of few rows may have a column of one value, or none
    for ax, (title, (table, y)) in zip(axes, tables.items(), strict=True):
        sizes = np.array([10, 20, 40, 80, 160, 240] if len(y) < 400 else [10, 20, 40, 80, 160, 400])
        for (name, make), colour in zip(models.items(), ["#0072B2", "#D55E00"], strict=True):
            rng = np.random.default_rng(0)
            ax.plot(sizes, [error(make, table, y, n, rng) for n in sizes], "o-", ms=3, color=colour, label=name)
        ax.set_xscale("log", base=2)
        ax.set_xticks(sizes, sizes)
        ax.set_title(title, fontsize=10)
        ax.set_xlabel("training rows")
        ax.set_ylim(0)
axes[0].set_ylabel("error on the other rows")
axes[0].legend(frameon=False)
plt.show()
