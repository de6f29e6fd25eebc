"""
k-means as a film
=================

The same idea as a picture that moves: :func:`bayeskit.plot.animate` draws one step after the other, and saves a GIF or
a page that needs no server.
"""

import tempfile
from pathlib import Path

import numpy as np

from bayeskit import KMeans, plot

rng = np.random.default_rng(0)
x = np.concatenate([rng.normal(m, 0.8, (40, 2)) for m in ((0, 0), (4, 0), (2, 3))])
steps = KMeans(3, init=[[0.0, -1.0], [1.0, -1.5], [-1.0, -0.5]]).fit(x, record=True).steps(x)
colors = np.array(["#0072B2", "#D55E00", "#009E73"])


def draw(ax, k):
    """Draw the rows and the means of step k."""
    ax.scatter(*x.T, s=10, c=colors[steps[k].responsibilities.argmax(axis=1)], alpha=0.6)
    ax.scatter(*steps[k].parameters["means"].T, s=150, marker="X", c=colors, edgecolor="black")
    ax.set_title(f"step {k}")


movie = plot.animate(draw, len(steps), Path(tempfile.mkdtemp()) / "k-means.gif", size=(4.5, 3.6))
