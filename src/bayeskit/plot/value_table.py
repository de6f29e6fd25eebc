"""A table of P(value | class), drawn with darker cells for larger probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import finish, new_axes

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
    ax.imshow(p, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for i, j in np.ndindex(*p.shape):
        ax.text(j, i, f"{p[i, j]:.3f}", ha="center", va="center", color="white" if p[i, j] > 0.6 else "black")
    ax.set_xticks(range(len(classes)), [str(name) for name in classes])
    ax.set_yticks(range(len(values)), [str(value) for value in values])
    ax.xaxis.tick_top()
    ax.set_title(title, loc="left")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return finish(ax)
