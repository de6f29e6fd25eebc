"""The class balance: how many rows each class has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import BLUE, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def class_balance(counts: ArrayLike, classes: Sequence[Any], *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw the rows of each class with their share, and return the Axes."""
    n = np.asarray(counts, dtype=np.float64)
    if n.shape != (len(classes),) or not n.sum() > 0:
        raise BayeskitError(f"counts must be {len(classes)} numbers, one per class, with rows in some; got {n}.")
    ax = new_axes(ax, (6.0, 0.8 + 0.36 * len(n)))
    lines = np.arange(len(n))
    ax.barh(lines, n, color=BLUE, height=0.65)
    for line, rows in enumerate(n):
        ax.text(rows + 0.01 * n.max(), line, f"{rows:g}  ({rows / n.sum():.1%})", va="center", fontsize="small")
    ax.set_yticks(lines, [str(name) for name in classes])
    ax.set_ylim(len(n) - 0.4, -0.6)
    ax.set_xlim(0, 1.22 * n.max())
    ax.set_xlabel(translated_label("rows"))
    ax.set_title(title, loc="left")
    ax.tick_params(axis="y", length=0)
    return finish(ax)
