"""A small network with the table of one of its variables beside it, as in a textbook's figure."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import BLUE, GREY, choose_fonts, new_axes
from bayeskit.plot.layout import lay_out

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Columns of a table that can be read.
_MOST_COLUMNS = 16


def network_table(net: Any, variable: str, *, ax: Axes | None = None) -> Axes:
    """Draw a network and, below it, the table of one variable: a column for each state of its parents.

    Parameters
    ----------
    net : BayesianNetwork
        A network of discrete variables.
    variable : str
        Whose table is shown.

    References
    ----------
    Mitchell (1997), Machine Learning, figure 6.3.

    Examples
    --------
    >>> from bayeskit import datasets
    >>> len(network_table(datasets.load_campfire(), "Campfire").tables)
    1
    """
    from matplotlib.transforms import Bbox

    v = net.index(variable)
    parents = net.parents[v]
    combinations = list(product(*(net.states[p] for p in parents)))
    if len(combinations) > _MOST_COLUMNS:
        raise BayeskitError(f"the table of {variable!r} has {len(combinations)} columns, more than can be read.")
    arcs = [(p, child) for child, above in enumerate(net.parents) for p in above]
    layout = lay_out([(9.0 * len(name) + 16, 26.0) for name in net.names], arcs)
    ax = new_axes(ax, (max(5.0, layout.width / 80), max(3.5, layout.height / 40)))
    for a, b in arcs:
        (x0, y0), (x1, y1) = layout.centres[a], layout.centres[b]
        style = {"arrowstyle": "-|>", "color": GREY, "shrinkA": 12, "shrinkB": 14}
        ax.annotate("", xy=(x1, y1), xytext=(x0, y0), arrowprops=style)
    for k, ((x, y), name) in enumerate(zip(layout.centres, net.names, strict=True)):
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": BLUE, "linewidth": 2 if k == v else 1}
        ax.text(x, y, name, ha="center", va="center", bbox=box)
    cells = net.tables[v].reshape(len(combinations), -1).T
    heads = [", ".join(each) or variable for each in combinations]
    rows = [f"{variable} = {state}" for state in net.states[v]]
    shown = [[f"{p:.4g}" for p in row] for row in cells]
    # The lower part of the axes is the table's, with room at its left for the names of the rows.
    share = min(0.6, 0.08 * (len(rows) + 1))
    ax.set_xlim(0, layout.width)
    ax.set_ylim(layout.height / (0.9 - share), 0)
    ax.axis("off")
    place = Bbox.from_bounds(0.25, 0.01, 0.75, share)
    table = ax.table(shown, rowLabels=rows, colLabels=heads, bbox=place, cellLoc="center")
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    names = ", ".join(net.names[p] for p in parents)
    ax.text(0.62, share + 0.03, names, ha="center", va="bottom", transform=ax.transAxes)
    choose_fonts(ax)
    return ax
