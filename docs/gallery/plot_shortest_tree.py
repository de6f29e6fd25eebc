"""
The shortest description of a table
===================================

A decision tree is grown until its leaves are pure and then cut from the leaves up. The tree gets shorter with each cut,
the labels get longer, and the sum is least at the end: no rows were held out for it.
"""

import numpy as np
from matplotlib import pyplot as plt

from bayeskit import MDLTree, datasets

heart = datasets.load_heart()
model = MDLTree().fit(heart, target="disease")
cuts = model.cuts_
tree = np.array([cuts[0].tree_bits_before, *(cut.tree_bits_after for cut in cuts)])
labels = np.array([cuts[0].data_bits_before, *(cut.data_bits_after for cut in cuts)])

fig, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
ax.plot(tree + labels, color="black", label="together")
ax.plot(tree, color="#0072B2", label="the tree, L(h)")
ax.plot(labels, color="#D55E00", label="the labels given the tree, L(D | h)")
ax.set_xlabel("cuts made")
ax.set_ylabel("bits")
ax.set_ylim(0)
ax.legend(frameon=False)
plt.show()

# %%
# What is left is read by eye, and the length is real: so many bits are enough to send the tree and every label.

print(model)
print(model.encode(heart, target="disease"))
