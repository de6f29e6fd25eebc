"""
A state that depends on a number
================================

The more of a drug, the likelier a cure: the log-odds of a cure are linear in the dose. On the left the curve for the
young and the old; on the right what a cure, or none, says of a dose that is not known. Such an answer is sampled.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import BayesianNetwork
from bayeskit.network import LinearGaussian, Logistic

net = BayesianNetwork(
    "dose->cured{no|yes}<-age{young|old}",
    tables={
        "dose": LinearGaussian(mean=5, sd=2),
        "age": [0.6, 0.4],
        "cured": Logistic(bias=-4, dose=1.0, age={"old": -2.0}),
    },
)
grid = np.linspace(-2, 12, 141)
fig, (curve, dose) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for age, color in (("young", "#0072B2"), ("old", "#D55E00")):
    known = {"dose": grid, "age": [age] * len(grid)}
    curve.plot(grid, net.predict_proba(known, "cured")[:, 1], color=color, label=age)
curve.set_xlabel("dose")
curve.set_ylabel("P(cured | dose, age)")
curve.legend(frameon=False)
dose.plot(grid, net.posterior("dose").density(grid), color="#999999", label="nothing known")
for cured, color in (("yes", "#009E73"), ("no", "#CC79A7")):
    found = net.posterior("dose", given={"cured": cured, "age": "old"}, random_state=1)
    label = f"old, cured: {cured}; {found.mean:.2f} ± {found.sd:.2f}"
    dose.plot(grid, found.density(grid), color=color, label=label)
dose.set_xlabel("dose")
dose.set_ylabel("density")
dose.set_ylim(0, 0.36)
dose.legend(frameon=False, loc="upper left")
plt.show()
