"""
Structure of many variables: cost, and what chance adds
=======================================================

Among many variables some parent fits by chance. With MDL a parent pays for its name, and fewer are joined by chance.
"""

# %%
# Random networks of 50 to 400 variables with 1.5 arcs for each, 2,000 rows.
from time import process_time

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import BayesianNetwork, compare_networks, learn_structure


def random_network(n):
    rng, parents = np.random.default_rng(n), {f"v{i}": [] for i in range(n)}
    while sum(map(len, parents.values())) < 1.5 * n:
        first, second = sorted(rng.integers(0, n, 2))
        if first < second and len(parents[f"v{second}"]) < 3 and f"v{first}" not in parents[f"v{second}"]:
            parents[f"v{second}"].append(f"v{first}")
    return BayesianNetwork(parents, random_tables=n)


learn_structure(random_network(50).sample(100, random_state=0), "ges")  # what is loaded once is not timed
sizes = [50, 100, 200, 400]
cost, extra = {}, {}
for n in sizes:
    truth = random_network(n)
    rows = truth.sample(2000, random_state=0)
    for score in ("bic", "mdl"):
        start = process_time()
        learned = learn_structure(rows, "ges", score)
        cost[n, score] = process_time() - start
        extra[n, score] = len(compare_networks(truth, learned.cpdag).extra)

# %%
# The cost grows with the pairs of variables; the arcs that BIC adds grow too.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for score, color in (("bic", "#D55E00"), ("mdl", "#0072B2")):
    axes[0].loglog(sizes, [cost[n, score] for n in sizes], "o-", color=color, label=score.upper())
    axes[1].plot(sizes, [extra[n, score] for n in sizes], "o-", color=color, label=score.upper())
axes[0].set(xlabel="variables", ylabel="CPU seconds (ges)", xticks=sizes, xticklabels=sizes)
axes[0].minorticks_off()
axes[1].set(xlabel="variables", ylabel="arcs that are not there in truth")
axes[1].legend(frameon=False)
plt.show()
