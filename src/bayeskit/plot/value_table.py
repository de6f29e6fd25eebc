"""A table of P(value | class), drawn with darker cells for larger probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import draw_cells, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def value_table(
    table: ArrayLike, values: Sequence[Any], classes: Sequence[Any], *, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw P(value | class), one row per value and one column per class, and return the Axes.

    Parameters
    ----------
    table : array of shape (n_values, n_classes)
        Probabilities; each column sums to at most 1.
    """
    p = np.asarray(table, dtype=np.float64)
    if p.shape != (len(values), len(classes)):
        raise BayeskitError(f"table must have shape {(len(values), len(classes))}; got {p.shape}.")
    if not ((p >= 0).all() and (p <= 1 + 1e-9).all()):
        raise BayeskitError("table must hold probabilities between 0 and 1.")
    ax = new_axes(ax, (1.8 + 0.95 * len(classes), 1.1 + 0.42 * len(values)))
    draw_cells(ax, p, np.vectorize("{:.3f}".format)(p), values, classes, cmap="Blues", vmin=0, vmax=1)
    ax.xaxis.tick_top()
    ax.set_title(title, loc="left")
    return finish(ax)
