"""
A height that evidence moves
============================

Women and men, heights and weights. What is known of a height is a mixture of two normals: before anything is known,
once the weight is known, and with a reading of the height itself that has an error.
"""

import matplotlib.pyplot as plt
import numpy as np

from bayeskit import BayesianNetwork
from bayeskit.network import ConditionalGaussian, Equation, LinearGaussian

net = BayesianNetwork(
    "sex{f|m}->height->weight; sex->weight",
    tables={
        "sex": [0.5, 0.5],
        "height": ConditionalGaussian({"f": LinearGaussian(mean=164, sd=6), "m": LinearGaussian(mean=179, sd=6.5)}),
        "weight": Equation("If(sex == 'f', 0.9 * height - 84, 0.95 * height - 88) + Normal(0, 8)"),
    },
)
known = {
    "nothing known": ({}, "#999999"),
    "weight 62": ({"weight": 62}, "#0072B2"),
    "and a reading of 171 ± 3": ({"weight": 62, "height": LinearGaussian(mean=171, sd=3)}, "#D55E00"),
}
x = np.linspace(145, 202, 400)
fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
for label, (given, color) in known.items():
    height = net.posterior("height", given=given)
    woman = net.posterior("sex", given=given)["f"]
    ax.plot(
        x, height.density(x), color=color, label=f"{label}: {height.mean:.1f} ± {height.sd:.1f}, P(woman) {woman:.2f}"
    )
    ax.fill_between(x, height.density(x), color=color, alpha=0.12)
ax.set_xlabel("height, cm")
ax.set_ylabel("density")
ax.set_ylim(0, 0.22)
ax.legend(frameon=False, loc="upper right")
plt.show()
