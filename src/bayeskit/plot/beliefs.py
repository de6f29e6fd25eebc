"""Beliefs over many hypotheses as examples come: one panel per example, every survivor wide enough to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import BLUE, finish

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The share of the width that hypotheses divide equally; the rest goes to those that are believed.
_EQUAL = 0.4


def belief_panels(posteriors: ArrayLike, titles: Sequence[str]) -> Figure:
    """Draw P(h | D) after 0, 1, 2, … examples, one panel each, and return the Figure.

    Hypotheses stand in one order in all panels, the last ruled out at the right. Each is as wide as it is believed on
    average, so that the few that are left of a thousand can be seen; the height is its probability.

    Parameters
    ----------
    posteriors : array of shape (n_steps, n_hypotheses)
        One distribution per step.
    titles : sequence of str
        The title of each step.

    References
    ----------
    Mitchell (1997), Machine Learning, figure 6.1.

    Examples
    --------
    >>> figure = belief_panels([[0.25, 0.25, 0.5], [0.0, 1 / 3, 2 / 3]], ["prior", "after 1 example"])
    >>> [ax.get_title() for ax in figure.axes]
    ['prior\\n3 possible', 'after 1 example\\n2 possible']
    """
    from matplotlib import pyplot

    values = np.asarray(posteriors, dtype=np.float64)
    if values.ndim != 2 or len(titles) != len(values) or not values.size:
        raise BayeskitError(
            f"posteriors must have shape (n_steps, n_hypotheses) with one title per step; got shape {values.shape} "
            f"and {len(titles)} titles."
        )
    steps, n = values.shape
    order = np.lexsort(values)  # by the last step, ties by the one before, …
    values = values[:, order]
    widths = _EQUAL / n + (1 - _EQUAL) * values.mean(axis=0) / values.mean(axis=0).sum()
    left = np.concatenate([[0.0], np.cumsum(widths)[:-1]])
    figure, axes = pyplot.subplots(
        1, steps, figsize=(2.2 * steps, 2.8), sharey=True, squeeze=False, layout="constrained"
    )
    for ax, shares, title in zip(axes[0], values, titles, strict=True):
        alive = shares > 0
        edge = {"edgecolor": "white", "linewidth": 0.6} if n <= 60 or alive.sum() <= 60 else {}
        ax.bar(left[alive], shares[alive], widths[alive], align="edge", color=BLUE, **edge)
        ax.set_title(f"{title}\n{int(alive.sum())} possible", fontsize="medium")
        ax.set_xlim(0, 1)
        ax.set_xticks([])
        ax.set_xlabel(f"{n} hypotheses")
        finish(ax)
    axes[0][0].set_ylabel("P(h | D)")
    return figure
