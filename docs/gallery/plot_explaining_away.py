"""
Explaining away
===============

An abnormal X-ray makes smoking more probable. Tuberculosis explains the X-ray, and the belief falls back.
"""

import matplotlib.pyplot as plt

from bayeskit import datasets

asia = datasets.load_asia()
cases = {
    "nothing known": {},
    "X-ray abnormal": {"xray": "yes"},
    "and tuberculosis": {"xray": "yes", "tub": "yes"},
}
fig, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
for shift, (name, color) in enumerate((("smoke", "#0072B2"), ("lung", "#D55E00"), ("tub", "#009E73"))):
    beliefs = [given.get(name) == "yes" or asia.posterior(name, given=given)["yes"] for given in cases.values()]
    ax.bar([k + 0.26 * (shift - 1) for k in range(3)], beliefs, 0.24, color=color, label=name)
ax.set_xticks(range(3), list(cases))
ax.set_ylabel("P(yes)")
ax.legend(frameon=False)
plt.show()
