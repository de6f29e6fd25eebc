"""The confusion matrix, with the cost of each cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from bayeskit.errors import BayeskitError
from bayeskit.plot.canvas import finish, new_axes

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
    costs = None if loss is None else np.asarray(loss, dtype=np.float64)
    if costs is not None and costs.shape != n.shape:
        raise BayeskitError(f"loss must have the shape of counts, {n.shape}; got {costs.shape}.")
    cost = None if costs is None else costs * n
    ax = new_axes(ax, (1.6 + 1.1 * len(names), 1.4 + 0.8 * len(classes)))
    # By share of the truth without a loss, so that a rare class is seen as well; by cost with one.
    shade = n / np.maximum(n.sum(axis=1, keepdims=True), 1.0) if cost is None else cost
    limit = float(np.abs(shade).max()) or 1.0
    if cost is None:
        ax.imshow(shade, cmap="Blues", vmin=0, vmax=limit, aspect="auto")
    else:
        ax.imshow(shade, cmap="RdBu_r", vmin=-limit, vmax=limit, aspect="auto")
    for i, j in np.ndindex(*n.shape):
        text = f"{n[i, j]:g}" if cost is None else f"{n[i, j]:g}\ncost {cost[i, j]:g}"
        dark = abs(shade[i, j]) > 0.6 * limit
        ax.text(j, i, text, ha="center", va="center", color="white" if dark else "black")
    ax.set_xticks(range(len(names)), [str(name) for name in names])
    ax.set_yticks(range(len(classes)), [str(name) for name in classes])
    ax.set(xlabel="action" if actions is not None else "decided", ylabel="truth")
    mean = "" if cost is None else f"mean loss {cost.sum() / n.sum():.4g}"
    ax.set_title(", ".join(part for part in (title, mean) if part), loc="left")
    ax.tick_params(length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return finish(ax)
