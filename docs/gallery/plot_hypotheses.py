"""
How evidence moves hypotheses
=============================

Five kinds of candy bags hold from no limes to only limes (Russell & Norvig, section 20.1). Ten candies are drawn from
one bag, all lime. The posterior starts at the prior, first favours the mixed bags, and ends at the bag that holds
nothing else.
"""

from matplotlib import pyplot as plt

from bayeskit import Hypotheses
from bayeskit.concept import ConjunctionSpace, Values

says = {f"{lime:.0%} lime": {"lime": lime, "cherry": 1 - lime} for lime in (0, 0.25, 0.5, 0.75, 1)}
bags = Hypotheses(says, prior=[0.1, 0.2, 0.4, 0.2, 0.1]).update(*["lime"] * 10)
print(bags)
bags.plot("curves")

# %%
# The same as bars, at the start, after two candies and at the end, as in figure 6.1 of Mitchell's textbook.

bags.plot("bars", steps=[0, 2, 10])

# %%
# A version space on the way: hypotheses that the examples rule out drop to 0, and those that are left share the rest.

space = ConjunctionSpace({"sky": Values(["sunny", "rainy"]), "wind": Values(["weak", "strong"])})
concepts = Hypotheses({str(h): lambda row, h=h: h.covers(row) for h in space})
days = [({"sky": "sunny", "wind": "weak"}, True), ({"sky": "rainy", "wind": "strong"}, False)]
after = concepts.update(*days)
after.plot("bars")
print(after)
plt.show()
