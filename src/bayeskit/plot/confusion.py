"""The confusion matrix, with the cost of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import draw_cells, finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def confusion_matrix(
    counts: ArrayLike,
    classes: Sequence[Any],
    actions: Sequence[Any] | None = None,
    *,
    loss: ArrayLike | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw the number of rows of each true class and action and, given a loss, their total cost; return the Axes.

    Parameters
    ----------
    counts : array of shape (n_classes, n_actions)
        Rows by truth and action.
    classes, actions : sequences
        The names; actions are the classes unless given.
    loss : array of shape (n_classes, n_actions), optional
        λ(truth, action). Cells are then coloured by their total cost and show it; the title gives the mean.
    """
    n = np.asarray(counts, dtype=np.float64)
    names = list(classes) if actions is None else list(actions)
    if n.shape != (len(classes), len(names)):
        raise BayeskitError(f"counts must have shape {(len(classes), len(names))}; got {n.shape}.")
    if loss is not None and np.shape(loss) != n.shape:
        raise BayeskitError(f"loss must have the shape of counts, {n.shape}; got {np.shape(loss)}.")
    cost = None if loss is None else np.asarray(loss, dtype=np.float64) * n
    ax = new_axes(ax, (1.6 + 1.1 * len(names), 1.4 + 0.8 * len(classes)))
    # By share of the truth without a loss, so that a rare class is seen as well; by cost with one.
    if cost is None:
        shade, mean = n / np.maximum(n.sum(axis=1, keepdims=True), 1.0), ""
        limit = float(shade.max()) or 1.0
        draw_cells(ax, shade, np.vectorize("{:g}".format)(n), classes, names, cmap="Blues", vmin=0, vmax=limit)
    else:
        limit, mean = float(np.abs(cost).max()) or 1.0, f"mean loss {cost.sum() / n.sum():.4g}"
        texts = np.vectorize("{:g}\ncost {:g}".format)(n, cost)
        draw_cells(ax, cost, texts, classes, names, cmap="RdBu_r", vmin=-limit, vmax=limit)
    ax.set(xlabel=translated_label("action" if actions is not None else "decided"), ylabel=translated_label("truth"))
    ax.set_title(", ".join(filter(None, (title, mean))), loc="left")
    return finish(ax)
