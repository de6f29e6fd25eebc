"""The states of a chain over time, as bands whose heights are probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bayeskit.language import label as translated_label
from bayeskit.plot.canvas import finish, new_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def state_bands(
    posterior: NDArray[np.float64], states: Sequence[Any], times: Any = None, ax: Axes | None = None
) -> Axes:
    """Draw P(state) of each row, of shape (n_rows, n_states), as bands that fill the height."""
    ax = new_axes(ax, (8.0, 2.8))
    n = len(posterior)
    edges = np.arange(n + 1) if times is None else _edges(np.asarray(times))
    ends = np.cumsum(posterior, axis=1)
    below = np.zeros(n)
    for k, state in enumerate(states):
        top = np.minimum(ends[:, k], 1.0)
        ax.fill_between(
            edges, np.append(below, below[-1]), np.append(top, top[-1]), step="post", linewidth=0, label=str(state)
        )
        below = top
    ax.set_xlim(edges[0], edges[-1])
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel(translated_label("row" if times is None else "time"))
    ax.set_ylabel("P(state)")
    ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False)
    return finish(ax)


def _edges(times: NDArray[Any]) -> NDArray[Any]:
    """Return where each row begins, and where the last ends: a step after it."""
    step = times[-1] - times[-2] if len(times) > 1 else 1
    return np.append(times, times[-1] + step)
