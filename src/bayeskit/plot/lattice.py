"""A version space as a lattice: general hypotheses above, special ones below, lines between neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import BLUE, GREY, choose_fonts, new_axes
from bayeskit.plot.layout import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More hypotheses than these cannot be read.
_MOST = 60


def lattice(hypotheses: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw hypotheses that can be compared (``a > b``: a is more general), and return the Axes.

    Parameters
    ----------
    hypotheses : sequence
        Such as ``CandidateElimination().fit(...).hypotheses()``; at most 60.

    References
    ----------
    Mitchell (1997), Machine Learning, figure 2.3.

    Examples
    --------
    >>> from bayeskit import CandidateElimination, datasets
    >>> space = CandidateElimination().fit(datasets.load_enjoy_sport(), target="enjoy")
    >>> len(lattice(space.hypotheses()).texts)
    6
    """
    every = list(hypotheses)
    if not 1 <= len(every) <= _MOST:
        raise BayeskitError(f"lattice draws 1 to {_MOST} hypotheses; got {len(every)}.")
    above = [[i != j and every[i] >= every[j] for j in range(len(every))] for i in range(len(every))]
    # An arc where nothing lies between.
    arcs = [
        (i, j)
        for i in range(len(every))
        for j in range(len(every))
        if above[i][j] and not any(above[i][k] and above[k][j] for k in range(len(every)))
    ]
    names = [str(h) for h in every]
    width = 7.0 * max(map(len, names))
    layout = lay_out([(width, 18.0)] * len(names), arcs)
    ax = new_axes(ax, (max(4.0, layout.width / 80), max(2.0, layout.height / 60)))
    for a, b in arcs:
        (x0, y0), (x1, y1) = layout.centres[a], layout.centres[b]
        ax.plot([x0, x1], [y0, y1], color=GREY, linewidth=1, zorder=1)
    for (x, y), name in zip(layout.centres, names, strict=True):
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": BLUE}
        ax.text(x, y, name, ha="center", va="center", bbox=box, zorder=2)
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height, 0)  # rows are counted downwards
    ax.margins(0.1)
    ax.axis("off")
    choose_fonts(ax)
    return ax
